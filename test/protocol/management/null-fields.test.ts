/**
 * What null means in a PATCH: it clears an optional field (API 1, D-121), and is refused for a required field and for
 * one that does not exist, as in any other write (D-309).
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openOpenssl } from '../../support/certificates/openssl.ts'
import { bearer } from '../../support/login/login.ts'
import { administrate, assertRefused, logInAs } from '../../support/management.ts'
import { startService } from '../../support/service.ts'

test('D-309: a PATCH refuses null for a field that does not exist or is required', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const tool = await openOpenssl()
  t.after(() => tool.close())
  const ada = await admin.createIdentity({ password: 'a password of my own' })
  const { authenticators } = await admin.get(`/identities/${ada.id}`)
  const identity = `/identities/${ada.id}`
  const updb = `/authenticators/${authenticators.updb.id}`
  const policy = `/auth-policies/${await admin.createPolicy()}`
  const issuer = 'https://idp.example'
  const signer = `/external-jwt-signers/${await admin.createSigner({ issuer })}`
  const ca = `/cas/${await admin.createCa({ certPem: (await tool.makeCa()).pem })}`

  for (const [path, body, field] of [
    [identity, { bar: null }, 'bar'],
    [identity, { id: null, createdAt: null }, 'id'],
    [identity, { enrollment: null }, 'enrollment'],
    [identity, { name: null }, 'name'],
    [updb, { lockedUntil: null }, 'lockedUntil'],
    [updb, { certPem: null }, 'certPem'],
    [updb, { password: null }, 'password'],
    [updb, { username: null }, 'username'],
    [policy, { primary: { updb: { qq: null } } }, 'primary.updb.qq'],
    [policy, { primary: { pin: null } }, 'primary.pin'],
    [policy, { secondary: { qq: null } }, 'secondary.qq'],
    [signer, { fingerprint: null }, 'fingerprint'],
    [ca, { verificationToken: null }, 'verificationToken'],
    [ca, { externalIdClaim: { location: 'SAN_URI', qq: null } }, 'externalIdClaim.qq'],
  ] as const) {
    await t.test(`${path.split('/')[1]} ${JSON.stringify(body)}`, async () => {
      assertRefused(await admin.call('PATCH', path, body), 400, 'COULD_NOT_VALIDATE', field)
    })
  }

  await t.test('so does the preview of a change', async () => {
    const preview = await admin.call('POST', `${policy}/what-if`, { zz: null })
    assertRefused(preview, 400, 'COULD_NOT_VALIDATE', 'zz')
  })

  await t.test('and a PATCH of the own password', async () => {
    const { access_token } = await logInAs(service, ada)
    for (const field of ['lockedUntil', 'password']) {
      const reply = await service.call(`/edge/client/v1/current-identity${updb}`, {
        method: 'PATCH',
        ...bearer(access_token),
        json: { currentPassword: ada.password, [field]: null },
      })
      assertRefused(reply, 400, 'COULD_NOT_VALIDATE', field)
    }
  })

  await t.test('null still clears what is optional, whether it is set or not', async () => {
    for (const [path, body] of [
      [identity, { externalId: null, tags: null, appData: null, authPolicyId: null }],
      [updb, { identityId: null, tags: null }],
      [policy, { primary: { passkey: null, cert: { bindTokens: null } }, secondary: null }],
      [signer, { certPem: null, kid: null, scopes: null, externalAuthUrl: null }],
      [ca, { externalIdClaim: null, identityRoles: null }],
    ] as const) {
      const reply = await admin.call('PATCH', path, body)
      assert.equal(reply.status, 200, reply.text)
    }
  })
})
