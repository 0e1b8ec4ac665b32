/**
 * Passkeys in logins: as the second factor, alone, and enrolled on the way. D-430 – D-437. The key is an authenticator of
 * our own, in software.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeJwt } from 'jose'
import { enrolledPerson, partialLogin, submitCode } from '../../support/login/authenticator-app.ts'
import { CLIENT_API, callsOf, legacyToken } from '../../support/login/legacy.ts'
import { beginLogin, exchangeOf } from '../../support/login/login.ts'
import { administrate, assertRefused } from '../../support/management.ts'
import { softAuthenticator } from '../../support/passkeys/authenticator.ts'
import {
  enrollKey,
  PASSKEY,
  passkeyOptions,
  passkeyPerson,
  passkeyPolicy,
  provePasskey,
  signIn,
  startPasskey,
  tokensOf,
  verifyPasskey,
} from '../../support/passkeys/passkey-login.ts'
import { startService } from '../../support/service.ts'

const PASSWORD = 'a password of somebody'
const QUERY = {
  typeId: 'PASSKEY',
  format: 'webauthn',
  httpMethod: 'POST',
  httpUrl: '/oidc/login/passkey',
  optionsUrl: '/oidc/login/passkey/options',
  provider: 'service',
}

test('logins with passkeys', async (t) => {
  const service = await startService(t)
  service.clock.hold()
  const admin = await administrate(service)
  const policy = await passkeyPolicy(admin)
  const newcomer = () => admin.createIdentity({ password: PASSWORD, policy })

  for (const algorithm of ['ES256', 'EdDSA', 'RS256'] as const) {
    await t.test(
      `a login enrolls the ${algorithm} key that its policy demands, and ends`,
      async () => {
        const person = await newcomer()
        const login = await partialLogin(service, person)
        assert.deepEqual(login.reply.json(), {
          authQueries: [{ ...QUERY, isPasskeyEnrolled: false }],
        })
        const key = softAuthenticator({ algorithm, counts: true })
        const { reply, recoveryCodes } = await enrollKey(service, login.authRequestId, key)
        assert.equal(recoveryCodes.length, 20)
        const { claims } = await tokensOf(service, { login, reply })
        assert.deepEqual([claims.sub, claims['amr']], [person.id, ['pwd', 'pop', 'user', 'mfa']])
        const next = await partialLogin(service, person)
        assert.deepEqual(next.reply.json(), {
          authQueries: [{ ...QUERY, isPasskeyEnrolled: true }],
        })
        const proven = await provePasskey(service, next.authRequestId, key)
        const again = await tokensOf(service, { login: next, reply: proven })
        assert.deepEqual(again.claims['amr'], ['pwd', 'pop', 'user', 'mfa'])
        const alone = await tokensOf(service, await signIn(service, key))
        assert.deepEqual(
          [alone.claims.sub, alone.claims['amr']],
          [person.id, ['pop', 'user', 'mfa']],
        )
      },
    )
  }

  await t.test('the options of an enrollment say what a browser needs', async () => {
    const person = await newcomer()
    const { authRequestId: id } = await partialLogin(service, person)
    const { publicKey } = await startPasskey(service, id)
    const { challenge, user, rp, excludeCredentials, attestation, pubKeyCredParams } = publicKey
    assert.deepEqual([rp.id, excludeCredentials, attestation], ['localhost', [], 'none'])
    assert.equal(Buffer.from(user.id, 'base64url').toString(), person.id)
    assert.deepEqual(
      pubKeyCredParams.map(({ alg }: { alg: number }) => alg),
      [-7, -8, -257],
    )
    assert.ok(Buffer.from(challenge, 'base64url').length >= 32)
    assert.notEqual((await startPasskey(service, id)).publicKey.challenge, challenge)
  })

  await t.test(
    'the options of a login name no key before, and those of the user afterwards',
    async () => {
      const person = await passkeyPerson(service, admin)
      const { authRequestId: anonymous } = await beginLogin(service)
      const any = (await passkeyOptions(service, anonymous)).json().publicKey
      assert.deepEqual([any.allowCredentials, any.userVerification], [[], 'required'])
      const { authRequestId } = await partialLogin(service, person)
      const own = (await passkeyOptions(service, authRequestId)).json().publicKey
      assert.deepEqual(own.allowCredentials, [
        { type: 'public-key', id: person.key.credentialId, transports: ['hybrid', 'internal'] },
      ])
      assert.equal(own.userVerification, 'preferred')
    },
  )

  await t.test(
    'as the second factor, presence is enough; alone, the user must be verified',
    async () => {
      const person = await passkeyPerson(service, admin)
      const { authRequestId } = await partialLogin(service, person)
      const proven = await provePasskey(service, authRequestId, person.key, { clear: 4 })
      assert.equal(proven.status, 302, proven.text)
      const { reply } = await signIn(service, person.key, { clear: 4 })
      assertRefused(reply, 401, 'INVALID_AUTH')
    },
  )

  await t.test('a policy that does not allow it refuses a passkey alone', async () => {
    const strict = await admin.createPolicy({ secondary: { requirePasskey: true } })
    const { key } = await passkeyPerson(service, admin, { policy: strict })
    const { reply } = await signIn(service, key)
    assertRefused(reply, 401, 'INVALID_AUTH')
  })

  await t.test('a recovery code works in the place of the passkey, once', async () => {
    const person = await passkeyPerson(service, admin)
    const [code] = person.recoveryCodes
    const first = await partialLogin(service, person)
    const json = { id: first.authRequestId, code }
    const done = await service.call(PASSKEY, { json })
    const { access_token } = (await exchangeOf(service, first, done)).json()
    // D-464: phishing can steal it, so the tokens do not claim what a passkey proves.
    const { amr, acr } = decodeJwt<{ amr: string[]; acr: string }>(access_token)
    assert.deepEqual([amr, acr], [['pwd', 'pop', 'recovery-code', 'mfa'], 'urn:latchkey:acr:2fa'])
    const second = await partialLogin(service, person)
    const again = await service.call(PASSKEY, { json: { id: second.authRequestId, code } })
    assertRefused(again, 400, 'MFA_INVALID_TOKEN')
  })

  await t.test('D-464: a recovery code of the app is not a passkey that nobody has', async () => {
    // Attack: with the password and two recovery codes, reach what a policy keeps for holders of a passkey.
    const person = await enrolledPerson(service, admin)
    await admin.act('PATCH', `/identities/${person.id}`, { authPolicyId: policy })
    const [code, other] = person.recoveryCodes
    const { authRequestId: id } = await partialLogin(service, person)
    const first = await service.call(PASSKEY, { json: { id, code } })
    assertRefused(first, 400, 'MFA_INVALID_TOKEN')
    const coded = await submitCode(service, id, code ?? '')
    assert.deepEqual(coded.json(), { authQueries: [{ ...QUERY, isPasskeyEnrolled: false }] })
    const second = await service.call(PASSKEY, { json: { id, code: other } })
    assertRefused(second, 400, 'MFA_INVALID_TOKEN')
    const call = callsOf(service, await legacyToken(service, person))
    const legacy = await call(`${CLIENT_API}/authenticate/passkey`, { json: { code: other } })
    assertRefused(legacy, 409, 'MFA_NOT_ENROLLED')
  })

  await t.test('a recovery code does not begin a login', async () => {
    const person = await passkeyPerson(service, admin)
    const { authRequestId: id } = await beginLogin(service)
    const reply = await service.call(PASSKEY, { json: { id, code: person.recoveryCodes[0] } })
    assertRefused(reply, 400, 'COULD_NOT_VALIDATE', 'credential')
  })

  await t.test('a form carries the credential as JSON text', async () => {
    const { key } = await passkeyPerson(service, admin)
    const { authRequestId: id } = await beginLogin(service)
    const { publicKey } = (await passkeyOptions(service, id)).json()
    const credential = JSON.stringify(key.get(publicKey, service.baseUrl))
    const form = [
      ['id', id],
      ['credential', credential],
    ] as const
    assert.equal((await service.call(PASSKEY, { form })).status, 302)
  })

  for (const [what, credential] of Object.entries({
    'is missing': undefined,
    'is a list': [],
    'is a number': 7,
    'is text that is not JSON': 'no json',
    'is too long': 'x'.repeat(50_000),
  })) {
    await t.test(`D-45: a credential that ${what} is refused`, async () => {
      const { authRequestId: id } = await beginLogin(service)
      const reply = await service.call(PASSKEY, { json: { id, credential } })
      assertRefused(reply, 400, 'COULD_NOT_VALIDATE', 'credential')
    })
  }

  await t.test('R028: of two identical assertions at once, one finishes the login', async () => {
    const person = await passkeyPerson(service, admin)
    for (const id of [
      (await beginLogin(service)).authRequestId,
      (await partialLogin(service, person)).authRequestId,
    ]) {
      const { publicKey } = (await passkeyOptions(service, id)).json()
      const credential = person.key.get(publicKey, service.baseUrl)
      const send = () => service.call(PASSKEY, { json: { id, credential } })
      const replies = await Promise.all([send(), send(), send()])
      assert.equal(replies.filter(({ status }) => status === 302).length, 1)
    }
  })

  await t.test('of two identical enrollments at once, one adds the key', async () => {
    const person = await newcomer()
    const { authRequestId: id } = await partialLogin(service, person)
    const { publicKey } = await startPasskey(service, id)
    const credential = softAuthenticator().create(publicKey, service.baseUrl)
    const send = () => verifyPasskey(service, id, credential)
    const replies = await Promise.all([send(), send(), send()])
    assert.equal(replies.filter(({ status }) => status === 302).length, 1)
  })

  await t.test('a key that is registered already is not registered again', async () => {
    // Attack: registering the key of another user, whose login would then find the attacker's identity.
    const { key } = await passkeyPerson(service, admin)
    const { authRequestId: id } = await partialLogin(service, await newcomer())
    const { reply } = await enrollKey(service, id, key)
    assertRefused(reply, 409, 'PASSKEY_EXISTS')
  })

  await t.test(
    'D-437: a stolen password does not add a passkey beside an authenticator app',
    async () => {
      // Attack: the password is known, the app is not; a key of the attacker would satisfy the policy instead.
      const either = await admin.createPolicy({ secondary: { requireTotpOrPasskey: true } })
      const person = await enrolledPerson(service, admin, { policy: either })
      const { authRequestId: id, reply } = await partialLogin(service, person)
      assert.deepEqual(
        reply.json().authQueries.map(({ typeId }: { typeId: string }) => typeId),
        ['MFA'],
      )
      const started = await service.call(`${PASSKEY}/enroll`, { json: { id } })
      assertRefused(started, 409, 'FACTOR_NOT_PROVEN')
    },
  )

  await t.test(
    'D-437: a stolen password does not add an authenticator app beside a passkey',
    async () => {
      const person = await passkeyPerson(service, admin)
      const { authRequestId } = await partialLogin(service, person)
      const started = await service.call('/oidc/login/totp/enroll', { json: { authRequestId } })
      assertRefused(started, 409, 'FACTOR_NOT_PROVEN')
    },
  )

  await t.test('D-432: a policy that demands both gets both, the app first', async () => {
    const person = await enrolledPerson(service, admin)
    const both = await admin.createPolicy({
      secondary: { requireTotp: true, requirePasskey: true },
    })
    await admin.act('PATCH', `/identities/${person.id}`, { authPolicyId: both })
    const login = await partialLogin(service, person)
    const { authRequestId: id } = login
    const coded = await submitCode(service, id, person.app.nextCode())
    assert.deepEqual(coded.json(), { authQueries: [{ ...QUERY, isPasskeyEnrolled: false }] })
    const { reply, recoveryCodes } = await enrollKey(service, id, softAuthenticator())
    assert.deepEqual(recoveryCodes, [], 'those of the app stay')
    const { claims } = await tokensOf(service, { login, reply })
    assert.deepEqual(claims['amr'], ['pwd', 'otp', 'pop', 'user', 'mfa'])
  })

  await t.test('D-432: a policy that demands a code still does after a passkey alone', async () => {
    const { key, id } = await passkeyPerson(service, admin)
    const code = await admin.createPolicy({
      primary: { passkey: { allowed: true } },
      secondary: { requireTotp: true },
    })
    await admin.act('PATCH', `/identities/${id}`, { authPolicyId: code })
    const { reply } = await signIn(service, key)
    assert.deepEqual(
      reply.json().authQueries.map(({ typeId }: { typeId: string }) => typeId),
      ['MFA'],
    )
  })

  await t.test(
    'a login that a policy change overtakes is asked for what it demands now',
    async () => {
      const mine = await admin.createPolicy({
        primary: { passkey: { allowed: true }, updb: { allowed: true } },
        secondary: { requirePasskey: true },
      })
      const person = await passkeyPerson(service, admin, { policy: mine })
      const { authRequestId } = await partialLogin(service, person)
      await admin.act('PATCH', `/auth-policies/${mine}`, { secondary: { requireTotp: true } })
      const reply = await provePasskey(service, authRequestId, person.key)
      assert.deepEqual(
        reply.json().authQueries.map(({ typeId }: { typeId: string }) => typeId),
        ['MFA'],
      )
    },
  )
})
