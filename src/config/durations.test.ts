/**
 * Bounds and adjustments of durations, case by case; test/fuzz has the properties. SPEC Limits,
 * D-43.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  adjust,
  DURATION_RULES,
  type Durations,
  ruleAt,
} from '../../test/support/config/durations.ts'
import {
  days,
  formatDuration,
  hours,
  milliseconds,
  minutes,
  seconds,
} from '../base/time/duration.ts'
import { describeAdjustment, readDuration } from './durations.ts'

const GOOD: Durations = {
  sessionTimeout: minutes(30),
  sessionCertificateDuration: hours(12),
  accessTokenDuration: minutes(30),
  idTokenDuration: minutes(30),
  refreshTokenDuration: hours(24),
  refreshRetryWindow: seconds(0),
  maxSessionDuration: days(30),
  keyRotation: days(90),
  enrollmentDuration: hours(24),
  enrollmentCertificateDuration: days(365),
  auditRetention: days(90),
  timeouts: [{ header: seconds(10), request: seconds(30), idle: seconds(60), write: seconds(30) }],
}

test('the defaults are the ones of the specification and need no adjustment', () => {
  // SPEC Limits for the tokens, D-27 and D-36 for the sessions, D-23 for the key, D-44 for the time-outs.
  const usual = Object.fromEntries(
    Object.entries(DURATION_RULES).map(([name, rule]) => [name, rule.usual]),
  )
  assert.deepEqual(usual, {
    'edge.oidc.accessTokenDuration': '30m',
    'edge.oidc.idTokenDuration': '30m',
    'edge.oidc.refreshTokenDuration': '24h',
    'edge.oidc.refreshRetryWindow': '0s',
    'edge.api.sessionTimeout': '30m',
    'edge.api.sessionCertificateDuration': '12h',
    'edge.oidc.maxSessionDuration': '30d',
    'edge.oidc.keyRotation': '90d',
    'edge.enrollment.duration': '24h',
    'edge.enrollment.certificateDuration': '365d',
    'edge.audit.retention': '90d',
    'sso.duration': '0s',
    'web[].options.timeouts.header': '10s',
    'web[].options.timeouts.request': '30s',
    'web[].options.timeouts.idle': '60s',
    'web[].options.timeouts.write': '30s',
  })
  assert.deepEqual(adjust(GOOD), { durations: GOOD, adjustments: [] })
})

// R052: zero, negative and too small.
for (const [written, given] of [
  ['0', '0s'],
  ['-1h', '-1h'],
  ['59s', '59s'],
] as const) {
  test(`token lifetimes of ${written} become one minute, with one warning each`, () => {
    const reading = readDuration(written, ruleAt('edge.oidc.accessTokenDuration'))
    assert.ok(reading.ok)
    const { durations, adjustments } = adjust({
      ...GOOD,
      accessTokenDuration: reading.value,
      idTokenDuration: reading.value,
    })
    assert.equal(durations.accessTokenDuration, minutes(1))
    assert.equal(durations.idTokenDuration, minutes(1))
    assert.deepEqual(adjustments, [
      { path: 'edge.oidc.accessTokenDuration', given, used: '1m' },
      { path: 'edge.oidc.idTokenDuration', given, used: '1m' },
    ])
  })
}

test('a lifetime of exactly the minimum is kept', () => {
  const given = { ...GOOD, accessTokenDuration: minutes(1), idTokenDuration: minutes(1) }
  assert.deepEqual(adjust(given), { durations: given, adjustments: [] })
})

// R052: zero, negative, equal to the access token, and a second too short.
for (const given of [seconds(0), hours(-1), minutes(30), seconds(30 * 60 + 59)]) {
  const written = formatDuration(given)
  test(`a refresh token of ${written} beside an access token of 30m lives 31m`, () => {
    const { durations, adjustments } = adjust({ ...GOOD, refreshTokenDuration: given })
    assert.equal(durations.refreshTokenDuration, minutes(31))
    assert.deepEqual(adjustments, [
      { path: 'edge.oidc.refreshTokenDuration', given: written, used: '31m' },
    ])
  })
}

test('a refresh token that lives exactly a minute longer than the access token is kept', () => {
  const given = { ...GOOD, refreshTokenDuration: minutes(31) }
  assert.deepEqual(adjust(given), { durations: given, adjustments: [] })
})

test('the default of the refresh token is compared too', () => {
  // D-43: it was not configured, and its default is too short.
  const { durations, adjustments } = adjust({ ...GOOD, accessTokenDuration: days(2) })
  assert.equal(durations.refreshTokenDuration, milliseconds(days(2) + minutes(1)))
  assert.deepEqual(adjustments, [
    { path: 'edge.oidc.refreshTokenDuration', given: '1d', used: '2d1m' },
  ])
})

test('the refresh token is compared with the access token as it was adjusted', () => {
  const none = { accessTokenDuration: seconds(-5), refreshTokenDuration: seconds(61) }
  const { durations, adjustments } = adjust({ ...GOOD, ...none })
  assert.equal(durations.refreshTokenDuration, minutes(2))
  assert.deepEqual(
    adjustments.map(({ path, used }) => [path, used]),
    [
      ['edge.oidc.accessTokenDuration', '1m'],
      ['edge.oidc.refreshTokenDuration', '2m'],
    ],
  )
})

test('beside the longest access token the refresh token is a minute longer still', () => {
  const { durations } = adjust({ ...GOOD, accessTokenDuration: days(3650) })
  assert.equal(durations.refreshTokenDuration, milliseconds(days(3650) + minutes(1)))
})

test('a negative retry window means none', () => {
  const { durations, adjustments } = adjust({ ...GOOD, refreshRetryWindow: seconds(-1) })
  assert.equal(durations.refreshRetryWindow, seconds(0))
  assert.deepEqual(adjustments, [
    { path: 'edge.oidc.refreshRetryWindow', given: '-1s', used: '0s' },
  ])
})

test('a session timeout under a minute becomes a minute', () => {
  // D-36
  const { durations, adjustments } = adjust({ ...GOOD, sessionTimeout: seconds(59) })
  assert.equal(durations.sessionTimeout, minutes(1))
  assert.deepEqual(adjustments, [{ path: 'edge.api.sessionTimeout', given: '59s', used: '1m' }])
})

test('a session that would end before its access token lasts as long as the token', () => {
  const { durations, adjustments } = adjust({ ...GOOD, maxSessionDuration: minutes(29) })
  assert.equal(durations.maxSessionDuration, minutes(30))
  assert.deepEqual(adjustments, [
    { path: 'edge.oidc.maxSessionDuration', given: '29m', used: '30m' },
  ])
})

test('the longest life of a session is compared with the access token as it was adjusted', () => {
  // D-43
  const none = { accessTokenDuration: seconds(0), maxSessionDuration: seconds(-1) }
  const { durations, adjustments } = adjust({ ...GOOD, ...none })
  assert.equal(durations.maxSessionDuration, minutes(1))
  assert.deepEqual(
    adjustments.map(({ path, used }) => [path, used]),
    [
      ['edge.oidc.accessTokenDuration', '1m'],
      ['edge.oidc.maxSessionDuration', '1m'],
    ],
  )
})

test('a key rotation under an hour becomes an hour', () => {
  const { durations, adjustments } = adjust({ ...GOOD, keyRotation: minutes(59) })
  assert.equal(durations.keyRotation, minutes(60))
  assert.deepEqual(adjustments, [{ path: 'edge.oidc.keyRotation', given: '59m', used: '1h' }])
})

test('an enrollment is open for a minute at least, and its certificate lasts an hour', () => {
  const short = { enrollmentDuration: seconds(59), enrollmentCertificateDuration: minutes(59) }
  const { durations, adjustments } = adjust({ ...GOOD, ...short })
  assert.equal(durations.enrollmentDuration, minutes(1))
  assert.equal(durations.enrollmentCertificateDuration, hours(1))
  assert.deepEqual(adjustments, [
    { path: 'edge.enrollment.duration', given: '59s', used: '1m' },
    { path: 'edge.enrollment.certificateDuration', given: '59m', used: '1h' },
  ])
})

test('a request time-out shorter than the header time-out is raised to it', () => {
  const timeouts = {
    header: seconds(40),
    request: seconds(30),
    idle: seconds(60),
    write: seconds(30),
  }
  const { durations, adjustments } = adjust({ ...GOOD, timeouts: [timeouts] })
  assert.deepEqual(durations.timeouts, [{ ...timeouts, request: seconds(40) }])
  assert.deepEqual(adjustments, [
    { path: 'web[0].options.timeouts.request', given: '30s', used: '40s' },
  ])
})

test('time-outs are adjusted for each listener by its place in the file', () => {
  const none = { header: seconds(0), request: seconds(0), idle: seconds(0), write: seconds(0) }
  const [good] = GOOD.timeouts
  assert.ok(good)
  const { durations, adjustments } = adjust({ ...GOOD, timeouts: [good, none] })
  const least = { header: seconds(1), request: seconds(1), idle: seconds(1), write: seconds(1) }
  assert.deepEqual(durations.timeouts, [good, least])
  assert.deepEqual(
    adjustments.map(({ path }) => path),
    ['header', 'request', 'idle', 'write'].map((name) => `web[1].options.timeouts.${name}`),
  )
})

test('an adjustment is described with key, given and used value', () => {
  assert.equal(
    describeAdjustment({ path: 'edge.oidc.keyRotation', given: '1s', used: '1h' }),
    'edge.oidc.keyRotation: 1s is too short; using 1h',
  )
})

const NOT_A_DURATION = 'is not a duration; write it like 90s, 30m, 24h, 1h30m or 7d'
for (const [written, problem] of [
  ['', NOT_A_DURATION],
  ['30', NOT_A_DURATION],
  ['m', NOT_A_DURATION],
  ['30 m', NOT_A_DURATION],
  ['30M', NOT_A_DURATION],
  ['1.5h', NOT_A_DURATION],
  ['30m1h', NOT_A_DURATION],
  ['1h1h', NOT_A_DURATION],
  ['1w', NOT_A_DURATION],
  ['+30m', NOT_A_DURATION],
  ['--30m', NOT_A_DURATION],
  ['٣m', NOT_A_DURATION],
  ['30m\n', NOT_A_DURATION],
  ['1e3s', NOT_A_DURATION],
  ['Infinitys', NOT_A_DURATION],
  ['99999999999999999999d', NOT_A_DURATION],
  [`${'9'.repeat(400)}s`, NOT_A_DURATION],
  ['3650d1s', 'is too long; 3650d at most'],
  ['87601h', 'is too long; 3650d at most'],
] as const) {
  test(`${JSON.stringify(written.slice(0, 24))} is refused as a duration`, () => {
    const reading = readDuration(written, ruleAt('edge.oidc.keyRotation'))
    assert.deepEqual(reading, { ok: false, problem })
  })
}

test('ten years are accepted, and a day is the longest time-out', () => {
  assert.deepEqual(readDuration('3650d', ruleAt('edge.oidc.keyRotation')), {
    ok: true,
    value: days(3650),
  })
  assert.deepEqual(readDuration('1d', ruleAt('web[].options.timeouts.idle')), {
    ok: true,
    value: days(1),
  })
  assert.deepEqual(readDuration('1d1s', ruleAt('web[].options.timeouts.idle')), {
    ok: false,
    problem: 'is too long; 1d at most',
  })
})
