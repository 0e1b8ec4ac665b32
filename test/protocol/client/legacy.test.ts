/** Logins with `zt-session` through `latchkey/client`: SPEC Legacy authentication; D-36, D-51, D-52. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { hours } from '../../../src/base/time/duration.ts'
import {
  CodeRefused,
  FactorRequired,
  type LegacyOptions,
  LoginRefused,
  logInLegacy,
  SessionEnded,
} from '../../../src/client/client.ts'
import { registerCa, shows } from '../../support/certificates/certificate-login.ts'
import { type Openssl, openOpenssl } from '../../support/certificates/openssl.ts'
import { assertVerifies } from '../../support/certificates/session-certificates.ts'
import {
  asAdmin,
  CURRENT_IDENTITY,
  failureOf,
  whoIs,
  withPassword,
} from '../../support/client/client-sessions.ts'
import { registerIdp } from '../../support/idp/jwt-login.ts'
import {
  authenticatorApp,
  enrolledPerson,
  PASSWORD,
  totpPolicy,
} from '../../support/login/authenticator-app.ts'
import { administrate } from '../../support/management.ts'
import { demand } from '../../support/policies.ts'
import { ADMIN, type Service, startService } from '../../support/service.ts'

let openssl: Openssl
before(async () => {
  openssl = await openOpenssl()
})
after(() => openssl.close())

const at = ({ baseUrl: url, ca }: Service, options: Partial<LegacyOptions> = {}) => ({
  url,
  ca,
  ...options,
})

test('every method opens a legacy session', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)

  for (const api of ['client', 'management'] as const) {
    await t.test(`a password, on the ${api} API`, async () => {
      const session = await logInLegacy(asAdmin, at(service, { api, configTypes: ['type-1'] }))
      assert.equal(await whoIs(session), ADMIN.username)
      const response = await session.call(`/edge/${api}/v1/current-api-session`)
      const { data } = (await response.json()) as { readonly data: Record<string, unknown> }
      assert.equal(data['id'], session.id)
      assert.equal(data['identityId'], session.identityId)
      assert.equal(data['kind'], 'legacy')
      assert.deepEqual(data['configTypes'], ['type-1'])
    })
  }

  await t.test('a certificate', async () => {
    const ca = await openssl.makeCa()
    await registerCa(admin, openssl, ca)
    const leaf = await openssl.makeLeaf(ca)
    const person = await admin.createIdentity({ certPem: leaf.pem })
    const session = await logInLegacy({ method: 'cert', ...shows(leaf) }, at(service))
    assert.equal(await whoIs(session), person.name)
  })

  await t.test('a JWT of a known signer', async () => {
    const idp = await registerIdp(t, service, admin, { issuer: 'https://idp.example/' })
    const person = await admin.createIdentity({ externalId: 'alice' })
    const jwt = await idp.jwt('alice')
    const session = await logInLegacy({ method: 'ext-jwt', jwt }, at(service))
    assert.equal(await whoIs(session), person.name)
  })

  await t.test('a wrong password opens none', async () => {
    const wrong = withPassword({ username: 'admin', password: 'wrong' })
    const error = await failureOf(logInLegacy(wrong, at(service)), LoginRefused)
    assert.equal(error.code, 'INVALID_AUTH')
  })
})

test('factors of a legacy session', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)

  await t.test('a TOTP code completes it, and a wrong one can be corrected', async () => {
    const person = await enrolledPerson(service, admin)
    const session = await logInLegacy(
      withPassword(person),
      at(service, {
        totp: ({ attempt }) => (attempt === 1 ? person.app.wrongCode() : person.app.nextCode()),
      }),
    )
    assert.equal(await whoIs(session), person.name)
    const wrong = at(service, { totp: () => person.app.wrongCode() })
    await failureOf(logInLegacy(withPassword(person), wrong), CodeRefused)
    await failureOf(logInLegacy(withPassword(person), at(service)), FactorRequired)
  })

  await t.test('TOTP is enrolled inside it', async () => {
    const policy = await totpPolicy(admin)
    const person = await admin.createIdentity({ password: PASSWORD, policy })
    const session = await logInLegacy(
      withPassword(person),
      at(service, {
        enrollTotp: ({ provisioningUrl }) =>
          authenticatorApp(provisioningUrl, service.clock).code(),
      }),
    )
    assert.equal(await whoIs(session), person.name)
  })

  await t.test('a secondary JWT goes with the login and with every call', async () => {
    const idp = await registerIdp(t, service, admin, { issuer: 'https://second.example/' })
    const policy = await admin.createPolicy({ secondary: { requireExtJwt: idp.id } })
    const person = await admin.createIdentity({ password: PASSWORD, policy, externalId: 'bob' })
    let asked = 0
    const secondaryJwt = () => {
      asked += 1
      return idp.jwt('bob')
    }
    const session = await logInLegacy(withPassword(person), at(service, { secondaryJwt }))
    assert.equal(await whoIs(session), person.name)
    assert.equal(asked, 1)
    await failureOf(logInLegacy(withPassword(person), at(service)), FactorRequired)
  })

  await t.test('what a policy comes to ask for is asked at the next call, once', async () => {
    const policy = await admin.createPolicy()
    const person = await admin.createIdentity({ password: PASSWORD, policy })
    let asked = 0
    const session = await logInLegacy(
      withPassword(person),
      at(service, {
        enrollTotp: ({ provisioningUrl }) => {
          asked += 1
          return authenticatorApp(provisioningUrl, service.clock).code()
        },
      }),
    )
    const mute = await logInLegacy(withPassword(person), at(service))
    await demand(admin, policy, { requireTotp: true })
    const names = await Promise.all(Array.from({ length: 5 }, () => whoIs(session)))
    assert.deepEqual(new Set(names), new Set([person.name]))
    assert.equal(asked, 1)
    await failureOf(mute.call(CURRENT_IDENTITY), FactorRequired)
  })
})

test('the life of a legacy session', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)

  await t.test('it has certificates like any other', async () => {
    const session = await logInLegacy(asAdmin, at(service))
    const { certificate, cas } = await session.certificate()
    await assertVerifies(certificate, cas)
  })

  await t.test('a logout ends it', async () => {
    const session = await logInLegacy(asAdmin, at(service))
    const headers = { 'zt-session': session.token() }
    await session.logout()
    assert.equal((await failureOf(session.call(CURRENT_IDENTITY), SessionEnded)).code, 'LOGGED_OUT')
    assert.equal((await service.call(CURRENT_IDENTITY, { headers })).status, 401)
  })

  await t.test('an administrator, or idleness, ends it', async () => {
    const session = await logInLegacy(asAdmin, at(service))
    await admin.act('DELETE', `/api-sessions/${session.id}`)
    assert.equal((await failureOf(session.call(CURRENT_IDENTITY), SessionEnded)).code, 'invalid')
    await session.logout()

    const idle = await logInLegacy(asAdmin, at(service))
    service.clock.advance(hours(1))
    await failureOf(idle.call(CURRENT_IDENTITY), SessionEnded)
  })
})
