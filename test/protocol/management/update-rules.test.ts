/**
 * PUT and PATCH of policies, external JWT signers and CAs: the result is what is judged, and who is logged in feels it.
 * API 1, 4.4 – 4.6; D-27, D-52, D-119, D-121.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DoneReply } from '../../../src/contract/envelope.ts'
import { AuthPolicyReply } from '../../../src/contract/management/auth-policies.ts'
import { CaReply } from '../../../src/contract/management/cas.ts'
import { ExternalJwtSignerReply } from '../../../src/contract/management/external-jwt-signers.ts'
import { eventsOf } from '../../support/audit.ts'
import {
  certificateLogin,
  presenting,
  registerCa,
} from '../../support/certificates/certificate-login.ts'
import { openOpenssl } from '../../support/certificates/openssl.ts'
import type { Reply } from '../../support/http-client.ts'
import { jwtLogin, logInByJwt, registerIdp } from '../../support/idp/jwt-login.ts'
import { answerTo, CODE_DEMANDED, INVALID } from '../../support/login/challenges.ts'
import { authenticate } from '../../support/login/legacy.ts'
import { logInOffline, refresh, refreshed } from '../../support/login/refresh.ts'
import { type Administrator, administrate, assertRefused } from '../../support/management.ts'
import { startService } from '../../support/service.ts'

const PASSWORD = 'a password of somebody'

/** The change, and its one event with the fields that it names. */
async function change(
  admin: Administrator,
  service: Parameters<typeof eventsOf>[0],
  path: string,
  body: object,
  fields: readonly string[],
): Promise<void> {
  const reply = await admin.call('PATCH', path, body)
  assert.equal(reply.status, 200, reply.text)
  assert.deepEqual(DoneReply.parse(reply.json()), reply.json())
  const events = await eventsOf(service, reply)
  assert.deepEqual(
    events.map(({ type, details }) => [type.endsWith('.updated'), details.changed.toSorted()]),
    fields.length === 0 ? [] : [[true, fields.toSorted()]],
  )
}

async function assertFaults(
  call: (body: object) => Promise<Reply>,
  faults: readonly (readonly [object, string])[],
): Promise<void> {
  for (const [body, field] of faults) {
    assertRefused(await call(body), 400, 'COULD_NOT_VALIDATE', field)
  }
}

test('policies are replaced and changed', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const signer = await admin.createSigner({ issuer: 'https://idp.example' })
  const parts = async (id: string) => {
    const body = (await admin.call('GET', `/auth-policies/${id}`)).json()
    assert.deepEqual(AuthPolicyReply.parse(body), body)
    const { name, primary, secondary, tags } = body.data
    return { name, primary, secondary, tags }
  }

  await t.test('API 4.4: PUT replaces; a part that is left out is not allowed', async () => {
    const id = await admin.createPolicy({ secondary: { requireTotp: true }, tags: { a: 1 } })
    const next = { name: 'only passwords', primary: { updb: { allowed: true, maxAttempts: 3 } } }
    await admin.act('PUT', `/auth-policies/${id}`, next)
    assert.deepEqual(await parts(id), {
      name: 'only passwords',
      primary: {
        cert: { allowed: false, allowExpiredCerts: false, bindTokens: false },
        extJwt: { allowed: false, allowedSigners: [] },
        updb: {
          allowed: true,
          minPasswordLength: 8,
          maxAttempts: 3,
          lockoutDurationMinutes: 15,
        },
        passkey: { allowed: false },
      },
      secondary: {
        requireTotp: false,
        requirePasskey: false,
        requireTotpOrPasskey: false,
        requireExtJwt: null,
        requireExtJwtSigner: null,
        requireBoundToken: false,
      },
      tags: {},
    })
  })

  await t.test('D-121: PATCH reaches into the parts, and leaves their other fields', async () => {
    const id = await admin.createPolicy({
      primary: {
        updb: { allowed: true, maxAttempts: 3 },
        cert: { allowed: true, bindTokens: true },
      },
    })
    const path = `/auth-policies/${id}`
    const before = await parts(id)
    const longer = { primary: { updb: { minPasswordLength: 12 } } }
    await change(admin, service, path, longer, ['primary'])
    const { updb, ...others } = before.primary
    assert.deepEqual((await parts(id)).primary, {
      ...others,
      updb: { ...updb, minPasswordLength: 12 },
    })
    // Null takes a part away, or a field of it back to its default.
    const cleared = { primary: { cert: null, updb: { maxAttempts: null } } }
    await change(admin, service, path, cleared, ['primary'])
    const { primary } = await parts(id)
    assert.deepEqual(primary.cert, { allowed: false, allowExpiredCerts: false, bindTokens: false })
    assert.equal(primary.updb.maxAttempts, 10)
    assert.equal(primary.updb.minPasswordLength, 12)
    await change(admin, service, path, {}, [])
    await change(admin, service, path, { primary: {}, secondary: {} }, [])
    await change(admin, service, path, { tags: { a: null } }, ['tags'])
  })

  await t.test('API 4.4: a signer is required by either spelling, and by no two', async () => {
    const other = await admin.createSigner({ issuer: 'https://other.example' })
    const id = await admin.createPolicy()
    const path = `/auth-policies/${id}`
    const required = async () => (await parts(id)).secondary
    await change(admin, service, path, { secondary: { requireExtJwt: signer } }, ['secondary'])
    await change(admin, service, path, { secondary: { requireExtJwtSigner: other } }, ['secondary'])
    assert.deepEqual(await required(), {
      requireTotp: false,
      requirePasskey: false,
      requireTotpOrPasskey: false,
      requireExtJwt: other,
      requireExtJwtSigner: other,
      requireBoundToken: false,
    })
    await assertFaults(
      (secondary) => admin.call('PATCH', path, { secondary }),
      [
        [{ requireExtJwt: signer, requireExtJwtSigner: other }, 'secondary.requireExtJwtSigner'],
        [{ requireExtJwt: null, requireExtJwtSigner: other }, 'secondary.requireExtJwtSigner'],
        [{ requireExtJwt: 'nothing' }, 'secondary.requireExtJwt'],
        [{ requireExtJwt: 7 }, 'secondary.requireExtJwt'],
        [{ requireSms: true }, 'secondary.requireSms'],
      ],
    )
    await change(admin, service, path, { secondary: { requireTotp: true } }, ['secondary'])
    assert.equal((await required()).requireExtJwt, other, 'what is not named stays')
    await change(admin, service, path, { secondary: { requireExtJwtSigner: null } }, ['secondary'])
    assert.equal((await required()).requireExtJwt, null)
    await change(admin, service, path, { secondary: null }, ['secondary'])
    assert.equal((await required()).requireTotp, false)
  })

  await t.test('the result is judged, and not the patch alone', async () => {
    const id = await admin.createPolicy({ primary: { updb: { allowed: true } } })
    const path = `/auth-policies/${id}`
    await assertFaults(
      (body) => admin.call('PATCH', path, body),
      [
        [{ primary: { updb: { allowed: false } } }, 'primary'],
        [{ primary: { updb: null } }, 'primary'],
        [{ primary: null }, 'primary'],
        [{ primary: { cert: { bindTokens: true, allowed: null } } }, 'primary.cert.allowed'],
        [{ primary: { extJwt: { allowedSigners: ['x'] } } }, 'primary.extJwt.allowedSigners'],
        [{ primary: { updb: { minPasswordLength: 7 } } }, 'primary.updb.minPasswordLength'],
        [{ primary: { sms: {} } }, 'primary.sms'],
        [{ name: null }, 'name'],
        [{ id: 'other' }, 'id'],
      ],
    )
    const swapped = { primary: { updb: { allowed: false }, cert: { allowed: true } } }
    assert.equal((await admin.call('PATCH', path, swapped)).status, 200)
    assertRefused(
      await admin.call('PUT', path, { name: 'x' }),
      400,
      'COULD_NOT_VALIDATE',
      'primary',
    )
    const taken = await admin.call('PATCH', path, { name: 'production' })
    assertRefused(taken, 409, 'ENTITY_NAME_IN_USE', 'name')
    for (const method of ['PUT', 'PATCH']) {
      assertRefused(await admin.call(method, '/auth-policies/nothing', {}), 404, 'NOT_FOUND')
    }
  })

  await t.test('a built-in policy may change, and stays built in', async () => {
    const renamed = { name: 'hardened', primary: { cert: { bindTokens: true } } }
    await change(admin, service, '/auth-policies/production', renamed, ['name', 'primary'])
    const { name, primary } = await parts('production')
    assert.equal(name, 'hardened')
    assert.equal(primary.cert.bindTokens, true)
    const removed = await admin.call('DELETE', '/auth-policies/production')
    assertRefused(removed, 409, 'ENTITY_CAN_NOT_BE_DELETED')
  })

  await t.test('D-27, D-52: sessions are affected at the next call or refresh', async () => {
    const policy = await admin.createPolicy()
    const ada = await admin.createIdentity({ policy, password: PASSWORD })
    const path = `/auth-policies/${policy}`
    const tokens = await logInOffline(service, {}, ada)
    await admin.act('PATCH', path, { secondary: { requireTotp: true } })
    assert.equal(await answerTo(service, tokens.access_token), CODE_DEMANDED)
    assert.equal((await refresh(service, tokens.refresh_token)).json().error, 'invalid_grant')
    await admin.act('PATCH', path, { secondary: { requireTotp: false } })
    assert.equal(await answerTo(service, tokens.access_token), 'taken', 'nothing had ended')
    await admin.act('PATCH', path, { primary: { updb: { allowed: false } } })
    assert.equal((await refresh(service, tokens.refresh_token)).json().error, 'invalid_grant')
    assert.equal((await authenticate(service, ada)).status, 401)
    await admin.act('PATCH', path, { primary: { updb: { allowed: true } } })
    await refreshed(service, tokens.refresh_token)
  })

  await t.test('two PATCHes of different fields at once both stand', async () => {
    for (let round = 0; round < 5; round += 1) {
      const id = await admin.createPolicy()
      const changes = [
        { primary: { updb: { maxAttempts: 4 } } },
        { primary: { updb: { minPasswordLength: 9 } } },
        { secondary: { requireTotp: true } },
        { tags: { round } },
      ]
      const replies = await Promise.all(
        changes.map((body) => admin.call('PATCH', `/auth-policies/${id}`, body)),
      )
      for (const reply of replies) assert.equal(reply.status, 200, reply.text)
      const { primary, secondary, tags } = await parts(id)
      assert.equal(primary.updb.maxAttempts, 4)
      assert.equal(primary.updb.minPasswordLength, 9)
      assert.equal(secondary.requireTotp, true)
      assert.deepEqual(tags, { round })
    }
  })
})

test('external JWT signers are replaced and changed', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const tool = await openOpenssl()
  t.after(() => tool.close())
  const signerAt = async (path: string) => {
    const body = (await admin.call('GET', path)).json()
    assert.deepEqual(ExternalJwtSignerReply.parse(body), body)
    return body.data
  }

  await t.test(
    'API 4.5: PUT replaces, PATCH changes, also from an endpoint to a certificate',
    async () => {
      const { pem, fingerprint } = await tool.makeCa()
      const id = await admin.createSigner({ issuer: 'https://one.example', scopes: ['openid'] })
      const path = `/external-jwt-signers/${id}`
      const next = { jwksEndpoint: null, certPem: pem, kid: 'k' }
      await change(admin, service, path, next, ['keys'])
      const changed = await signerAt(path)
      assert.equal(changed.fingerprint, fingerprint)
      assert.equal(changed.jwksEndpoint, null)
      assert.deepEqual(changed.scopes, ['openid'])
      await change(admin, service, path, { kid: null, clientId: 'us' }, ['keys', 'clientId'])
      assert.equal((await signerAt(path)).kid, null)
      const whole = {
        name: 'replaced',
        issuer: 'https://two.example',
        audience: 'other',
        jwksEndpoint: 'https://127.0.0.1:1/other',
      }
      await admin.act('PUT', path, whole)
      const { name, issuer, audience, certPem, clientId, scopes, enabled } = await signerAt(path)
      assert.deepEqual(
        { name, issuer, audience, certPem, clientId, scopes, enabled },
        {
          name: 'replaced',
          issuer: 'https://two.example',
          audience: 'other',
          certPem: null,
          clientId: null,
          scopes: [],
          enabled: true,
        },
      )
      await change(admin, service, path, {}, [])
    },
  )

  await t.test('the result is judged, and not the patch alone', async () => {
    const { pem } = await tool.makeCa()
    const id = await admin.createSigner({ issuer: 'https://three.example' })
    const path = `/external-jwt-signers/${id}`
    await assertFaults(
      (body) => admin.call('PATCH', path, body),
      [
        [{ certPem: pem }, 'jwksEndpoint'],
        [{ jwksEndpoint: null }, 'jwksEndpoint'],
        [{ kid: 'k' }, 'kid'],
        [{ issuer: null }, 'issuer'],
        [{ issuer: `${service.baseUrl}/oidc` }, 'issuer'],
        [{ claimsProperty: '/~2' }, 'claimsProperty'],
        [{ jwksEndpoint: 'http://idp.example/keys' }, 'jwksEndpoint'],
        [{ externalAuthUrl: 'https://a:b@idp.example' }, 'externalAuthUrl'],
        [{ fingerprint: 'x' }, 'fingerprint'],
        [{ enabled: 'no' }, 'enabled'],
      ],
    )
    const notPem = await admin.call('PATCH', path, { jwksEndpoint: null, certPem: 'x' })
    assertRefused(notPem, 400, 'INVALID_CERT_PEM')
    const other = await signerAt(
      `/external-jwt-signers/${await admin.createSigner({ issuer: 'https://four.example' })}`,
    )
    const named = await admin.call('PATCH', path, { name: other.name })
    assertRefused(named, 409, 'ENTITY_NAME_IN_USE', 'name')
    const issued = await admin.call('PATCH', path, { issuer: other.issuer })
    assertRefused(issued, 409, 'ENTITY_NAME_IN_USE', 'issuer')
    for (const method of ['PUT', 'PATCH']) {
      assertRefused(await admin.call(method, '/external-jwt-signers/nothing', {}), 404, 'NOT_FOUND')
    }
  })

  await t.test('D-119: a disabled signer is no longer accepted', async () => {
    await admin.createIdentity({ externalId: 'ada' })
    const idp = await registerIdp(t, service, admin, { issuer: 'https://live.example' })
    const path = `/external-jwt-signers/${idp.id}`
    const { access_token } = await logInByJwt(service, await idp.jwt('ada'))
    await change(admin, service, path, { enabled: false }, ['enabled'])
    assert.equal((await jwtLogin(service, await idp.jwt('ada'))).status, 401)
    // D-232: at the next call, as at routers; before D-232, at the next refresh.
    assert.equal(await answerTo(service, access_token), INVALID)
    await change(admin, service, path, { enabled: true, audience: 'others' }, [
      'enabled',
      'audience',
    ])
    assert.equal((await jwtLogin(service, await idp.jwt('ada'))).status, 401)
    assert.equal((await jwtLogin(service, await idp.jwt('ada', { aud: 'others' }))).status, 302)
    // Attack: the keys of the former endpoint still sign. R105.
    const elsewhere = await registerIdp(t, service, admin, { issuer: 'https://elsewhere.example' })
    await admin.act('PATCH', path, { jwksEndpoint: elsewhere.server.jwksEndpoint })
    const reply = await jwtLogin(service, await idp.jwt('ada', { aud: 'others' }))
    assert.equal(reply.status, 401)
  })
})

test('CAs are replaced and changed', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const tool = await openOpenssl()
  t.after(() => tool.close())
  const caAt = async (path: string) => {
    const body = (await admin.call('GET', path)).json()
    assert.deepEqual(CaReply.parse(body), body)
    return body.data
  }

  await t.test('API 4.6: everything but the certificate, and whether it is verified', async () => {
    const made = await tool.makeCa()
    const id = await registerCa(admin, tool, made, { identityRoles: ['a'], tags: { a: 1 } })
    const path = `/cas/${id}`
    const before = await caAt(path)
    const claim = { location: 'SAN_URI', matcher: 'SCHEME', matcherCriteria: 'spiffe' }
    await change(admin, service, path, { externalIdClaim: claim }, ['externalIdClaim'])
    const index = { externalIdClaim: { index: 2 } }
    await change(admin, service, path, index, ['externalIdClaim'])
    const whole = { parser: 'NONE', parserCriteria: '', index: 2 }
    assert.deepEqual((await caAt(path)).externalIdClaim, { ...claim, ...whole })
    await admin.act('PUT', path, { name: 'replaced', certPem: `words\n${made.pem}` })
    const { createdAt, updatedAt, ...after } = await caAt(path)
    assert.equal(createdAt, before.createdAt)
    assert.deepEqual(after, {
      id,
      name: 'replaced',
      certPem: before.certPem,
      fingerprint: made.fingerprint,
      isVerified: true,
      verificationToken: null,
      isAuthEnabled: false,
      isOttCaEnrollmentEnabled: false,
      isAutoCaEnrollmentEnabled: false,
      identityRoles: [],
      identityNameFormat: '[caName]-[commonName]',
      externalIdClaim: null,
      tags: {},
      _links: { self: { href: `./cas/${id}` } },
    })
    await admin.act('PUT', path, { name: 'replaced again' })
    await change(admin, service, path, {}, [])
  })

  await t.test('the result is judged, and another certificate is another CA', async () => {
    const [one, other] = [await tool.makeCa(), await tool.makeCa()]
    const claim = { location: 'SAN_URI', matcher: 'SCHEME', matcherCriteria: 'spiffe' }
    const id = await admin.createCa({ certPem: one.pem, externalIdClaim: claim })
    const path = `/cas/${id}`
    await assertFaults(
      (body) => admin.call('PATCH', path, body),
      [
        [{ certPem: other.pem }, 'certPem'],
        [{ certPem: (await tool.makeLeaf(one)).pem }, 'certPem'],
        [{ certPem: 'x' }, 'certPem'],
        [{ certPem: null }, 'certPem'],
        [{ isVerified: true }, 'isVerified'],
        [{ verificationToken: 'x' }, 'verificationToken'],
        [{ externalIdClaim: { matcher: 'ALL' } }, 'externalIdClaim.matcherCriteria'],
        [{ externalIdClaim: { matcherCriteria: null } }, 'externalIdClaim.matcherCriteria'],
        [{ externalIdClaim: { parser: 'SPLIT' } }, 'externalIdClaim.parserCriteria'],
        [{ externalIdClaim: { location: null } }, 'externalIdClaim.location'],
        [{ name: null }, 'name'],
      ],
    )
    const replaced = await admin.call('PUT', path, { name: 'x', certPem: other.pem })
    assertRefused(replaced, 400, 'COULD_NOT_VALIDATE', 'certPem')
    assert.equal((await caAt(path)).isVerified, false)
    const cleared = { externalIdClaim: null }
    await change(admin, service, path, cleared, ['externalIdClaim'])
    const { name } = await caAt(`/cas/${await admin.createCa({ certPem: other.pem })}`)
    assertRefused(await admin.call('PATCH', path, { name }), 409, 'ENTITY_NAME_IN_USE', 'name')
    for (const method of ['PUT', 'PATCH']) {
      assertRefused(await admin.call(method, '/cas/nothing', {}), 404, 'NOT_FOUND')
    }
  })

  await t.test('a disabled CA no longer logs in its certificates', async () => {
    const ca = await tool.makeCa()
    const leaf = await tool.makeLeaf(ca)
    const id = await registerCa(admin, tool, ca)
    await admin.createIdentity({ certPem: leaf.pem })
    assert.equal((await certificateLogin(presenting(service, leaf))).status, 302)
    await change(admin, service, `/cas/${id}`, { isAuthEnabled: false }, ['isAuthEnabled'])
    assert.equal((await certificateLogin(presenting(service, leaf))).status, 401)
    await change(admin, service, `/cas/${id}`, { isAuthEnabled: true }, ['isAuthEnabled'])
    assert.equal((await certificateLogin(presenting(service, leaf))).status, 302)
  })
})
