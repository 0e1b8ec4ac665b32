/**
 * Administrators at two instances at the same moment, on a database that really does things at once. What holds on
 * one instance must hold here, and nobody gets a 500 for having been second.
 */
import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import { rounds } from '../../support/chance/rounds.ts'
import type { Reply } from '../../support/http-client.ts'
import { type Administrator, administrate } from '../../support/management.ts'
import type { Service } from '../../support/service.ts'
import { type Installation, installation } from '../../support/stores/instances.ts'
import { migratedDatabase } from '../../support/stores/migrated-database.ts'
import { startPostgres } from '../../support/stores/postgres.ts'

const PASSWORD = 'a password of somebody'
const ROUNDS = rounds(4)

const postgres = await startPostgres()
after(() => postgres.stop())

interface Place {
  readonly service: Service
  readonly admin: Administrator
}

/** Two instances of one installation, and an administrator at each. */
async function twoPlaces(t: TestContext): Promise<readonly [Place, Place]> {
  const one: Installation = await installation(await migratedDatabase())
  const places: Place[] = []
  for (let i = 0; i < 2; i += 1) {
    const service = await one.start(t)
    places.push({ service, admin: await administrate(service) })
  }
  return places as [Place, Place]
}

const statuses = (replies: readonly Reply[]) => replies.map(({ status }) => status).toSorted()

test('of two of one name at two instances one is made', async (t) => {
  const [here, there] = await twoPlaces(t)
  for (let round = 0; round < ROUNDS; round += 1) {
    const body = { name: `round ${round}`, type: 'Default', isAdmin: false }
    const replies = await Promise.all(
      [here, there].map(({ admin }) => admin.call('POST', '/identities', body)),
    )
    assert.deepEqual(statuses(replies), [201, 409])
  }
})

test('of two administrators who delete each other on two instances, one remains', async (t) => {
  const places = await twoPlaces(t)
  const store = await places[0].service.openStore()
  const first = await store.identities.list({ limit: 10, offset: 0 })
  let survivor = {
    id: String(first.rows[0]?.id),
    username: 'admin',
    password: 'correct horse battery',
  }
  for (let round = 0; round < ROUNDS; round += 1) {
    const [here, there] = places
    const admin = await administrate(here.service, survivor)
    const other = await admin.createIdentity({ isAdmin: true, password: PASSWORD })
    const second = await administrate(there.service, other)
    const how = round % 2 === 0 ? 'DELETE' : 'POST'
    const path = (id: string) =>
      how === 'DELETE' ? `/identities/${id}` : `/identities/${id}/disable`
    const [byFirst, bySecond] = await Promise.all([
      admin.call(how, path(other.id)),
      second.call(how, path(survivor.id)),
    ])
    const replies = [byFirst, bySecond]
    assert.equal(
      replies.filter(({ status }) => status === 200).length,
      1,
      replies.map((r) => r.text).join(),
    )
    const refused = replies.find(({ status }) => status !== 200)
    assert.ok([401, 409].includes(refused?.status ?? 0), String(refused?.text))
    if (bySecond.status === 200) survivor = other
    const left = await store.identities.list({ limit: 100, offset: 0 })
    const able = left.rows.filter((one) => one.isAdmin && one.disabledAt === undefined)
    assert.deepEqual(
      able.map(({ id }) => id),
      [survivor.id],
    )
  }
})

test('of a policy that is removed here and given away there one happens', async (t) => {
  const [here, there] = await twoPlaces(t)
  for (let round = 0; round < ROUNDS; round += 1) {
    const policy = await here.admin.createPolicy()
    const body = { name: `round ${round}`, type: 'Default', isAdmin: false, authPolicyId: policy }
    const [removed, made] = await Promise.all([
      here.admin.call('DELETE', `/auth-policies/${policy}`),
      there.admin.call('POST', '/identities', body),
    ])
    assert.ok(
      (made.status === 201 && removed.status === 409) ||
        (made.status === 400 && removed.status === 200),
      `${made.text} ${removed.text}`,
    )
  }
})

test('of a signer that is removed here and named by a policy there one happens', async (t) => {
  const [here, there] = await twoPlaces(t)
  for (let round = 0; round < ROUNDS; round += 1) {
    const signer = await here.admin.createSigner({ issuer: `https://idp.example/${round}` })
    const primary = { extJwt: { allowed: true, allowedSigners: [signer] } }
    const [removed, made] = await Promise.all([
      here.admin.call('DELETE', `/external-jwt-signers/${signer}`),
      there.admin.call('POST', '/auth-policies', { name: `round ${round}`, primary }),
    ])
    assert.ok(
      (made.status === 201 && removed.status === 409) ||
        (made.status === 400 && removed.status === 200),
      `${made.text} ${removed.text}`,
    )
  }
})
