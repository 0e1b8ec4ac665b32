/**
 * What an administrator does reaches a session at its next refresh at the latest. D-27, R047. What no call can change
 * yet is changed in the database.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { decodeJwt } from 'jose'
import { answerTo, INVALID } from '../../support/login/challenges.ts'
import {
  assertRefreshRefused,
  eventsOf,
  logInOffline,
  type OfflineTokens,
  refresh,
  refreshed,
} from '../../support/login/refresh.ts'
import { type Administrator, administrate, type CreatedIdentity } from '../../support/management.ts'
import { type Service, startService } from '../../support/service.ts'
import { sql } from '../../support/stores/sql.ts'

const PASSWORD = 'a perfectly fine password'

interface Person {
  readonly service: Service
  readonly admin: Administrator
  readonly identity: CreatedIdentity
  readonly tokens: OfflineTokens
}

async function person(service: Service, admin: Administrator, fields = {}): Promise<Person> {
  const identity = await admin.createIdentity({ password: PASSWORD, ...fields })
  const tokens = await logInOffline(service, {}, identity)
  return { service, admin, identity, tokens }
}

async function world(t: TestContext) {
  const service = await startService(t)
  return { service, admin: await administrate(service) }
}

const updb = { updb: { allowed: true } }
const totp = { secondary: { requireTotp: true } }

const givePolicy = ({ service, identity }: Person, policy: string) =>
  sql(service, `update identities set auth_policy_id = '${policy}' where id = '${identity.id}'`)

/** What ends the session at once, and what counts from the next refresh on. */
const CHANGES: Readonly<
  Record<string, { readonly isOver: boolean; readonly change: (person: Person) => unknown }>
> = {
  'is disabled': {
    isOver: true,
    change: ({ admin, identity }) =>
      admin.act('POST', `/identities/${identity.id}/disable`, { durationMinutes: 0 }),
  },
  'is deleted': {
    isOver: true,
    change: ({ admin, identity }) => admin.act('DELETE', `/identities/${identity.id}`),
  },
  'has its password removed': {
    isOver: true,
    change: async ({ admin, identity }) => {
      const own = await admin.get(`/identities/${identity.id}/authenticators`)
      await admin.act('DELETE', `/authenticators/${own[0].id}`)
    },
  },
  'is disabled behind our back': {
    isOver: false,
    change: ({ service, identity }) =>
      sql(service, `update identities set disabled_at = 1 where id = '${identity.id}'`),
  },
  'gets a policy without passwords': {
    isOver: false,
    change: async (one) => givePolicy(one, 'production'),
  },
  'gets a policy that demands a code': {
    isOver: false,
    change: async (one) => givePolicy(one, await one.admin.createPolicy({ ...totp })),
  },
  'gets a policy that demands an external JWT': {
    isOver: false,
    change: async (one) => {
      const signer = await one.admin.createSigner({ issuer: 'https://idp.example.org' })
      const secondary = { requireExtJwt: signer }
      await givePolicy(one, await one.admin.createPolicy({ primary: updb, secondary }))
    },
  },
}

test('R047: a refresh is refused', async (t) => {
  const { service, admin } = await world(t)
  for (const [what, { isOver, change }] of Object.entries(CHANGES)) {
    await t.test(`when the identity ${what}`, async () => {
      const one = await person(service, admin)
      const again = await refreshed(service, one.tokens.refresh_token)
      await change(one)
      assertRefreshRefused(await refresh(service, again.refresh_token))
      if (isOver) assert.equal(await answerTo(service, again.access_token), INVALID)
      const events = await eventsOf(service, String(decodeJwt(again.access_token)['z_asid']))
      assert.equal(events.includes('token.reused'), false, 'nobody is called a thief')
    })
  }

  await t.test('the refresh tokens of other identities are not affected', async () => {
    const [one, other] = [await person(service, admin), await person(service, admin)]
    await CHANGES['is disabled']?.change(one)
    assertRefreshRefused(await refresh(service, one.tokens.refresh_token))
    await refreshed(service, other.tokens.refresh_token)
  })
})

test('a refusal for what may change again spends nothing', async (t) => {
  const { service, admin } = await world(t)
  const one = await person(service, admin)
  await givePolicy(one, 'production')
  assertRefreshRefused(await refresh(service, one.tokens.refresh_token))
  await givePolicy(one, 'default')
  await refreshed(service, one.tokens.refresh_token)
})

test('R047: a disabled identity that is enabled again has to log in again', async (t) => {
  const { service, admin } = await world(t)
  const one = await person(service, admin)
  await CHANGES['is disabled']?.change(one)
  await admin.act('POST', `/identities/${one.identity.id}/enable`)
  assertRefreshRefused(await refresh(service, one.tokens.refresh_token))
  await logInOffline(service, {}, one.identity)
})

test('R047: name, external id, policy and admin status in new tokens are those of now', async (t) => {
  const { service, admin } = await world(t)
  const one = await person(service, admin)
  const before = decodeJwt(one.tokens.access_token)
  assert.deepEqual([before['z_ia'], before['z_ap'], before['z_eid']], [false, 'default', undefined])
  const policy = await admin.createPolicy()
  await givePolicy(one, policy)
  const { id } = one.identity
  await sql(
    service,
    `update identities set is_admin = 1, external_id = 'e-1', name = 'Renamed' where id = '${id}'`,
  )
  const { access_token, id_token } = await refreshed(service, one.tokens.refresh_token)
  const after = decodeJwt(access_token)
  assert.deepEqual([after['z_ia'], after['z_ap'], after['z_eid']], [true, policy, 'e-1'])
  assert.equal(decodeJwt(id_token)['name'], 'Renamed')
})
