/**
 * The lock of a password after too many failures in a row: D-22; R077 – R079. Attack: somebody guesses at the password
 * of a person, slowly, from many places, and listens for the moment the answer changes.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { milliseconds, minutes } from '../../../src/base/time/duration.ts'
import type { Reply } from '../../support/http-client.ts'
import { authenticate } from '../../support/login/legacy.ts'
import { beginLogin, submitPassword } from '../../support/login/login.ts'
import {
  type Administrator,
  administrate,
  assertRefused,
  type CreatedIdentity,
  startHeld,
} from '../../support/management.ts'
import { forAll, type Service, startService } from '../../support/service.ts'
import { sql } from '../../support/stores/sql.ts'

const PASSWORD = 'a password of somebody'

async function person(
  admin: Administrator,
  updb: { maxAttempts: number; lockoutDurationMinutes: number },
): Promise<CreatedIdentity> {
  const policy = await admin.createPolicy({ primary: { updb: { allowed: true, ...updb } } })
  return admin.createIdentity({ password: PASSWORD, policy })
}

/** Each of them: an OIDC login and a legacy one in turn, for the count does not care. */
async function fail(service: Service, ada: CreatedIdentity, times: number): Promise<void> {
  for (let i = 0; i < times; i += 1) {
    const reply = await tryPassword(service, ada, 'not the right one', i % 2 === 0)
    assertRefused(reply, 401, 'INVALID_AUTH')
  }
}

async function tryPassword(
  service: Service,
  { username }: CreatedIdentity,
  password: string,
  isOidc = true,
): Promise<Reply> {
  if (!isOidc) return authenticate(service, { username, password })
  const { authRequestId } = await beginLogin(service)
  return submitPassword(service, authRequestId, { username, password })
}

async function isOpen(service: Service, ada: CreatedIdentity): Promise<boolean> {
  const reply = await tryPassword(service, ada, PASSWORD)
  if (reply.status === 302) return true
  assertRefused(reply, 401, 'INVALID_AUTH')
  assertRefused(await tryPassword(service, ada, PASSWORD, false), 401, 'INVALID_AUTH')
  return false
}

const authenticatorOf = async (admin: Administrator, { id }: CreatedIdentity) =>
  (await admin.get(`/identities/${id}/authenticators`))[0]

// A comparable product counted every attempt before it was judged, and locked people out who made no mistake.
test('R078: right passwords never count, however many and however close together', async (t) => {
  const { service, admin } = await startHeld(t)
  const ada = await person(admin, { maxAttempts: 2, lockoutDurationMinutes: 5 })
  await fail(service, ada, 1)
  for (let i = 0; i < 3; i += 1) assert.equal(await isOpen(service, ada), true)
  const replies = await Promise.all(
    Array.from({ length: 10 }, (_, i) => tryPassword(service, ada, PASSWORD, i % 2 === 0)),
  )
  for (const { status, text } of replies) assert.ok([200, 302].includes(status), text)
  await fail(service, ada, 1)
  assert.equal(await isOpen(service, ada), true)
})

test('R077: locked, wrong password, unknown name and disabled identity get the same answer', async (t) => {
  const { service, admin } = await startHeld(t)
  const lock = { maxAttempts: 1, lockoutDurationMinutes: 60 }
  const [ada, bob, eve] = [
    await person(admin, lock),
    await person(admin, { ...lock, maxAttempts: 0 }),
    await person(admin, lock),
  ]
  await fail(service, ada, 1)
  await admin.act('POST', `/identities/${eve.id}/disable`)
  const nobody = { ...ada, username: 'nobody' }
  for (const isOidc of [true, false]) {
    const answers = new Set<string>()
    for (const reply of [
      await tryPassword(service, ada, PASSWORD, isOidc),
      await tryPassword(service, ada, 'not the right one', isOidc),
      await tryPassword(service, bob, 'not the right one', isOidc),
      await tryPassword(service, eve, PASSWORD, isOidc),
      await tryPassword(service, nobody, PASSWORD, isOidc),
    ]) {
      assertRefused(reply, 401, 'INVALID_AUTH')
      const { error, meta } = reply.json()
      const { date, 'x-request-id': _, ...headers } = reply.headers
      answers.add(JSON.stringify({ error: { ...error, requestId: '' }, meta, headers }))
    }
    assert.equal(answers.size, 1, [...answers].join('\n'))
  }
})

describe('a lock', () => {
  // Together they have more failures than one address may have in a minute.
  const held = forAll((t) =>
    startHeld(t, { config: { edge: { limits: { failuresPerAddress: 0 } } } }),
  )

  test('D-22: as many failures as the policy says lock the password, not one less', async () => {
    const { service, admin } = held
    for (const maxAttempts of [1, 3]) {
      const ada = await person(admin, { maxAttempts, lockoutDurationMinutes: 5 })
      await fail(service, ada, maxAttempts - 1)
      assert.equal(await isOpen(service, ada), true)
      await fail(service, ada, maxAttempts)
      assert.equal(await isOpen(service, ada), false)
    }
  })

  test('API 4.4: the default is ten attempts, then fifteen minutes', async () => {
    const { service, admin } = held
    const ada = await admin.createIdentity({ password: PASSWORD })
    await fail(service, ada, 10)
    assert.equal(await isOpen(service, ada), false)
    const { lockedUntil } = await authenticatorOf(admin, ada)
    assert.equal(lockedUntil, new Date(service.clock.now() + minutes(15)).toISOString())
  })

  test('D-22: an administrator ends a lock with an end of its own, too', async () => {
    const { service, admin } = held
    const ada = await person(admin, { maxAttempts: 1, lockoutDurationMinutes: 60 })
    await fail(service, ada, 1)
    assert.equal(await isOpen(service, ada), false)
    await admin.act('POST', `/authenticators/${(await authenticatorOf(admin, ada)).id}/unlock`)
    assert.equal(await isOpen(service, ada), true)
  })

  test('D-22: 0 attempts never lock', async () => {
    const { service, admin } = held
    const ada = await person(admin, { maxAttempts: 0, lockoutDurationMinutes: 5 })
    await fail(service, ada, 15)
    assert.equal(await isOpen(service, ada), true)
    assert.equal((await authenticatorOf(admin, ada)).lockedUntil, null)
  })

  test('R078: a correct password restarts the count', async () => {
    const { service, admin } = held
    const ada = await person(admin, { maxAttempts: 3, lockoutDurationMinutes: 5 })
    for (let round = 0; round < 4; round += 1) {
      await fail(service, ada, 2)
      assert.equal(await isOpen(service, ada), true)
    }
  })

  test('D-22: the lock applies only to the password', async () => {
    const { service, admin } = held
    const ada = await person(admin, { maxAttempts: 1, lockoutDurationMinutes: 60 })
    const session = await authenticate(service, ada)
    const headers = { 'zt-session': session.json().data.token }
    await fail(service, ada, 1)
    assert.equal(await isOpen(service, ada), false)
    // What she began before the guesses goes on: guessing throws nobody out.
    const call = await service.call('/edge/client/v1/current-identity', { headers })
    assert.equal(call.status, 200, call.text)
    assert.equal(call.json().data.disabled, false)
  })

  test('D-22: failures at one name do not count for other names', async () => {
    const { service, admin } = held
    const lock = { maxAttempts: 2, lockoutDurationMinutes: 60 }
    const [ada, bob] = [await person(admin, lock), await person(admin, lock)]
    await fail(service, ada, 4)
    await fail(service, { ...bob, username: 'nobody' }, 4)
    assert.equal(await isOpen(service, bob), true)
  })

  test('API 4.2: failures at other spellings of a name count for the same password', async () => {
    const { service, admin } = held
    const policy = await admin.createPolicy({
      primary: { updb: { allowed: true, maxAttempts: 3, lockoutDurationMinutes: 60 } },
    })
    const ada = await admin.createIdentity({ username: 'Ada', password: PASSWORD, policy })
    for (const username of ['ada', 'ADA', 'ａｄａ']) await fail(service, { ...ada, username }, 1)
    assert.equal(await isOpen(service, ada), false)
  })

  test('R109: the failure that locks leaves an event, once, with the reasons that callers do not learn', async () => {
    const { service, admin } = held
    const ada = await person(admin, { maxAttempts: 2, lockoutDurationMinutes: 60 })
    await fail(service, ada, 4)
    assert.equal(await isOpen(service, ada), false)
    const events = await sql(
      service,
      `select type, reason from events where identity_id = '${ada.id}' and type like 'login.%'`,
    )
    const count = (type: string, reason: string | null) =>
      events.filter((event) => event['type'] === type && event['reason'] === reason).length
    assert.equal(count('login.locked', null), 1)
    assert.equal(count('login.failed', 'wrong-password'), 4)
    assert.equal(count('login.failed', 'password-locked'), 2)
  })
})

test('R078: a lock ends by itself, to the millisecond, and attempts while it holds do not lengthen it', async (t) => {
  const { service, admin } = await startHeld(t)
  const ada = await person(admin, { maxAttempts: 2, lockoutDurationMinutes: 5 })
  await fail(service, ada, 2)
  service.clock.advance(milliseconds(minutes(5) - 1))
  await fail(service, ada, 3)
  assert.equal(await isOpen(service, ada), false)
  service.clock.advance(milliseconds(1))
  assert.equal(await isOpen(service, ada), true)
})

test('D-22: after a lock has ended the count starts again', async (t) => {
  const { service, admin } = await startHeld(t)
  const ada = await person(admin, { maxAttempts: 3, lockoutDurationMinutes: 5 })
  for (let round = 0; round < 2; round += 1) {
    await fail(service, ada, 3)
    assert.equal(await isOpen(service, ada), false)
    service.clock.advance(minutes(5))
    await fail(service, ada, 2)
    assert.equal(await isOpen(service, ada), true, 'two are not three')
  }
  await fail(service, ada, 3)
  service.clock.advance(minutes(5))
  await fail(service, ada, 3)
  assert.equal(await isOpen(service, ada), false, 'and three lock again')
})

test('D-22: a duration of 0 locks until an administrator unlocks', async (t) => {
  const { service, admin } = await startHeld(t)
  const ada = await person(admin, { maxAttempts: 2, lockoutDurationMinutes: 0 })
  await fail(service, ada, 2)
  service.clock.advance(minutes(60 * 24 * 365 * 3))
  assert.equal(await isOpen(service, ada), false)
  const later = await administrate(service)
  const { id, lockedUntil } = await authenticatorOf(later, ada)
  assert.ok(lockedUntil > new Date(service.clock.now()).toISOString())
  await later.act('POST', `/authenticators/${id}/unlock`)
  assert.equal(await isOpen(service, ada), true)
  assert.equal((await authenticatorOf(later, ada)).lockedUntil, null)
  await fail(service, ada, 1)
  assert.equal(await isOpen(service, ada), true, 'unlocking forgot the failures too')
})

test('R079: the count and the lock survive a restart', async (t) => {
  const service = await startService(t)
  service.clock.hold()
  const admin = await administrate(service)
  const ada = await person(admin, { maxAttempts: 3, lockoutDurationMinutes: 60 })
  await fail(service, ada, 2)
  const { home, clock } = service
  await service.stop()
  const again = await startService(t, { home, clock })
  await fail(again, ada, 1)
  assert.equal(await isOpen(again, ada), false)
  await again.stop()
  const third = await startService(t, { home, clock })
  assert.equal(await isOpen(third, ada), false)
})
