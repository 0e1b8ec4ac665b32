/**
 * Codes of the app and recovery codes: which are taken, and that each is taken once. D-17; R084, R085, R087, R088.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seconds } from '../../../src/base/time/duration.ts'
import {
  type EnrolledPerson,
  enrolledPerson,
  partialLogin,
  submitCode,
} from '../../support/login/authenticator-app.ts'
import { CLIENT_API, callsOf, legacyToken } from '../../support/login/legacy.ts'
import { answerOf, exchangeOf } from '../../support/login/login.ts'
import { administrate, assertRefused, startHeld } from '../../support/management.ts'
import type { Service } from '../../support/service.ts'
import { installation } from '../../support/stores/instances.ts'
import { migratedDatabase } from '../../support/stores/migrated-database.ts'
import { sql } from '../../support/stores/sql.ts'

/** The answer to a code on a login of its own: `taken`, or the code of the refusal. */
async function tryCode(service: Service, person: EnrolledPerson, code: string): Promise<string> {
  const { authRequestId } = await partialLogin(service, person)
  const reply = await submitCode(service, authRequestId, code)
  if (reply.status === 302) return 'taken'
  assertRefused(reply, 400, 'MFA_INVALID_TOKEN')
  return 'refused'
}

test('R084: codes of one step before and after are taken, and none further away', async (t) => {
  const { service, admin } = await startHeld(t)
  for (const [drift, expected] of [
    [-2, 'refused'],
    [-1, 'taken'],
    [0, 'taken'],
    [1, 'taken'],
    [2, 'refused'],
  ] as const) {
    const ada = await enrolledPerson(service, admin)
    assert.equal(await tryCode(service, ada, ada.app.code(drift)), expected, `drift ${drift}`)
  }
})

test('R084: the secret has 160 bits, is never the same, and is not in the database as it is', async (t) => {
  const { service, admin } = await startHeld(t)
  const people = [await enrolledPerson(service, admin), await enrolledPerson(service, admin)]
  const secrets = people.map(({ app }) => new URL(app.provisioningUrl).searchParams.get('secret'))
  assert.notEqual(secrets[0], secrets[1])
  const rows = JSON.stringify(await sql(service, 'select * from totp_enrollments'))
  for (const secret of secrets) {
    assert.match(secret ?? '', /^[A-Z2-7]{32}$/, '32 characters of 5 bits')
    assert.equal(rows.includes(secret ?? ''), false)
  }
})

test('D-17: spaces in a code do not count, as apps show it in groups', async (t) => {
  const { service, admin } = await startHeld(t)
  const ada = await enrolledPerson(service, admin)
  const code = ada.app.nextCode()
  assert.equal(await tryCode(service, ada, ` ${code.slice(0, 3)} ${code.slice(3)} `), 'taken')
})

test('D-18: codes that only look like one are wrong', async (t) => {
  const { service, admin } = await startHeld(t)
  const ada = await enrolledPerson(service, admin)
  const code = ada.app.nextCode()
  const arabic = [...code].map((digit) => String.fromCodePoint(0x660 + Number(digit))).join('')
  for (const wrong of [
    code.slice(1),
    `${code}0`,
    `0${code}`,
    `-${code}`,
    `${code}.0`,
    arabic,
    '💥',
  ]) {
    assert.equal(await tryCode(service, ada, wrong), 'refused', wrong)
  }
  assert.equal(await tryCode(service, ada, code), 'taken')
})

// Attack: a code that was seen over the shoulder, or on a phishing page, is used again within its half minute.
test('R085: a time step is taken once', async (t) => {
  const { service, admin } = await startHeld(t)
  const ada = await enrolledPerson(service, admin)
  const code = ada.app.nextCode()
  assert.equal(await tryCode(service, ada, code), 'taken')
  assert.equal(await tryCode(service, ada, code), 'refused')
  service.clock.advance(seconds(30))
  assert.equal(await tryCode(service, ada, code), 'refused', 'also within the drift')
})

test('R085: when a step was taken, the one before it is burnt too', async (t) => {
  const { service, admin } = await startHeld(t)
  const ada = await enrolledPerson(service, admin)
  const earlier = ada.app.nextCode()
  const later = ada.app.nextCode()
  assert.equal(await tryCode(service, ada, later), 'taken')
  assert.equal(await tryCode(service, ada, earlier), 'refused')
  assert.equal(await tryCode(service, ada, ada.app.code(1)), 'taken', 'the next one is new')
})

test('R085: a replayed code and a wrong one get the same answer', async (t) => {
  const { service, admin } = await startHeld(t)
  const ada = await enrolledPerson(service, admin)
  const code = ada.app.nextCode()
  assert.equal(await tryCode(service, ada, code), 'taken')
  const { authRequestId } = await partialLogin(service, ada)
  const answers = []
  for (const given of [code, ada.app.wrongCode()]) {
    const reply = await submitCode(service, authRequestId, given)
    const { error, meta } = reply.json()
    answers.push({ status: reply.status, error: { ...error, requestId: '' }, meta })
  }
  assert.deepEqual(answers[0], answers[1])
})

test('D-17: verifying an enrollment burns no step', async (t) => {
  const { service, admin } = await startHeld(t)
  const ada = await enrolledPerson(service, admin)
  // The clock stands still: this is the code that verified the enrollment.
  assert.equal(await tryCode(service, ada, ada.app.code()), 'taken')
  assert.equal(await tryCode(service, ada, ada.app.code()), 'refused')
})

test('R085: of one code on many logins at the same moment one wins', async (t) => {
  const { service, admin } = await startHeld(t)
  const ada = await enrolledPerson(service, admin)
  await oneWins(
    Array.from({ length: 5 }, () => service),
    ada,
    ada.app.nextCode(),
  )
})

test('R087: of one recovery code on many logins at the same moment one wins', async (t) => {
  const { service, admin } = await startHeld(t)
  const ada = await enrolledPerson(service, admin)
  await oneWins(
    Array.from({ length: 5 }, () => service),
    ada,
    ada.recoveryCodes[0] ?? '',
  )
})

test('R028: one code posted many times at once on one login yields one code', async (t) => {
  const { service, admin } = await startHeld(t)
  const ada = await enrolledPerson(service, admin)
  const login = await partialLogin(service, ada)
  const code = ada.app.nextCode()
  const replies = await Promise.all(
    Array.from({ length: 5 }, () => submitCode(service, login.authRequestId, code)),
  )
  const done = replies.filter(({ status }) => status === 302)
  assert.equal(done.length, 1)
  for (const { status, text } of replies.filter((reply) => !done.includes(reply))) {
    assert.equal(status, 400, text)
    assert.match(text, /MFA_INVALID_TOKEN|INVALID_AUTH_REQUEST/)
  }
  const [winner] = done
  assert.ok(winner)
  assert.equal((await exchangeOf(service, login, winner)).status, 200)
})

test('R085: two instances on one database', async (t) => {
  const shared = await installation(await migratedDatabase())
  const a = await shared.start(t)
  a.clock.hold()
  const b = await shared.start(t, { clock: a.clock })
  const admin = await administrate(a)

  await t.test('a step that one has taken the other refuses', async () => {
    const ada = await enrolledPerson(a, admin)
    const code = ada.app.nextCode()
    assert.equal(await tryCode(a, ada, code), 'taken')
    assert.equal(await tryCode(b, ada, code), 'refused')
  })

  await t.test('a recovery code that one has taken the other refuses', async () => {
    const ada = await enrolledPerson(a, admin)
    const [code = ''] = ada.recoveryCodes
    assert.equal(await tryCode(b, ada, code), 'taken')
    assert.equal(await tryCode(a, ada, code), 'refused')
  })

  await t.test('of one code on both at the same moment one wins', async () => {
    const ada = await enrolledPerson(a, admin)
    await oneWins([a, b, a, b, a, b], ada, ada.app.nextCode())
    await oneWins([a, b, a, b], ada, ada.recoveryCodes[0] ?? '')
  })

  await t.test('a login goes from one to the other between its factors', async () => {
    const ada = await enrolledPerson(a, admin)
    const login = await partialLogin(a, ada)
    const reply = await submitCode(b, login.authRequestId, ada.app.nextCode())
    assert.equal((await exchangeOf(a, login, reply)).status, 200)
  })

  await t.test('D-18: wrong codes on both count together', async () => {
    const ada = await enrolledPerson(a, admin)
    const { authRequestId } = await partialLogin(a, ada)
    for (let i = 0; i < 10; i += 1) {
      const reply = await submitCode(i % 2 === 0 ? a : b, authRequestId, ada.app.wrongCode())
      assertRefused(reply, 400, 'MFA_INVALID_TOKEN')
    }
    for (const instance of [a, b]) {
      const over = await submitCode(instance, authRequestId, ada.app.code())
      assertRefused(over, 400, 'INVALID_AUTH_REQUEST')
      const next = await partialLogin(instance, ada)
      const blocked = await submitCode(instance, next.authRequestId, ada.app.code())
      assertRefused(blocked, 429, 'RATE_LIMITED')
    }
  })
})

test('recovery codes', async (t) => {
  const { service, admin } = await startHeld(t)
  const left = async (person: EnrolledPerson) => {
    const token = await legacyToken(service, person)
    const call = callsOf(service, token)
    const code = person.app.nextCode()
    const proven = await call(`${CLIENT_API}/authenticate/mfa`, { json: { code } })
    assert.equal(proven.status, 200, proven.text)
    const reply = await call(`${CLIENT_API}/current-identity/mfa/recovery-codes`)
    assert.equal(reply.status, 200, reply.text)
    return reply.json().data.left
  }

  await t.test('R087: there are twenty, all different, of six characters', async () => {
    const ada = await enrolledPerson(service, admin)
    assert.equal(new Set(ada.recoveryCodes).size, 20)
    for (const code of ada.recoveryCodes) assert.match(code, /^[A-Z2-7]{6}$/)
    assert.equal(await left(ada), 20)
  })

  await t.test('R087: each works once, and the count goes down', async () => {
    const ada = await enrolledPerson(service, admin)
    for (const [i, code] of ada.recoveryCodes.slice(0, 3).entries()) {
      assert.equal(await tryCode(service, ada, code), 'taken')
      assert.equal(await tryCode(service, ada, code), 'refused')
      assert.equal(await left(ada), 19 - i)
    }
  })

  await t.test('D-17: case and spaces do not count', async () => {
    const ada = await enrolledPerson(service, admin)
    const [one = '', two = '', three = ''] = ada.recoveryCodes
    assert.equal(await tryCode(service, ada, one.toLowerCase()), 'taken')
    assert.equal(await tryCode(service, ada, ` ${two.slice(0, 3)} ${two.slice(3)} `), 'taken')
    assert.equal(await tryCode(service, ada, [...three.toLowerCase()].join(' ')), 'taken')
    assert.equal(await left(ada), 17)
  })

  await t.test('D-13: a recovery code of another identity is wrong', async () => {
    const ada = await enrolledPerson(service, admin)
    const bob = await enrolledPerson(service, admin)
    assert.equal(await tryCode(service, bob, ada.recoveryCodes[0] ?? ''), 'refused')
    assert.equal(await tryCode(service, ada, ada.recoveryCodes[0] ?? ''), 'taken')
  })

  await t.test('D-25: a login by a recovery code has two factors all the same', async () => {
    const ada = await enrolledPerson(service, admin)
    const login = await partialLogin(service, ada)
    const reply = await submitCode(service, login.authRequestId, ada.recoveryCodes[4] ?? '')
    const tokens = (await exchangeOf(service, login, reply)).json()
    const call = await service.call(`${CLIENT_API}/current-api-session`, {
      headers: { authorization: `Bearer ${tokens.access_token}` },
    })
    assert.deepEqual(call.json().data.amr, ['pwd', 'otp', 'mfa'])
  })

  await t.test('R087, R110: the database holds them only as hashes', async () => {
    const ada = await enrolledPerson(service, admin)
    const rows = JSON.stringify(await sql(service, 'select * from recovery_codes'))
    for (const code of ada.recoveryCodes) assert.equal(rows.includes(`"${code}"`), false)
  })

  await t.test('R034: no log line and no event carries a code or the secret', async () => {
    const ada = await enrolledPerson(service, admin)
    const [used = '', unused = ''] = ada.recoveryCodes
    assert.equal(await tryCode(service, ada, used), 'taken')
    const written =
      JSON.stringify(service.log) + JSON.stringify(await sql(service, 'select * from events'))
    const secret = new URL(ada.app.provisioningUrl).searchParams.get('secret') ?? ''
    for (const text of [used, unused, secret]) assert.equal(written.includes(text), false)
    assert.match(written, /mfa\.recovery-code-used/)
  })
})

/** The same code on as many logins, all at once. */
async function oneWins(
  services: readonly Service[],
  person: EnrolledPerson,
  code: string,
): Promise<void> {
  const logins = []
  for (const service of services) {
    logins.push({ service, id: (await partialLogin(service, person)).authRequestId })
  }
  const replies = await Promise.all(logins.map(({ service, id }) => submitCode(service, id, code)))
  const taken = replies.filter(({ status }) => status === 302)
  assert.equal(taken.length, 1)
  assert.ok(taken[0] && answerOf(taken[0]).get('code'))
  for (const reply of replies.filter(({ status }) => status !== 302)) {
    assertRefused(reply, 400, 'MFA_INVALID_TOKEN')
  }
}
