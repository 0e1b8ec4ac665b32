/**
 * Passkeys in sessions: a user adds, names, proves and removes them, an administrator sees and removes them, and what a
 * passkey began ends with it. D-430, D-431, D-437.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { minutes } from '../../../src/base/time/duration.ts'
import {
  authenticatorApp,
  enrolledPerson,
  PASSWORD,
  partialLogin,
  submitCode,
} from '../../support/login/authenticator-app.ts'
import { answerDevice, poll, signInForDevice, startDevice } from '../../support/login/device.ts'
import { CLIENT_API, callsOf, legacyToken } from '../../support/login/legacy.ts'
import { assertRefreshRefused, refresh } from '../../support/login/refresh.ts'
import { administrate, assertRefused, logInAs } from '../../support/management.ts'
import { type SoftAuthenticator, softAuthenticator } from '../../support/passkeys/authenticator.ts'
import { passkeyPerson, signIn, tokensOf } from '../../support/passkeys/passkey-login.ts'
import { type Service, startService } from '../../support/service.ts'

const KEYS = `${CLIENT_API}/current-identity/passkeys`
const MFA = `${CLIENT_API}/current-identity/mfa`

interface Person {
  readonly username: string
  readonly password: string
}

/** Calls with the access token of a login. */
async function session(service: Service, { username, password }: Person) {
  const { access_token } = await logInAs(service, { username, password })
  return callsWith(service, access_token)
}

const callsWith =
  (service: Service, token: string) => (path: string, method: string, json?: unknown) =>
    service.call(path, {
      method,
      headers: { authorization: `Bearer ${token}` },
      ...(json === undefined ? {} : { json }),
    })
type Calls = ReturnType<typeof callsWith>

async function add(service: Service, call: Calls, key: SoftAuthenticator, name = 'laptop') {
  const started = await call(KEYS, 'POST')
  assert.equal(started.status, 201, started.text)
  const { publicKey, recoveryCodes } = started.json().data
  const credential = key.create(publicKey, service.baseUrl)
  return { added: await call(`${KEYS}/verify`, 'POST', { credential, name }), recoveryCodes }
}

async function proof(service: Service, call: Calls, key: SoftAuthenticator) {
  const options = await call(`${KEYS}/options`, 'POST')
  assert.equal(options.status, 200, options.text)
  return { credential: key.get(options.json().data.publicKey, service.baseUrl) }
}

test('passkeys in sessions', async (t) => {
  const service = await startService(t)
  service.clock.hold()
  const admin = await administrate(service)
  const newcomer = () => admin.createIdentity({ password: PASSWORD })

  await t.test('a user adds two, names them, and removes one with the other', async () => {
    const person = await newcomer()
    const call = await session(service, person)
    const [one, two] = [softAuthenticator({ isSynchronized: true }), softAuthenticator()]
    const first = await add(service, call, one)
    assert.equal(first.added.status, 201, first.added.text)
    assert.equal(first.recoveryCodes.length, 20)
    service.clock.advance(minutes(1))
    const second = await add(service, call, two, '\u0007')
    assert.deepEqual(second.recoveryCodes, [], 'those of the first stay')
    const [laptop, unnamed] = (await call(KEYS, 'GET')).json().data
    assert.deepEqual(
      [laptop.name, laptop.isBackupEligible, laptop.isBackedUp, laptop.lastUsedAt, laptop.rpId],
      ['laptop', true, true, null, 'localhost'],
    )
    assert.deepEqual([unnamed.name, unnamed.isBackupEligible], ['Passkey', false])
    const renamed = await call(`${KEYS}/${unnamed.id}`, 'PATCH', { name: 'stick' })
    assert.equal(renamed.status, 200, renamed.text)
    assert.equal((await admin.get(`/identities/${person.id}`)).isMfaEnabled, true)
    const answer = await proof(service, call, two)
    const removed = await call(`${KEYS}/${laptop.id}`, 'DELETE', answer)
    assert.equal(removed.status, 200, removed.text)
    const again = await call(`${KEYS}/${unnamed.id}`, 'DELETE', answer)
    assertRefused(again, 400, 'PASSKEY_INVALID')
    const left = (await call(KEYS, 'GET')).json().data
    assert.deepEqual(
      left.map(({ name }: { name: string }) => name),
      ['stick'],
    )
  })

  await t.test(
    'D-437: recovery codes end with the last factor, also while an app is pending',
    async () => {
      // Attack: codes that were copied while the user had a passkey pass for the app that replaced it.
      const person = await newcomer()
      const call = await session(service, person)
      const key = softAuthenticator()
      const { added, recoveryCodes: old } = await add(service, call, key)
      assert.equal(added.status, 201, added.text)
      const abandoned = await call(MFA, 'POST')
      assert.equal(abandoned.status, 201, abandoned.text)
      assert.deepEqual(abandoned.json().data.recoveryCodes, [], 'those of the passkey stay')
      const removed = await call(
        `${KEYS}/${added.json().data.id}`,
        'DELETE',
        await proof(service, call, key),
      )
      assert.equal(removed.status, 200, removed.text)
      assertRefused(await call(`${MFA}/recovery-codes`, 'GET'), 409, 'MFA_NOT_ENROLLED')
      const { provisioningUrl: lost } = abandoned.json().data
      const { code: lostCode } = authenticatorApp(lost, service.clock)
      const late = await call(`${MFA}/verify`, 'POST', { code: lostCode() })
      assertRefused(late, 404, 'MFA_ENROLLMENT_NOT_STARTED')

      const { provisioningUrl, recoveryCodes } = (await call(MFA, 'POST')).json().data
      assert.equal(recoveryCodes.length, 20)
      const app = authenticatorApp(provisioningUrl, service.clock)
      const verified = await call(`${MFA}/verify`, 'POST', { code: app.code() })
      assert.equal(verified.status, 200, verified.text)
      assert.equal((await call(`${MFA}/recovery-codes`, 'GET')).json().data.left, 20)
      const { authRequestId } = await partialLogin(service, person)
      const refused = await submitCode(service, authRequestId, old[3] ?? '')
      assertRefused(refused, 400, 'MFA_INVALID_TOKEN')
      assert.equal((await submitCode(service, authRequestId, recoveryCodes[3])).status, 302)
    },
  )

  await t.test('D-437: a login of more than ten minutes ago adds none', async () => {
    // Attack: a session that was left open, or a stolen token, becomes a key that opens the account for ever.
    const call = await session(service, await newcomer())
    service.clock.advance(minutes(10))
    assertRefused(await call(KEYS, 'POST'), 403, 'LOGIN_TOO_OLD')
  })

  await t.test(
    'D-437: nor with options from before, although the owner set up an app since',
    async () => {
      const person = await newcomer()
      const thief = await session(service, person)
      service.clock.advance(minutes(9))
      const { publicKey } = (await thief(KEYS, 'POST')).json().data
      const owner = await session(service, person)
      const { provisioningUrl } = (await owner(MFA, 'POST')).json().data
      const code = authenticatorApp(provisioningUrl, service.clock).code()
      assert.equal((await owner(`${MFA}/verify`, 'POST', { code })).status, 200)
      service.clock.advance(minutes(1))
      const credential = softAuthenticator().create(publicKey, service.baseUrl)
      assertRefused(await thief(`${KEYS}/verify`, 'POST', { credential }), 403, 'LOGIN_TOO_OLD')
    },
  )

  await t.test('options serve no other session', async () => {
    const person = await newcomer()
    const call = await session(service, person)
    const other = await session(service, person)
    const { publicKey } = (await call(KEYS, 'POST')).json().data
    const credential = softAuthenticator().create(publicKey, service.baseUrl)
    assertRefused(await other(`${KEYS}/verify`, 'POST', { credential }), 400, 'PASSKEY_INVALID')
    assert.equal((await call(`${KEYS}/verify`, 'POST', { credential })).status, 201)
  })

  await t.test('an identity has at most twenty', async () => {
    const call = await session(service, await newcomer())
    for (let i = 0; i < 20; i += 1) {
      const { added } = await add(service, call, softAuthenticator())
      assert.equal(added.status, 201, added.text)
    }
    assertRefused(await call(KEYS, 'POST'), 409, 'MAX_PASSKEYS_REACHED')
  })

  await t.test('of two enrollments at once for the last place, one is added', async () => {
    const call = await session(service, await newcomer())
    for (let i = 0; i < 19; i += 1) await add(service, call, softAuthenticator())
    const options = [await call(KEYS, 'POST'), await call(KEYS, 'POST')]
    const both = await Promise.all(
      options.map((started) => {
        const { publicKey } = started.json().data
        const credential = softAuthenticator().create(publicKey, service.baseUrl)
        return call(`${KEYS}/verify`, 'POST', { credential })
      }),
    )
    assert.deepEqual(both.map(({ status }) => status).toSorted(), [201, 409])
  })

  await t.test('a passkey of another identity is not found', async () => {
    const { id: theirs } = await passkeyPerson(service, admin)
    const [key] = await admin.get(`/identities/${theirs}/passkeys`)
    const person = await newcomer()
    const call = await session(service, person)
    const { recoveryCodes } = await add(service, call, softAuthenticator())
    const code = { code: recoveryCodes[0] }
    assertRefused(await call(`${KEYS}/${key.id}`, 'PATCH', { name: 'x' }), 404, 'NOT_FOUND')
    assertRefused(await call(`${KEYS}/${key.id}`, 'DELETE', code), 404, 'NOT_FOUND')
    const reply = await admin.call('DELETE', `/identities/${person.id}/passkeys/${key.id}`)
    assertRefused(reply, 404, 'NOT_FOUND')
  })

  await t.test(
    'removing one takes a code of the app, or a recovery code, and nothing less',
    async () => {
      const person = await enrolledPerson(service, admin)
      const call = callsOf(service, await legacyToken(service, person))
      const json = { code: person.app.nextCode() }
      assert.equal((await call(`${CLIENT_API}/authenticate/mfa`, { json })).status, 200)
      const send: Calls = (path, method, body) =>
        call(path, { method, ...(body === undefined ? {} : { json: body }) })
      const { added } = await add(service, send, softAuthenticator())
      const { id } = added.json().data
      const wrong = await send(`${KEYS}/${id}`, 'DELETE', { code: '00000x' })
      assertRefused(wrong, 400, 'MFA_INVALID_TOKEN')
      assertRefused(
        await send(`${KEYS}/${id}`, 'DELETE', {}),
        400,
        'COULD_NOT_VALIDATE',
        'credential',
      )
      const right = await send(`${KEYS}/${id}`, 'DELETE', { code: person.app.nextCode() })
      assert.equal(right.status, 200, right.text)
      assert.equal((await admin.get(`/identities/${person.id}`)).isMfaEnabled, true)
    },
  )

  for (const [what, remove] of Object.entries({
    'removes it': (id: string, key: string) => [`/identities/${id}/passkeys/${key}`],
    'removes all second factors': (id: string) => [`/identities/${id}/mfa`],
  })) {
    await t.test(
      `D-431: a session that a passkey began ends when an administrator ${what}`,
      async () => {
        const { id, key } = await passkeyPerson(service, admin)
        const begun = await tokensOf(service, await signIn(service, key))
        const call = callsWith(service, begun.access_token)
        const [passkey] = await admin.get(`/identities/${id}/passkeys`)
        assert.notEqual(passkey.lastUsedAt, null)
        const [path = ''] = remove(id, passkey.id)
        await admin.act('DELETE', path)
        assert.equal((await call(KEYS, 'GET')).status, 401)
        assertRefreshRefused(await refresh(service, begun.refresh_token))
        const late = await signIn(service, key)
        assertRefused(late.reply, 401, 'INVALID_AUTH')
        assert.deepEqual(await admin.get(`/identities/${id}/passkeys`), [])
      },
    )
  }

  await t.test('a policy that stops allowing passkeys alone refuses the refresh', async () => {
    const policy = await admin.createPolicy({
      primary: { updb: { allowed: true }, passkey: { allowed: true } },
      secondary: { requirePasskey: true },
    })
    const { key } = await passkeyPerson(service, admin, { policy })
    const begun = await tokensOf(service, await signIn(service, key))
    const next = await refresh(service, begun.refresh_token)
    assert.equal(next.status, 200, next.text)
    await admin.act('PATCH', `/auth-policies/${policy}`, {
      primary: { passkey: { allowed: false } },
    })
    assertRefreshRefused(await refresh(service, next.json().refresh_token))
  })

  await t.test('a partial legacy session proves a passkey, and is complete', async () => {
    const person = await passkeyPerson(service, admin)
    const call = callsOf(service, await legacyToken(service, person))
    const partial = await call(`${CLIENT_API}/current-identity/passkeys`)
    assert.equal(partial.status, 401)
    assert.deepEqual(partial.json().authQueries, [
      {
        typeId: 'PASSKEY',
        format: 'webauthn',
        httpMethod: 'POST',
        httpUrl: './authenticate/passkey',
        optionsUrl: './authenticate/passkey/options',
        provider: 'service',
        isPasskeyEnrolled: true,
      },
    ])
    const options = await call(`${CLIENT_API}/authenticate/passkey/options`, { json: {} })
    const credential = person.key.get(options.json().data.publicKey, service.baseUrl)
    const json = { credential }
    const proven = await call(`${CLIENT_API}/authenticate/passkey`, { json })
    assert.equal(proven.status, 200, proven.text)
    assert.equal((await call(`${CLIENT_API}/current-identity/passkeys`)).status, 200)
  })

  await t.test('D-464: a recovery code completes it too, and the session says so', async () => {
    const person = await passkeyPerson(service, admin)
    const call = callsOf(service, await legacyToken(service, person))
    const amr = async () => (await call(`${CLIENT_API}/current-api-session`)).json().data.amr
    const prove = async (json: unknown) => {
      const reply = await call(`${CLIENT_API}/authenticate/passkey`, { json })
      assert.equal(reply.status, 200, reply.text)
    }
    await prove({ code: person.recoveryCodes[0] })
    assert.deepEqual(await amr(), ['pwd', 'pop', 'recovery-code', 'mfa'])
    const used = `identityId = "${person.id}" and type = "mfa.recovery-code-used"`
    const events = () => admin.get(`/events?filter=${encodeURIComponent(used)}`)
    assert.equal((await events()).length, 1)
    const options = await call(`${CLIENT_API}/authenticate/passkey/options`, { json: {} })
    await prove({ credential: person.key.get(options.json().data.publicKey, service.baseUrl) })
    assert.deepEqual(await amr(), ['pwd', 'pop', 'user', 'mfa'], 'the passkey itself came later')
    await prove({ code: person.recoveryCodes[1] })
    assert.deepEqual(await amr(), ['pwd', 'pop', 'user', 'mfa'], 'what was proven stays so')
    assert.equal((await events()).length, 2)
  })

  await t.test('D-437: a partial legacy session does not add a passkey beside an app', async () => {
    const person = await enrolledPerson(service, admin)
    const call = callsOf(service, await legacyToken(service, person))
    const started = await call(KEYS, { method: 'POST', json: {} })
    assertRefused(started, 409, 'FACTOR_NOT_PROVEN')
  })

  await t.test('D-431: a legacy session does not begin with a passkey', async () => {
    const reply = await service.call(`${CLIENT_API}/authenticate?method=passkey`, { json: {} })
    assertRefused(reply, 400, 'COULD_NOT_VALIDATE', 'method')
  })

  await t.test('D-465: a device that was approved adds no passkey', async () => {
    // Attack: a user who was talked into approving a device would give the account away for ever.
    const device = await startDevice(service)
    const browser = await signInForDevice(service, device, await newcomer())
    assert.equal((await answerDevice(service, browser, device, 'approve')).status, 303)
    const call = callsWith(service, (await poll(service, device)).json().access_token)
    assert.equal((await call(KEYS, 'GET')).status, 200)
    assertRefused(await call(KEYS, 'POST'), 403, 'LOGIN_TOO_OLD')
  })

  await t.test('D-465: an old login adds no authenticator app beside a passkey', async () => {
    // Attack: a stolen token adds an app, whose codes then remove the passkey and make new recovery codes.
    const person = await newcomer()
    const other = await session(service, await newcomer())
    const early = await session(service, person)
    const pending = (await early(MFA, 'POST')).json().data
    const call = await session(service, person)
    await add(service, call, softAuthenticator())
    service.clock.advance(minutes(10))
    assertRefused(await call(MFA, 'POST'), 403, 'LOGIN_TOO_OLD')
    const code = authenticatorApp(pending.provisioningUrl, service.clock).code()
    assertRefused(await early(`${MFA}/verify`, 'POST', { code }), 403, 'LOGIN_TOO_OLD')
    assert.equal((await other(MFA, 'POST')).status, 201, 'where there is no other factor')
  })
})
