/** Authentication policies: made, read, removed, and at work at once. API 3.3, 4.4. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AuthPolicyReply } from '../../../src/contract/management/auth-policies.ts'
import { beginLogin, submitPassword } from '../../support/login/login.ts'
import { administrate, assertRefused, logInAs } from '../../support/management.ts'
import { startService } from '../../support/service.ts'

const PASSWORD = 'a password of somebody'

test('authentication policies', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const create = (body: unknown) => admin.call('POST', '/auth-policies', body)

  await t.test(
    'API 4.4: a part that is left out is not allowed, and has its defaults',
    async () => {
      const made = await create({ name: 'passwords', primary: { updb: { allowed: true } } })
      assert.equal(made.status, 201, made.text)
      const { id } = made.json().data
      const body = (await admin.call('GET', `/auth-policies/${id}`)).json()
      assert.deepEqual(AuthPolicyReply.parse(body), body)
      const { primary, secondary, name, tags, _links } = body.data
      assert.deepEqual(
        { primary, secondary, name, tags, _links },
        {
          name: 'passwords',
          primary: {
            cert: { allowed: false, allowExpiredCerts: false, bindTokens: false },
            extJwt: { allowed: false, allowedSigners: [] },
            updb: {
              allowed: true,
              minPasswordLength: 8,
              maxAttempts: 10,
              lockoutDurationMinutes: 15,
            },
            passkey: { allowed: false },
          },
          secondary: {
            requireTotp: false,
            requirePasskey: false,
            requireTotpOrPasskey: false,
            requireExtJwt: null,
            requireBoundToken: false,
            requireExtJwtSigner: null,
          },
          tags: {},
          _links: { self: { href: `./auth-policies/${id}` } },
        },
      )
    },
  )

  await t.test('a policy without passwords has none', async () => {
    const policy = await admin.createPolicy({ primary: { cert: { allowed: true } } })
    const ada = await admin.createIdentity({ policy, password: PASSWORD })
    const { authRequestId } = await beginLogin(service)
    const { username, password } = ada
    const reply = await submitPassword(service, authRequestId, { username, password })
    assertRefused(reply, 401, 'INVALID_AUTH')
  })

  await t.test('everything that is said is kept', async () => {
    const [one, two] = [
      await admin.createSigner({ issuer: 'https://one.example' }),
      await admin.createSigner({ issuer: 'https://two.example' }),
    ]
    const said = {
      primary: {
        cert: { allowed: false, allowExpiredCerts: true, bindTokens: true },
        extJwt: { allowed: true, allowedSigners: [one, two] },
        updb: { allowed: true, minPasswordLength: 15, maxAttempts: 0, lockoutDurationMinutes: 0 },
        passkey: { allowed: true },
      },
      secondary: {
        requireTotp: true,
        requirePasskey: true,
        requireTotpOrPasskey: true,
        requireBoundToken: true,
        requireExtJwt: one,
      },
    }
    const id = await admin.createPolicy({ ...said, tags: { a: 1 } })
    const { primary, secondary, tags } = await admin.get(`/auth-policies/${id}`)
    assert.deepEqual(primary, said.primary)
    assert.deepEqual(secondary, { ...said.secondary, requireExtJwtSigner: one })
    assert.deepEqual(tags, { a: 1 })
  })

  await t.test('API 4.4: the second spelling is the first one', async () => {
    const signer = await admin.createSigner({ issuer: 'https://spelled.example' })
    for (const secondary of [
      { requireExtJwtSigner: signer },
      { requireExtJwt: signer, requireExtJwtSigner: signer },
    ]) {
      const id = await admin.createPolicy({ secondary })
      const read = (await admin.get(`/auth-policies/${id}`)).secondary
      assert.deepEqual(read, {
        requireTotp: false,
        requirePasskey: false,
        requireTotpOrPasskey: false,
        requireExtJwt: signer,
        requireBoundToken: false,
        requireExtJwtSigner: signer,
      })
    }
    const nothing = await admin.createPolicy({ secondary: { requireExtJwt: null } })
    assert.equal((await admin.get(`/auth-policies/${nothing}`)).secondary.requireExtJwt, null)
  })

  await t.test('names are unique, also against the built-in ones and at once', async () => {
    const primary = { cert: { allowed: true } }
    assertRefused(await create({ name: 'default', primary }), 409, 'ENTITY_NAME_IN_USE', 'name')
    const replies = await Promise.all([1, 2].map(() => create({ name: 'twice', primary })))
    assert.deepEqual(replies.map(({ status }) => status).toSorted(), [201, 409])
  })

  await t.test('an unused policy can be deleted, and its name can be used again', async () => {
    const id = await admin.createPolicy({ name: 'short-lived' })
    await admin.act('DELETE', `/auth-policies/${id}`)
    assertRefused(await admin.call('GET', `/auth-policies/${id}`), 404, 'NOT_FOUND')
    const gone = { name: 'x', type: 'Default', isAdmin: false, authPolicyId: id }
    const late = await admin.call('POST', '/identities', gone)
    assertRefused(late, 400, 'COULD_NOT_VALIDATE', 'authPolicyId')
    await admin.createPolicy({ name: 'short-lived' })
  })

  await t.test('a policy that identities use cannot be deleted until none does', async () => {
    const id = await admin.createPolicy()
    const ada = await admin.createIdentity({ policy: id })
    const refused = await admin.call('DELETE', `/auth-policies/${id}`)
    assertRefused(refused, 409, 'CAN_NOT_DELETE_REFERENCED_ENTITY')
    await admin.act('DELETE', `/identities/${ada.id}`)
    await admin.act('DELETE', `/auth-policies/${id}`)
  })

  await t.test('API 4.4: the built-in ones stay', async () => {
    for (const id of ['default', 'production']) {
      const reply = await admin.call('DELETE', `/auth-policies/${id}`)
      assertRefused(reply, 409, 'ENTITY_CAN_NOT_BE_DELETED')
    }
    const { primary } = await admin.get('/auth-policies/production')
    assert.equal(primary.updb.allowed, false)
  })

  await t.test('a policy counts from the moment of its answer', async () => {
    for (let i = 0; i < 5; i += 1) {
      const policy = await admin.createPolicy()
      const ada = await admin.createIdentity({ policy, password: PASSWORD })
      await logInAs(service, ada)
    }
  })

  await t.test('of a policy that is deleted and given away at once, one happens', async () => {
    for (let i = 0; i < 5; i += 1) {
      const id = await admin.createPolicy()
      const body = { name: `racer-${i}`, type: 'Default', isAdmin: false, authPolicyId: id }
      const [made, removed] = await Promise.all([
        admin.call('POST', '/identities', body),
        admin.call('DELETE', `/auth-policies/${id}`),
      ])
      assert.ok(
        (made.status === 201 && removed.status === 409) ||
          (made.status === 400 && removed.status === 200),
        `${made.text} ${removed.text}`,
      )
    }
  })
})
