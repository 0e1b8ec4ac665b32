/**
 * Setting up an authenticator app: SPEC TOTP enrollment during an OIDC flow, D-17, D-19, R084, R087, R089, R090. The app
 * is an independent implementation that knows the provisioning URL and nothing else.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TOTP, URI } from 'otpauth'
import { anIdentity } from '../../../../test/support/people.ts'
import { type TotpStores, totpStores } from '../../../../test/support/stores/totp-stores.ts'
import type { ApiSessionId, IdentityId } from '../../../base/ids.ts'
import { systemRandom } from '../../../base/secrets/random.ts'
import { createVault } from '../../../base/secrets/vault.ts'
import { seconds } from '../../../base/time/duration.ts'
import { instant, plus } from '../../../base/time/instant.ts'
import { auditPorts } from '../../audit/ports.ts'
import type { AuthRequestKey } from '../../login/request/auth-request.ts'
import { loginOwner, sessionOwner } from '../factor-owner.ts'
import { freshRecoveryCodes } from '../recovery-codes.ts'
import type { EnrollmentProof, EnrollPorts, FactorVerdict } from '../second-factor.ts'
import { totpEnrollment } from './enroll-totp.ts'
import { checkCode } from './totp.ts'

/** The first moment of a step. */
const NOON = instant(1_800_000_000_000)
const HOST = 'id.example.org'
const WRONG = 'no code'
const LOGIN = loginOwner({ key: 'one' as AuthRequestKey })
const OTHER_LOGIN = loginOwner({ key: 'another' as AuthRequestKey })
const SESSION = sessionOwner({ sessionId: 'one' as ApiSessionId })
const ADA = anIdentity({ id: 'ada' as IdentityId, name: 'Ada Lovelace' })

function world() {
  const stores = totpStores()
  const vault = createVault(new Uint8Array(32).fill(7), systemRandom)
  let now = NOON
  const clock = { now: () => now, uptime: () => assert.fail('codes go by the time of day') }
  const { transaction, rows: _, guesses: __, deleted: ___, ...factorStores } = stores
  const { totpEnrollments } = stores
  const audit = auditPorts({ random: systemRandom, clock })
  const ports = { vault, ...audit, transaction, ...factorStores }
  const advance = (by: number) => {
    now = plus(now, seconds(by))
  }

  async function start(owner = LOGIN) {
    const started = await totpEnrollment.start(ports, { identity: ADA, owner, hostname: HOST })
    assert.ok(typeof started === 'object')
    const app = URI.parse(started.setup.provisioningUrl)
    assert.ok(app instanceof TOTP)
    const enrollment = await totpEnrollments.find(ADA.id)
    assert.equal(enrollment?.id, started.id)
    return {
      ...started,
      enrollment,
      app,
      code: (ahead = 0) => app.generate({ timestamp: now + ahead * 1_000 }),
    }
  }
  /** An enrollment that is verified. */
  async function enrolled() {
    const started = await start()
    assert.equal(await accept(await prove(ports, LOGIN, started.code()), stores), true)
    return started
  }
  return { ...stores, ports, start, enrolled, advance }
}

type Owner = ReturnType<typeof loginOwner>
const prove = (ports: EnrollPorts, owner: Owner, code: string) =>
  totpEnrollment.prove(ports, { identityId: ADA.id, owner }, code)
const cancel = (ports: EnrollPorts, owner: Owner) =>
  totpEnrollment.cancel(ports, { identityId: ADA.id, owner })
const find = (ports: EnrollPorts, owner: Owner) =>
  totpEnrollment.find(ports, { identity: ADA, owner, hostname: HOST })
const check = (ports: EnrollPorts, code: string) => checkCode(ports, { identityId: ADA.id }, code)

type Verdict = EnrollmentProof | FactorVerdict

/** What a caller does with a verdict: takes what matches, in one transaction. */
async function accept(verdict: Verdict, { transaction }: Pick<TotpStores, 'transaction'>) {
  return verdict.verdict === 'matches' ? transaction((tx) => verdict.take(tx)) : false
}

test('starting gives a pending enrollment, a URL for the app and 20 recovery codes', async () => {
  const { start, totpEnrollments } = world()
  const { id, enrollment, app, recoveryCodes } = await start()
  assert.equal(enrollment.isVerified, false)
  assert.equal(enrollment.identityId, ADA.id)
  assert.equal(enrollment.createdAt, NOON)
  assert.equal(app.issuer, HOST)
  assert.equal(app.label, ADA.name)
  assert.equal(recoveryCodes.length, 20)
  assert.equal((await totpEnrollments.find(ADA.id))?.id, id)
})

test('R084: the secret has 160 bits, is another one each time, and is not stored as it is', async () => {
  const { start, rows } = world()
  const secrets = new Set<string>()
  for (let round = 0; round < 5; round += 1) {
    const { app, recoveryCodes } = await start()
    assert.equal(app.secret.bytes.length, 20)
    secrets.add(app.secret.base32)
    const row = rows.get(ADA.id)
    const stored = JSON.stringify([row?.enrollment, ...(row?.codes ?? [])])
    const { base32, hex } = app.secret
    const base64url = Buffer.from(app.secret.bytes).toString('base64url')
    for (const plain of [base32, hex, base64url, ...recoveryCodes]) {
      assert.equal(stored.includes(plain), false)
    }
  }
  assert.equal(secrets.size, 5)
})

test('a code of the app proves the enrollment, and verifies it when it is taken', async () => {
  const use = world()
  const { enrollment, code } = await use.start()
  const proof = await prove(use.ports, LOGIN, code())
  assert.equal(proof.verdict, 'matches')
  assert.deepEqual(await use.totpEnrollments.find(ADA.id), enrollment)
  assert.equal(await accept(proof, use), true)
  assert.deepEqual(await use.totpEnrollments.find(ADA.id), {
    ...enrollment,
    isVerified: true,
    owner: undefined,
  })
})

test('D-17: a code of the step before or after proves the app too, and none further away', async () => {
  const { start, ports } = world()
  const { code } = await start()
  for (const [ahead, verdict] of [
    [-60, 'wrong'],
    [-30, 'matches'],
    [30, 'matches'],
    [60, 'wrong'],
  ] as const) {
    assert.equal((await prove(ports, LOGIN, code(ahead))).verdict, verdict, String(ahead))
  }
})

test('D-17: verifying burns nothing: the same code is good for the login', async () => {
  const use = world()
  const { code } = await use.enrolled()
  assert.equal(await accept(await check(use.ports, code()), use), true)
})

test('D-17: the recovery codes that were shown are good for a login afterwards', async () => {
  const use = world()
  const { recoveryCodes } = await use.enrolled()
  for (const text of recoveryCodes) {
    assert.equal(await accept(await check(use.ports, text), use), true, text)
  }
  assert.equal(await use.recoveryCodes.count(ADA.id), 0)
})

test('R089: a wrong code leaves the enrollment pending', async () => {
  const { start, ports, totpEnrollments } = world()
  const { enrollment } = await start()
  assert.deepEqual(await prove(ports, LOGIN, WRONG), { verdict: 'wrong' })
  assert.deepEqual(await totpEnrollments.find(ADA.id), enrollment)
})

test('D-17: a recovery code proves no app', async () => {
  // Attack: who has seen the codes enrolls a secret that the owner's app does not have.
  const { start, ports } = world()
  const { recoveryCodes } = await start()
  for (const text of recoveryCodes.slice(0, 3)) {
    assert.deepEqual(await prove(ports, LOGIN, text), { verdict: 'wrong' })
  }
})

test('R089: starting again replaces the pending one, and the first app is not accepted', async () => {
  const { start, ports } = world()
  const first = await start()
  const second = await start()
  assert.notEqual(first.id, second.id)
  assert.deepEqual(await prove(ports, LOGIN, first.code()), { verdict: 'wrong' })
  assert.equal((await prove(ports, LOGIN, second.code())).verdict, 'matches')
})

test('R089: the recovery codes of a replaced enrollment are not accepted', async () => {
  const use = world()
  const { recoveryCodes } = await use.start()
  await use.enrolled()
  const verdict = await check(use.ports, recoveryCodes[0] ?? '')
  assert.equal(await accept(verdict, use), false)
})

test('R089: an enrollment that is replaced between proof and taking is not verified', async () => {
  // Attack: an attacker starts their own enrollment while the owner sends a code, and has theirs verified by it.
  const use = world()
  const { code } = await use.start()
  const proof = await prove(use.ports, LOGIN, code())
  await use.start()
  assert.equal(await accept(proof, use), false)
  assert.equal((await use.totpEnrollments.find(ADA.id))?.isVerified, false)
})

test('of two proofs at the same moment one verifies', async () => {
  const use = world()
  const { code } = await use.start()
  const proofs = await Promise.all([
    prove(use.ports, LOGIN, code()),
    prove(use.ports, LOGIN, code()),
  ])
  const accepted = await Promise.all(proofs.map((proof) => accept(proof, use)))
  assert.deepEqual(accepted.toSorted(), [false, true])
})

test('R089: there is nothing to verify before the start, after the end and after cancelling', async () => {
  const { ports, enrolled, start, guesses } = world()
  const notStarted = { verdict: 'not-started' }
  assert.deepEqual(await prove(ports, LOGIN, WRONG), notStarted)
  const cancelled = await start()
  assert.equal(await cancel(ports, LOGIN), 'cancelled')
  assert.deepEqual(await prove(ports, LOGIN, cancelled.code()), notStarted)
  const { code } = await enrolled()
  assert.deepEqual(await prove(ports, LOGIN, code()), notStarted)
  assert.equal(guesses.get(ADA.id), undefined)
})

test('R086: wrong codes for an enrollment count with those of a login, and a right one clears', async () => {
  const use = world()
  const { code } = await use.start()
  for (let guess = 1; guess <= 5; guess += 1) {
    assert.deepEqual(await check(use.ports, WRONG), { verdict: 'not-enrolled' })
    assert.deepEqual(await prove(use.ports, LOGIN, WRONG), { verdict: 'wrong' })
  }
  const blocked = { verdict: 'blocked', retryAfterSeconds: 30 }
  assert.deepEqual(await prove(use.ports, LOGIN, code()), blocked)
  use.advance(30)
  assert.equal(await accept(await prove(use.ports, LOGIN, code()), use), true)
  assert.equal(use.guesses.get(ADA.id), undefined)
})

test('R090: a verified enrollment is neither replaced nor cancelled', async () => {
  // Attack: an attacker with the stolen password, half logged in, puts their own app in the place of the owner's.
  const use = world()
  const { enrollment, code } = await use.enrolled()
  assert.equal(
    await totpEnrollment.start(use.ports, { identity: ADA, owner: LOGIN, hostname: HOST }),
    'exists',
  )
  assert.equal(await cancel(use.ports, LOGIN), 'verified')
  assert.equal((await use.totpEnrollments.find(ADA.id))?.id, enrollment.id)
  assert.equal(await use.recoveryCodes.count(ADA.id), 20)
  assert.equal((await check(use.ports, code())).verdict, 'matches')
})

test('D-284: nothing is started for an identity that was deleted meanwhile', async () => {
  const { ports, deleted, rows } = world()
  deleted.add(ADA.id)
  const enrollee = { identity: ADA, owner: LOGIN, hostname: HOST }
  assert.equal(await totpEnrollment.start(ports, enrollee), 'gone')
  assert.equal(rows.size, 0)
})

test('R089: cancelling removes what is pending, once', async () => {
  const { start, ports, totpEnrollments } = world()
  assert.equal(await cancel(ports, LOGIN), 'not-started')
  await start()
  assert.equal(await cancel(ports, LOGIN), 'cancelled')
  assert.equal(await totpEnrollments.find(ADA.id), undefined)
  assert.equal(await cancel(ports, LOGIN), 'not-started')
})

for (const other of [OTHER_LOGIN, SESSION]) {
  test(`D-240: ${other} does not see the pending enrollment of ${LOGIN}`, async () => {
    // Attack: an attacker with only the password copies the secret while the owner enrolls, or verifies it in another
    // login.
    const use = world()
    const { enrollment, code } = await use.start()
    assert.equal(await find(use.ports, other), undefined)
    assert.deepEqual(await prove(use.ports, other, code()), {
      verdict: 'not-started',
    })
    assert.deepEqual(await prove(use.ports, other, WRONG), {
      verdict: 'not-started',
    })
    assert.equal(use.guesses.get(ADA.id), undefined)
    assert.equal(await cancel(use.ports, other), 'not-started')
    assert.deepEqual(await use.totpEnrollments.find(ADA.id), enrollment)
    assert.equal(await accept(await prove(use.ports, LOGIN, code()), use), true)
  })

  test(`D-240: an enrollment that ${other} starts voids the one of ${LOGIN}`, async () => {
    const use = world()
    await use.start()
    const { enrollment, code } = await use.start(other)
    assert.equal(await find(use.ports, LOGIN), undefined)
    assert.deepEqual(await prove(use.ports, LOGIN, code()), {
      verdict: 'not-started',
    })
    assert.equal(await cancel(use.ports, LOGIN), 'not-started')
    assert.deepEqual(await use.totpEnrollments.find(ADA.id), enrollment)
  })
}

test('what is pending can be read with the same URL as at the start', async () => {
  const { start, ports } = world()
  assert.equal(await find(ports, LOGIN), undefined)
  const { id, setup } = await start()
  assert.deepEqual(await find(ports, LOGIN), { id, setup })
})

test('R090: what is verified can be read, and its secret cannot', async () => {
  // Attack: a stolen session copies the app of the owner.
  const { enrolled, ports } = world()
  const { id } = await enrolled()
  assert.deepEqual(await find(ports, LOGIN), { id, setup: undefined })
})

test('R087: new recovery codes take the place of all that are left, when they are taken', async () => {
  const use = world()
  const old = await use.enrolled()
  const fresh = freshRecoveryCodes(use.ports, ADA.id)
  assert.equal(fresh.recoveryCodes.length, 20)
  const isGood = async (text = '') => accept(await check(use.ports, text), use)
  assert.equal(await isGood(fresh.recoveryCodes[0]), false)
  assert.equal(await isGood(old.recoveryCodes[0]), true)
  await use.recoveryCodes.replace(ADA.id, fresh.hashes)
  assert.equal(await isGood(old.recoveryCodes[1]), false)
  assert.equal(await isGood(fresh.recoveryCodes[0]), true)
  assert.equal(await use.recoveryCodes.count(ADA.id), 19)
})

test('R085: a code of an app that was replaced while it was checked is not taken for one of the new app', async () => {
  // Attack: the code of a lost phone comes while an administrator removes it and the owner sets up the next one.
  const here = world()
  const { ports, enrolled, advance, totpEnrollments } = here
  const lost = await enrolled()
  advance(30)
  const verdict = await check(ports, lost.code())
  assert.equal(verdict.verdict, 'matches')
  assert.equal(await totpEnrollments.remove(ADA.id), true)
  const next = await enrolled()
  assert.equal(await accept(verdict, here), false)
  assert.equal(await accept(await check(ports, next.code()), here), true)
})
