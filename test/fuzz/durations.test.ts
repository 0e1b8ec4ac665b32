/**
 * Properties of durations: how they are written and read, and how values that are too short are
 * adjusted. SPEC Limits, D-43, R052.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  type Duration,
  formatDuration,
  milliseconds,
  parseDuration,
  seconds,
} from '../../src/base/time/duration.ts'
import { readDuration } from '../../src/config/durations.ts'
import { rounds } from '../support/chance/rounds.ts'
import { adjust, DURATION_RULES, type Durations } from '../support/config/durations.ts'

// Short in CI, long on demand.
fc.configureGlobal({ numRuns: rounds(1000) })

const SECONDS_IN = { d: 86_400, h: 3_600, m: 60, s: 1 } as const
const TEN_YEARS = 3_650 * SECONDS_IN.d

const anyDuration = fc
  .integer({ min: -2 * TEN_YEARS, max: 2 * TEN_YEARS })
  .map((count) => seconds(count))

/** Around the minimums, where mistakes would be. */
const nearDuration = fc.oneof(
  fc.integer({ min: -120, max: 120 }).map((count) => seconds(count)),
  fc.integer({ min: 3_500, max: 3_700 }).map((count) => seconds(count)),
  anyDuration,
)

const timeouts = fc.record({
  header: nearDuration,
  request: nearDuration,
  idle: nearDuration,
  write: nearDuration,
})
const durations: fc.Arbitrary<Durations> = fc.record({
  sessionTimeout: nearDuration,
  sessionCertificateDuration: nearDuration,
  accessTokenDuration: nearDuration,
  idTokenDuration: nearDuration,
  refreshTokenDuration: nearDuration,
  refreshRetryWindow: nearDuration,
  maxSessionDuration: nearDuration,
  keyRotation: nearDuration,
  auditRetention: nearDuration,
  enrollmentDuration: nearDuration,
  enrollmentCertificateDuration: nearDuration,
  timeouts: fc.array(timeouts, { maxLength: 3 }),
})

test('what is formatted is read back as the same duration', () => {
  fc.assert(
    fc.property(anyDuration, (duration) => {
      assert.equal(parseDuration(formatDuration(duration)), duration)
    }),
  )
})

test('days, hours, minutes and seconds add up, in this order and each at most once', () => {
  const part = fc.option(fc.nat({ max: 100_000 }), { nil: undefined })
  fc.assert(
    fc.property(fc.boolean(), part, part, part, part, (isNegative, d, h, m, s) => {
      const parts = { d, h, m, s }
      const names = ['d', 'h', 'm', 's'] as const
      const given = names.filter((name) => parts[name] !== undefined)
      const text = given.map((name) => `${parts[name]}${name}`).join('')
      const total = given.reduce((sum, name) => sum + (parts[name] ?? 0) * SECONDS_IN[name], 0)
      const expected = given.length === 0 ? undefined : isNegative ? 0 - total : total
      const read = parseDuration(isNegative ? `-${text}` : text)
      assert.equal(read, expected === undefined ? undefined : expected * 1_000)
    }),
  )
})

test('formatting has one spelling for each duration, whichever way it was written', () => {
  fc.assert(
    fc.property(fc.nat({ max: TEN_YEARS }), (count) => {
      const [inSeconds, formatted] = [parseDuration(`${count}s`), formatDuration(seconds(count))]
      assert.equal(inSeconds === undefined ? undefined : formatDuration(inSeconds), formatted)
      assert.match(formatted, /^(?:0s|(?:\d+d)?(?:\d{1,2}h)?(?:\d{1,2}m)?(?:\d{1,2}s)?)$/)
    }),
  )
})

/** Numbers of every size, also those that no number of ours holds exactly. */
const longText = fc
  .tuple(
    fc.constantFrom('', '-'),
    fc.bigInt({ min: 0n, max: 10n ** 40n }),
    fc.constantFrom(...'dhms'),
  )
  .map((parts) => parts.join(''))

const anyText = fc.oneof(
  longText,
  fc.string({ unit: 'binary' }),
  fc.stringMatching(/^[-+]?[0-9]{0,30}[dhms]?[0-9.e]{0,5}[dhmsDHMS]?$/),
)

test('no text makes reading throw, and what is read is exact and not too long', () => {
  fc.assert(
    fc.property(anyText, fc.constantFrom(...Object.values(DURATION_RULES)), (text, rule) => {
      const reading = readDuration(text, rule)
      if (!reading.ok) {
        assert.match(reading.problem, /^is /)
        return
      }
      assert.ok(Number.isSafeInteger(reading.value))
      assert.ok(reading.value <= rule.maximum)
      assert.match(text, /^(?:0|-?(?:[0-9]+[dhms])+)$/)
    }),
  )
})

test('a duration is refused as too long exactly when it is longer than its maximum', () => {
  const aboutMaximum = fc.constantFrom(...Object.values(DURATION_RULES)).chain((rule) =>
    fc.tuple(
      fc.constant(rule),
      fc.oneof(
        fc.nat({ max: 2 * TEN_YEARS }),
        fc.integer({ min: -2, max: 2 }).map((off) => rule.maximum / 1_000 + off),
      ),
    ),
  )
  fc.assert(
    fc.property(aboutMaximum, ([rule, count]) => {
      assert.equal(readDuration(`${count}s`, rule).ok, count * 1_000 <= rule.maximum)
    }),
  )
})

test('after the adjustment every duration has its minimum', () => {
  fc.assert(
    fc.property(durations, (given) => {
      const adjusted = adjust(given).durations
      assert.ok(adjusted.accessTokenDuration >= 60_000)
      assert.ok(adjusted.idTokenDuration >= 60_000)
      assert.ok(adjusted.refreshTokenDuration >= adjusted.accessTokenDuration + 60_000)
      assert.ok(adjusted.refreshRetryWindow >= 0)
      assert.ok(adjusted.sessionTimeout >= 60_000)
      assert.ok(adjusted.sessionCertificateDuration >= 60_000)
      assert.ok(adjusted.maxSessionDuration >= adjusted.accessTokenDuration)
      assert.ok(adjusted.keyRotation >= 3_600_000)
      assert.ok(adjusted.auditRetention >= 86_400_000)
      assert.ok(adjusted.enrollmentDuration >= 60_000)
      assert.ok(adjusted.enrollmentCertificateDuration >= 3_600_000)
      assert.equal(adjusted.timeouts.length, given.timeouts.length)
      for (const { header, request, idle, write } of adjusted.timeouts) {
        assert.ok(header >= 1_000)
        assert.ok(request >= header)
        assert.ok(idle >= 1_000)
        assert.ok(write >= 1_000)
      }
    }),
  )
})

test('adjusting twice is adjusting once', () => {
  fc.assert(
    fc.property(durations, (given) => {
      const once = adjust(given).durations
      assert.deepEqual(adjust(once), { durations: once, adjustments: [] })
    }),
  )
})

test('a value is reported exactly when it changes, once, with what was given and what is used', () => {
  fc.assert(
    fc.property(durations, (given) => {
      const { durations: used, adjustments } = adjust(given)
      const [before, after] = [flatten(given), flatten(used)]
      const changed = [...before].filter(([path, value]) => after.get(path) !== value)
      assert.deepEqual(
        new Map(adjustments.map((each) => [each.path, [each.given, each.used]])),
        new Map(
          changed.map(([path, value]) => [
            path,
            [formatDuration(value), formatDuration(after.get(path) ?? milliseconds(0))],
          ]),
        ),
      )
      assert.equal(adjustments.length, changed.length)
    }),
  )
})

test('the adjustment never shortens, and keeps what is long enough', () => {
  fc.assert(
    fc.property(durations, (given) => {
      const [before, after] = [flatten(given), flatten(adjust(given).durations)]
      for (const [path, value] of before) {
        const kept = after.get(path) ?? milliseconds(-1)
        assert.ok(kept >= value, path)
        if (value >= minimumOf(path, after)) assert.equal(kept, value, path)
      }
    }),
  )
})

/**
 * The rules once more, in the words of SPEC Limits and D-43, independent of the code that applies
 * them.
 */
function minimumOf(path: string, used: ReadonlyMap<string, Duration>): number {
  const access = used.get('edge.oidc.accessTokenDuration') ?? 0
  if (path.endsWith('refreshTokenDuration')) return access + 60_000
  if (path.endsWith('refreshRetryWindow')) return 0
  if (path.endsWith('TokenDuration') || path.startsWith('edge.api.')) return 60_000
  if (path.endsWith('maxSessionDuration')) return access
  if (path.endsWith('retention')) return 86_400_000
  if (path.endsWith('keyRotation')) return 3_600_000
  if (path === 'edge.enrollment.duration') return 60_000
  if (path === 'edge.enrollment.certificateDuration') return 3_600_000
  const header = used.get(path.replace(/request$/, 'header')) ?? 0
  return path.endsWith('request') ? header : 1_000
}

function flatten(all: Durations): ReadonlyMap<string, Duration> {
  const { timeouts: listeners, sessionTimeout, sessionCertificateDuration, ...rest } = all
  const { auditRetention, enrollmentDuration, enrollmentCertificateDuration, ...oidc } = rest
  return new Map([
    ['edge.api.sessionTimeout', sessionTimeout],
    ['edge.api.sessionCertificateDuration', sessionCertificateDuration],
    ['edge.audit.retention', auditRetention],
    ['edge.enrollment.duration', enrollmentDuration],
    ['edge.enrollment.certificateDuration', enrollmentCertificateDuration],
    ...Object.entries(oidc).map(([key, value]) => [`edge.oidc.${key}`, value] as const),
    ...listeners.flatMap((each, i) =>
      Object.entries(each).map(
        ([key, value]) => [`web[${i}].options.timeouts.${key}`, value] as const,
      ),
    ),
  ])
}
