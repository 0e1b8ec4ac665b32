/**
 * The verdicts on codes, and what they spend: D-17, D-18, R084 – R088. Codes come from an independent implementation,
 * as they would from a user's phone.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Secret, TOTP } from 'otpauth'
import { type TotpStores, totpStores } from '../../../../test/support/stores/totp-stores.ts'
import type { IdentityId, TotpEnrollmentId } from '../../../base/ids.ts'
import { systemRandom } from '../../../base/secrets/random.ts'
import { createVault, type Vault } from '../../../base/secrets/vault.ts'
import { seconds } from '../../../base/time/duration.ts'
import { instant, plus } from '../../../base/time/instant.ts'
import { blockedUntil } from '../guessing/code-guesses.ts'
import { recoveryCodeHash } from '../recovery-codes.ts'
import type { FactorVerdict } from '../second-factor.ts'
import { checkCode } from './totp.ts'
import type { TotpEnrollment } from './totp-enrollment.ts'

const ADA = 'ada' as IdentityId
const BOB = 'bob' as IdentityId
/** The first moment of a step. */
const NOON = instant(1_800_000_000_000)
const RECOVERY_CODE = 'ABC234'

const vault = createVault(new Uint8Array(32).fill(7), systemRandom)
/** For this one no two of the codes around noon are alike. */
const SECRET = new TextEncoder().encode('12345678901234567890')
const phone = new TOTP({ secret: new Secret({ buffer: SECRET.buffer }) })

/** What the phone shows so many seconds from noon. */
const codeAt = (ahead: number) => phone.generate({ timestamp: NOON + ahead * 1_000 })
/** No code of any step around noon. */
const WRONG = '000000'

function enrollmentOf(identityId: IdentityId, changes: Partial<TotpEnrollment> = {}) {
  const id = `enrollment-of-${identityId}` as TotpEnrollmentId
  return {
    id,
    identityId,
    isVerified: true,
    owner: undefined,
    sealedSecret: vault.seal('totp-secret', SECRET, id),
    createdAt: NOON,
    ...changes,
  }
}

/** A world at noon, in which Ada has an app and a recovery code. */
async function world({
  enrollment = enrollmentOf(ADA),
  safe = vault,
}: {
  readonly enrollment?: TotpEnrollment
  readonly safe?: Vault
} = {}) {
  const stores = totpStores()
  const codes = [recoveryCodeHash(vault, enrollment.identityId, RECOVERY_CODE)]
  assert.ok(await stores.totpEnrollments.replacePending(enrollment, codes))
  let now = NOON
  const ports = {
    vault: safe,
    clock: { now: () => now, uptime: () => assert.fail('codes go by the time of day') },
    totpEnrollments: stores.totpEnrollments,
    passkeys: stores.passkeys,
    spentStates: stores.spentStates,
    recoveryCodes: stores.recoveryCodes,
    codeGuesses: stores.codeGuesses,
  }
  const check = (identityId: IdentityId, code: string) => checkCode(ports, { identityId }, code)
  const advance = (by: number) => {
    now = plus(now, seconds(by))
  }
  return { ...stores, check, advance }
}

/** What the caller of the factor does with a verdict: takes what matches, in one transaction. */
async function accept(verdict: FactorVerdict, { transaction }: Pick<TotpStores, 'transaction'>) {
  return verdict.verdict === 'matches' ? transaction((tx) => verdict.take(tx)) : false
}

for (const [what, ahead] of [
  ['of this step', 0],
  ['of the step before', -30],
  ['of the step after', 30],
] as const) {
  test(`R084: a code ${what} matches, and is accepted`, async () => {
    const use = await world()
    const verdict = await use.check(ADA, codeAt(ahead))
    assert.equal(verdict.verdict === 'matches' && verdict.by, 'totp')
    assert.equal(await accept(verdict, use), true)
  })
}

for (const [ahead, aheadSeconds] of [
  [-31, -60],
  [-60, -60],
  [60, 60],
  [90, 90],
  [-600, -600],
  [629, 600],
] as const) {
  test(`R084, D-325: a code of ${ahead} seconds from now is wrong, and its event can say by how much`, async () => {
    const { check } = await world()
    const clock = { of: 'totp', aheadSeconds }
    assert.deepEqual(await check(ADA, codeAt(ahead)), { verdict: 'wrong', clock })
  })
}

test('D-325: the search for the clock of an app ends after ten minutes either way', async () => {
  for (const ahead of [-630, 630]) {
    const { check } = await world()
    assert.deepEqual(await check(ADA, codeAt(ahead)), { verdict: 'wrong' })
  }
})

test('spaces in a code do not count', async () => {
  const { check } = await world()
  const code = codeAt(0)
  for (const typed of [`${code.slice(0, 3)} ${code.slice(3)}`, ` ${code}\t`, [...code].join(' ')]) {
    assert.equal((await check(ADA, typed)).verdict, 'matches', JSON.stringify(typed))
  }
})

const NO_CODES: Readonly<Record<string, string>> = {
  'an empty text': '',
  'only spaces': '      ',
  'a code without its last digit': codeAt(0).slice(0, 5),
  'a code with a digit too many': `${codeAt(0)}0`,
  'the code of eight digits': new TOTP({ secret: phone.secret, digits: 8 }).generate({
    timestamp: NOON,
  }),
  'a number in another notation': '1e5   ',
  'a code with a sign': `+${codeAt(0).slice(1)}`,
  'digits of another script': [...codeAt(0)]
    .map((digit) => String.fromCodePoint(0x0660 + Number(digit)))
    .join(''),
  'a NUL at the end': `${codeAt(0)}\0`,
  'a text of 64 KiB': '7'.repeat(65_536),
  'two codes': `${codeAt(0)} ${codeAt(30)}`,
}

for (const [what, code] of Object.entries(NO_CODES)) {
  test(`R086: ${what} is a wrong code, and counts as one`, async () => {
    const { check, guesses } = await world()
    assert.deepEqual(await check(ADA, code), { verdict: 'wrong' })
    assert.equal(guesses.get(ADA), 1)
  })
}

test('R085: a code is accepted once', async () => {
  // Attack: an attacker who looks over a shoulder types the same code within the minute.
  const use = await world()
  assert.equal(await accept(await use.check(ADA, codeAt(0)), use), true)
  assert.equal(await accept(await use.check(ADA, codeAt(0)), use), false)
})

test('R085: of two at the same moment with the same code one is accepted', async () => {
  const use = await world()
  const verdicts = await Promise.all([use.check(ADA, codeAt(0)), use.check(ADA, codeAt(0))])
  const accepted = await Promise.all(verdicts.map((verdict) => accept(verdict, use)))
  assert.deepEqual(accepted.toSorted(), [false, true])
})

test('R085: after a code, those of earlier steps are spent too', async () => {
  // Attack: an older code that was seen but never sent.
  const use = await world()
  assert.equal(await accept(await use.check(ADA, codeAt(0)), use), true)
  assert.equal(await accept(await use.check(ADA, codeAt(-30)), use), false)
  assert.equal(await accept(await use.check(ADA, codeAt(30)), use), true)
})

test('a code that was not taken is not spent', async () => {
  const use = await world()
  assert.equal((await use.check(ADA, codeAt(0))).verdict, 'matches')
  assert.equal(await accept(await use.check(ADA, codeAt(0)), use), true)
})

test('R087: a recovery code works in the place of a code, in any case, and once', async () => {
  const use = await world()
  const verdict = await use.check(ADA, 'abc 234')
  assert.equal(verdict.verdict === 'matches' && verdict.by, 'recovery-code')
  assert.equal(await accept(verdict, use), true)
  assert.equal(await use.recoveryCodes.count(ADA), 0)
  assert.equal(await accept(await use.check(ADA, RECOVERY_CODE), use), false)
})

test('R087: of two at the same moment with the same recovery code one is accepted', async () => {
  const use = await world()
  const verdicts = await Promise.all([use.check(ADA, RECOVERY_CODE), use.check(ADA, RECOVERY_CODE)])
  const accepted = await Promise.all(verdicts.map((verdict) => accept(verdict, use)))
  assert.deepEqual(accepted.toSorted(), [false, true])
})

test('R087: a text that only looks like a recovery code is not accepted, and counts', async () => {
  const use = await world()
  assert.equal(await accept(await use.check(ADA, 'ABC235'), use), false)
  assert.equal(use.guesses.get(ADA), 1)
})

test('R087: a recovery code of digits alone works too', async () => {
  const use = await world()
  await use.recoveryCodes.replace(ADA, [recoveryCodeHash(vault, ADA, '222222')])
  assert.equal(await accept(await use.check(ADA, '222222'), use), true)
})

test('R087: the recovery code of another identity is not accepted', async () => {
  const use = await world()
  await use.totpEnrollments.replacePending(enrollmentOf(BOB), [])
  assert.equal(await accept(await use.check(BOB, RECOVERY_CODE), use), false)
})

for (const [what, enrollment] of [
  ['nothing is enrolled', enrollmentOf(BOB)],
  ['the enrollment is pending', enrollmentOf(ADA, { isVerified: false })],
] as const) {
  test(`D-18: where ${what}, no code is right, and the guess counts`, async () => {
    const { check, guesses } = await world({ enrollment })
    for (const code of [codeAt(0), RECOVERY_CODE]) {
      assert.deepEqual(await check(ADA, code), { verdict: 'not-enrolled' })
    }
    assert.equal(guesses.get(ADA), 2)
  })
}

test('a secret that was moved from the enrollment of another identity is not used', async () => {
  // Attack: an attacker who can write to the table puts the sealed secret of their own app into another row.
  const { sealedSecret } = enrollmentOf(BOB)
  const { check } = await world({ enrollment: enrollmentOf(ADA, { sealedSecret }) })
  await assert.rejects(check(ADA, codeAt(0)), { message: 'a stored TOTP secret cannot be opened' })
})

test('D-18: after ten wrong codes in a row even a right one is refused, until the block ends', async () => {
  const use = await world()
  for (let guess = 1; guess <= 10; guess += 1) {
    assert.deepEqual(await use.check(ADA, WRONG), { verdict: 'wrong' }, `guess ${guess}`)
  }
  assert.deepEqual(await use.check(ADA, codeAt(0)), { verdict: 'blocked', retryAfterSeconds: 30 })
  use.advance(29.5)
  assert.deepEqual(await use.check(ADA, codeAt(0)), { verdict: 'blocked', retryAfterSeconds: 1 })
  use.advance(0.5)
  assert.equal(await accept(await use.check(ADA, codeAt(30)), use), true)
})

test('D-18: what is refused is not counted, so that hammering makes the wait no longer', async () => {
  const use = await world()
  for (let guess = 1; guess <= 60; guess += 1) await use.check(ADA, WRONG)
  assert.equal(use.guesses.get(ADA), 10)
  use.advance(30)
  assert.deepEqual(await use.check(ADA, WRONG), { verdict: 'wrong' })
  assert.deepEqual(await use.check(ADA, WRONG), { verdict: 'blocked', retryAfterSeconds: 60 })
})

test('D-18: a right code starts the count again', async () => {
  const use = await world()
  for (let guess = 1; guess <= 9; guess += 1) await use.check(ADA, WRONG)
  assert.equal(await accept(await use.check(ADA, codeAt(0)), use), true)
  assert.equal(use.guesses.get(ADA), undefined)
  for (let guess = 1; guess <= 10; guess += 1) {
    assert.deepEqual(await use.check(ADA, WRONG), { verdict: 'wrong' }, `guess ${guess}`)
  }
})

test('R085: a code that was used before does not start the count again', async () => {
  // Attack: one code that was overheard buys ten new guesses as often as it is sent.
  const use = await world()
  assert.equal(await accept(await use.check(ADA, codeAt(0)), use), true)
  for (let guess = 1; guess <= 10; guess += 1) {
    assert.equal(await accept(await use.check(ADA, codeAt(0)), use), false)
  }
  assert.equal((await use.check(ADA, codeAt(0))).verdict, 'blocked')
})

test('R086: TOTP codes, recovery codes and nonsense are counted together', async () => {
  const use = await world()
  const guesses = [WRONG, 'ABC235', '', WRONG, 'ZZZZZZ', 'x', WRONG, 'ABC236', '1', WRONG]
  for (const code of guesses) await accept(await use.check(ADA, code), use)
  assert.equal((await use.check(ADA, RECOVERY_CODE)).verdict, 'blocked')
})

test('R086: a hundred guesses at once count as a hundred', async () => {
  const use = await world()
  const verdicts = await Promise.all(Array.from({ length: 100 }, () => use.check(ADA, WRONG)))
  const count = (verdict: string) => verdicts.filter((one) => one.verdict === verdict).length
  assert.equal(count('wrong'), 10)
  assert.equal(count('blocked'), 90)
})

test('D-18: the wrong codes of one identity do not count for another', async () => {
  const use = await world()
  for (let guess = 1; guess <= 11; guess += 1) await use.check(BOB, WRONG)
  assert.equal((await use.check(BOB, WRONG)).verdict, 'blocked')
  assert.equal(await accept(await use.check(ADA, codeAt(0)), use), true)
})

const BLOCKS: readonly [guesses: number, seconds: number | undefined][] = [
  [1, undefined],
  [9, undefined],
  [10, 30],
  [11, 60],
  [12, 120],
  [16, 1_920],
  [17, 3_600],
  [18, 3_600],
  [100_000, 3_600],
]

for (const [guesses, block] of BLOCKS) {
  test(`D-18: after ${guesses} wrong codes the next one waits ${block ?? 0} seconds`, () => {
    const until = block === undefined ? undefined : plus(NOON, seconds(block))
    assert.equal(blockedUntil(guesses, NOON), until)
  })
}
