/**
 * Bodies of management writes as the `ziti` command and the Go models send them, field by field: D-318. Fields that a
 * model does not mean to set are empty, null or a default of its own.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openOpenssl } from '../../support/certificates/openssl.ts'
import { legacyToken, ztSession } from '../../support/login/legacy.ts'
import { OPENZITI } from '../../support/login/openziti.ts'
import { administrateOpenZiti } from '../../support/login/openziti-administrator.ts'
import { assertRefused } from '../../support/management.ts'
import { startService } from '../../support/service.ts'

test('bodies of existing administration tools', async (t) => {
  const service = await startService(t, { config: OPENZITI })
  const admin = await administrateOpenZiti(service)
  const tool = await openOpenssl()
  t.after(() => tool.close())
  const signer = { audience: 'a', enabled: true, jwksEndpoint: 'https://127.0.0.1:1/keys' }
  const newSigner = (name: string, more: object = {}) =>
    admin.create('/external-jwt-signers', {
      ...signer,
      name,
      issuer: `https://${name}.example`,
      ...more,
    })
  // What `ziti edge create auth-policy` sends when it is only told the name and one method.
  const policy = (name: string, minPasswordLength: unknown) => ({
    name,
    primary: {
      cert: { allowExpiredCerts: false, allowed: true },
      extJwt: { allowed: false, allowedSigners: [] },
      updb: {
        allowed: false,
        lockoutDurationMinutes: 0,
        maxAttempts: 0,
        minPasswordLength,
        requireMixedCase: false,
        requireNumberChar: false,
        requireSpecialChar: false,
      },
    },
    secondary: { requireExtJwtSigner: null, requireTotp: false },
    tags: {},
  })

  await t.test('a shorter minimum for passwords is raised to ours', async () => {
    const path = `/auth-policies/${await admin.create('/auth-policies', policy('short', 5))}`
    const length = async () => (await admin.get(path)).primary.updb.minPasswordLength
    assert.equal(await length(), 8)
    await admin.act('PATCH', path, { primary: { updb: { minPasswordLength: 12 } } })
    assert.equal(await length(), 12)
    await admin.act('PATCH', path, { primary: { updb: { minPasswordLength: 0 } } })
    assert.equal(await length(), 8)
    await admin.act('PUT', path, policy('short', 7))
    assert.equal(await length(), 8)
    for (const strange of [-1, 5.5, '5', 129]) {
      const reply = await admin.call('POST', '/auth-policies', policy('strange', strange))
      assertRefused(reply, 400, 'COULD_NOT_VALIDATE', 'primary.updb.minPasswordLength')
    }
  })

  await t.test('an empty text counts as not given in a create', async () => {
    const id = await newSigner('empty', {
      externalAuthUrl: '',
      clientId: '',
      kid: '',
      certPem: '',
      claimsProperty: '',
      targetToken: '',
      scopes: null,
    })
    const shown = await admin.get(`/external-jwt-signers/${id}`)
    const { externalAuthUrl, clientId, claimsProperty, targetToken } = shown
    assert.deepEqual(
      { externalAuthUrl, clientId, claimsProperty, targetToken },
      { externalAuthUrl: null, clientId: null, claimsProperty: '/sub', targetToken: 'ACCESS' },
    )
    const identity = await admin.create('/identities', {
      name: 'empty',
      type: 'User',
      isAdmin: false,
      externalId: '',
      authPolicyId: '',
      enrollment: { ott: true, ottca: '', updb: '' },
    })
    const { externalId, authPolicyId } = await admin.get(`/identities/${identity}`)
    assert.deepEqual([externalId, authPolicyId], [null, 'default'])
  })

  await t.test('a required text is still refused when it is empty', async () => {
    const reply = await admin.call('POST', '/external-jwt-signers', { ...signer, name: '' })
    assertRefused(reply, 400, 'COULD_NOT_VALIDATE', 'name')
    const { id } = await admin.createIdentity({ name: 'named' })
    const change = await admin.call('PATCH', `/identities/${id}`, { name: '' })
    assertRefused(change, 400, 'COULD_NOT_VALIDATE', 'name')
  })

  await t.test('an empty text clears an optional field in a change', async () => {
    const { id } = await admin.createIdentity({ name: 'cleared', externalId: 'x' })
    await admin.act('PATCH', `/identities/${id}`, { externalId: '' })
    assert.equal((await admin.get(`/identities/${id}`)).externalId, null)

    const required = await newSigner('required', { externalAuthUrl: 'https://idp.example' })
    const rules = `/auth-policies/${await admin.createPolicy({
      secondary: { requireExtJwtSigner: required },
    })}`
    await admin.act('PATCH', rules, { secondary: { requireExtJwtSigner: '' } })
    assert.equal((await admin.get(rules)).secondary.requireExtJwt, null)
    await admin.act('PATCH', `/external-jwt-signers/${required}`, { externalAuthUrl: '' })
    assert.equal((await admin.get(`/external-jwt-signers/${required}`)).externalAuthUrl, null)
  })

  await t.test(
    'null for a list leaves it as it is, and null clears what can be empty',
    async () => {
      const idp = await newSigner('idp', { scopes: ['a', 'b'], clientId: 'c' })
      const path = `/external-jwt-signers/${idp}`
      await admin.act('PATCH', path, { enabled: false, scopes: null, useExternalId: null })
      const { scopes, enabled } = await admin.get(path)
      assert.deepEqual([scopes, enabled], [['a', 'b'], false])
      await admin.act('PATCH', path, { clientId: null })
      assert.equal((await admin.get(path)).clientId, null)
      await admin.act('PATCH', path, { scopes: [] })
      assert.deepEqual((await admin.get(path)).scopes, [])

      const { id } = await admin.createIdentity({
        name: 'listed',
        roleAttributes: ['r'],
        externalId: 'e',
        tags: { a: null },
      })
      const nulls = { roleAttributes: null, tags: null, name: null, isAdmin: null, unknown: null }
      await admin.act('PATCH', `/identities/${id}`, { ...nulls, externalId: null })
      const { roleAttributes, externalId, tags, name } = await admin.get(`/identities/${id}`)
      assert.deepEqual(
        { roleAttributes, externalId, tags, name },
        { roleAttributes: ['r'], externalId: null, tags: { a: null }, name: 'listed' },
      )
    },
  )

  // Attack by accident: a change of the second factor opens a policy to every signer.
  await t.test('null for the allowed signers does not allow every signer', async () => {
    const only = await newSigner('only')
    const extJwt = { allowed: true, allowedSigners: [only] }
    const path = `/auth-policies/${await admin.createPolicy({ primary: { extJwt } })}`
    const change = {
      primary: { cert: {}, extJwt: { allowedSigners: null }, updb: {} },
      secondary: { requireTotp: true },
      tags: {},
    }
    const preview = await admin.call('POST', `${path}/what-if`, change)
    assert.deepEqual(preview.json().data?.changed, ['secondary'], preview.text)
    await admin.act('PATCH', path, change)
    const { primary, secondary } = await admin.get(path)
    assert.deepEqual(primary.extJwt, extJwt)
    assert.equal(secondary.requireTotp, true)
  })

  await t.test('a preview clears what the change would clear', async () => {
    const wanted = await newSigner('wanted')
    const path = `/auth-policies/${await admin.createPolicy({
      secondary: { requireExtJwt: wanted },
    })}`
    const reply = await admin.call('POST', `${path}/what-if`, {
      secondary: { requireExtJwt: null },
    })
    assert.deepEqual(reply.json().data?.changed, ['secondary'], reply.text)
  })

  await t.test('an empty claim and null roles say nothing about a CA', async () => {
    const claim = { location: 'SAN_URI', matcher: 'SCHEME', matcherCriteria: 'spiffe' }
    for (const externalIdClaim of [undefined, claim]) {
      const { pem: certPem } = await tool.makeCa()
      const id = await admin.createCa({ certPem, identityRoles: ['r'], externalIdClaim })
      const before = await admin.get(`/cas/${id}`)
      const change = { externalIdClaim: {}, identityRoles: null, isAuthEnabled: false }
      await admin.act('PATCH', `/cas/${id}`, change)
      const { updatedAt, ...after } = await admin.get(`/cas/${id}`)
      const { updatedAt: _, ...expected } = { ...before, isAuthEnabled: false }
      assert.deepEqual(after, expected)
    }
    const { pem: certPem } = await tool.makeCa()
    await admin.createCa({ certPem, externalIdClaim: {}, identityNameFormat: '' })
  })

  await t.test('null for the password says nothing, in the change of the own one too', async () => {
    const person = await admin.createIdentity({ name: 'zoe', password: 'a password of my own' })
    const { authenticators } = await admin.get(`/identities/${person.id}`)
    const path = `/authenticators/${authenticators.updb.id}`
    await admin.act('PATCH', path, { username: 'zoe-2', password: null, unknown: null })
    const token = await legacyToken(service, { ...person, username: 'zoe-2' })
    const reply = await service.call(`/edge/client/v1/current-identity${path}`, {
      method: 'PATCH',
      ...ztSession(token),
      json: { currentPassword: person.password, username: 'ZOE-2', password: null, unknown: null },
    })
    assert.equal(reply.status, 200, reply.text)
  })

  await t.test('what is not known is refused unless it is null', async () => {
    const { id } = await admin.createIdentity({ name: 'unknown' })
    const reply = await admin.call('PATCH', `/identities/${id}`, { unknown: '' })
    assertRefused(reply, 400, 'COULD_NOT_VALIDATE', 'unknown')
  })
})
