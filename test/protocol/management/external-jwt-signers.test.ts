/** External JWT Signers: made, read, removed; and what strangers may know of them. API 3.1, 3.3, 4.5. */
import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { test } from 'node:test'
import {
  ExternalJwtSignerReply,
  PublicSignerListReply,
} from '../../../src/contract/management/external-jwt-signers.ts'
import { openOpenssl } from '../../support/certificates/openssl.ts'
import { administrate, assertRefused } from '../../support/management.ts'
import { startService } from '../../support/service.ts'

const PUBLIC = '/edge/client/v1/external-jwt-signers'

test('external JWT signers', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const tool = await openOpenssl()
  t.after(() => tool.close())
  const create = (body: unknown) => admin.call('POST', '/external-jwt-signers', body)

  await t.test('API 4.5: one with an endpoint, and its defaults', async () => {
    const signer = {
      name: 'with an endpoint',
      issuer: 'https://endpoint.example',
      audience: 'latchkey',
      jwksEndpoint: 'https://127.0.0.1:1/keys',
    }
    const made = await create(signer)
    assert.equal(made.status, 201, made.text)
    const { id } = made.json().data
    const body = (await admin.call('GET', `/external-jwt-signers/${id}`)).json()
    assert.deepEqual(ExternalJwtSignerReply.parse(body), body)
    const { createdAt, updatedAt, ...rest } = body.data
    assert.equal(createdAt, updatedAt)
    assert.deepEqual(rest, {
      ...signer,
      id,
      tags: {},
      _links: { self: { href: `./external-jwt-signers/${id}` } },
      enabled: true,
      certPem: null,
      kid: null,
      claimsProperty: '/sub',
      useExternalId: true,
      externalAuthUrl: null,
      clientId: null,
      scopes: [],
      targetToken: 'ACCESS',
      fingerprint: null,
      commonName: null,
      notBefore: null,
      notAfter: null,
      lastFetchedAt: null,
      lastError: null,
      keys: [],
    })
  })

  await t.test('API 4.5: one with a certificate shows what is in it', async () => {
    const { pem, fingerprint } = await tool.makeCa({ subject: '/CN=An IdP' })
    const id = await admin.createSigner({
      issuer: 'https://certificate.example',
      certPem: pem,
      kid: 'key-1',
      externalAuthUrl: 'https://idp.example/authorize',
      clientId: 'us',
      scopes: ['openid', 'email'],
      targetToken: 'ID',
      claimsProperty: 'email',
      useExternalId: false,
    })
    const body = (await admin.call('GET', `/external-jwt-signers/${id}`)).json()
    assert.deepEqual(ExternalJwtSignerReply.parse(body), body)
    const { validFromDate, validToDate } = new X509Certificate(pem)
    assert.equal(body.data.fingerprint, fingerprint)
    assert.equal(body.data.commonName, 'An IdP')
    assert.equal(body.data.notBefore, validFromDate.toISOString())
    assert.equal(body.data.notAfter, validToDate.toISOString())
    assert.equal(body.data.kid, 'key-1')
    assert.equal(body.data.jwksEndpoint, null)
    assert.deepEqual(body.data.scopes, ['openid', 'email'])
    assert.equal(body.data.useExternalId, false)
  })

  await t.test('what is not one certificate with a good key is refused', async () => {
    const { pem, keyPem } = await tool.makeCa()
    const weak = await tool.makeCa({ key: 'rsa-1024' })
    for (const certPem of ['x', keyPem, pem + pem, weak.pem]) {
      const reply = await create({ name: 'x', issuer: 'https://x', audience: 'x', certPem })
      assertRefused(reply, 400, 'INVALID_CERT_PEM')
    }
  })

  await t.test('http is for this machine alone', async () => {
    const at = (jwksEndpoint: string, i: number) =>
      create({
        name: `http ${i}`,
        issuer: `https://http.example/${i}`,
        audience: 'x',
        jwksEndpoint,
      })
    for (const [i, url] of [
      'http://localhost:1/k',
      'http://127.0.0.1/k',
      'http://[::1]/k',
    ].entries()) {
      assert.equal((await at(url, i)).status, 201, url)
    }
    for (const url of ['http://localhost.example/k', 'http://10.0.0.1/k', 'ftp://localhost/k']) {
      assertRefused(await at(url, 9), 400, 'COULD_NOT_VALIDATE', 'jwksEndpoint')
    }
  })

  await t.test('names and issuers are unique; an issuer is compared exactly', async () => {
    await admin.createSigner({ name: 'first', issuer: 'https://unique.example' })
    const like = { audience: 'x', jwksEndpoint: 'https://127.0.0.1:1/keys' }
    const name = await create({ ...like, name: 'first', issuer: 'https://other.example' })
    assertRefused(name, 409, 'ENTITY_NAME_IN_USE', 'name')
    const issuer = await create({ ...like, name: 'second', issuer: 'https://unique.example' })
    assertRefused(issuer, 409, 'ENTITY_NAME_IN_USE', 'issuer')
    const slash = await create({ ...like, name: 'second', issuer: 'https://unique.example/' })
    assert.equal(slash.status, 201)
  })

  await t.test('no other signer can use an issuer of this service', async () => {
    const reply = await create({
      name: 'we ourselves',
      issuer: `${service.baseUrl}/oidc`,
      audience: 'service',
      jwksEndpoint: `${service.baseUrl}/oidc/keys`,
    })
    assertRefused(reply, 400, 'COULD_NOT_VALIDATE', 'issuer')
  })

  await t.test('a signer that a policy names stays', async () => {
    const [primary, secondary, free] = [
      await admin.createSigner({ issuer: 'https://primary.example' }),
      await admin.createSigner({ issuer: 'https://secondary.example' }),
      await admin.createSigner({ issuer: 'https://free.example' }),
    ]
    const policies = [
      await admin.createPolicy({
        primary: { extJwt: { allowed: true, allowedSigners: [primary] } },
      }),
      await admin.createPolicy({ secondary: { requireExtJwt: secondary } }),
    ]
    for (const id of [primary, secondary]) {
      const reply = await admin.call('DELETE', `/external-jwt-signers/${id}`)
      assertRefused(reply, 409, 'CAN_NOT_DELETE_REFERENCED_ENTITY')
    }
    await admin.act('DELETE', `/external-jwt-signers/${free}`)
    assertRefused(await admin.call('GET', `/external-jwt-signers/${free}`), 404, 'NOT_FOUND')
    for (const id of policies) await admin.act('DELETE', `/auth-policies/${id}`)
    await admin.act('DELETE', `/external-jwt-signers/${primary}`)
  })

  await t.test(
    'of a signer that is deleted and named by a policy at once, one happens',
    async () => {
      for (let i = 0; i < 5; i += 1) {
        const signer = await admin.createSigner({ issuer: `https://race.example/${i}` })
        const policy = { name: `race-${i}`, primary: { cert: { allowed: true } } }
        const [made, removed] = await Promise.all([
          admin.call('POST', '/auth-policies', { ...policy, secondary: { requireExtJwt: signer } }),
          admin.call('DELETE', `/external-jwt-signers/${signer}`),
        ])
        assert.ok(
          (made.status === 201 && removed.status === 409) ||
            (made.status === 400 && removed.status === 200),
          `${made.text} ${removed.text}`,
        )
      }
    },
  )
})

test('API 3.1: any caller may read which signers are accepted', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  await admin.createSigner({
    name: 'b',
    issuer: 'https://b.example',
    externalAuthUrl: 'https://b.example/authorize',
    clientId: 'us',
    scopes: ['openid'],
  })
  await admin.createSigner({ name: 'hidden', issuer: 'https://hidden.example', enabled: false })
  await admin.createSigner({ name: 'a', issuer: 'https://a.example' })

  await t.test('enabled ones only, by name, and no more than the public fields', async () => {
    const reply = await service.call(PUBLIC)
    assert.equal(reply.status, 200, reply.text)
    const body = reply.json()
    assert.deepEqual(PublicSignerListReply.parse(body), body)
    const [a, b] = body.data
    assert.equal(a.name, 'a')
    assert.deepEqual(b, {
      id: b.id,
      name: 'b',
      issuer: 'https://b.example',
      audience: 'latchkey',
      externalAuthUrl: 'https://b.example/authorize',
      clientId: 'us',
      scopes: ['openid'],
      targetToken: 'ACCESS',
    })
    assert.deepEqual(body.meta.pagination, { limit: 10, offset: 0, totalCount: 2 })
  })

  await t.test('no credential is looked at, and none is asked for', async () => {
    const headers = { authorization: 'Bearer nonsense', 'zt-session': 'nonsense' }
    const reply = await service.call(PUBLIC, { headers })
    assert.equal(reply.status, 200)
    assert.equal(reply.headers['www-authenticate'], undefined)
  })

  await t.test('it has pages like every list', async () => {
    assert.equal((await service.call(`${PUBLIC}?limit=1&offset=1`)).json().data[0].name, 'b')
    assertRefused(await service.call(`${PUBLIC}?limit=0`), 400, 'INVALID_PAGINATION', 'limit')
    assertRefused(await service.call(`${PUBLIC}?filter=x`), 400, 'INVALID_FILTER', 'filter')
  })
})
