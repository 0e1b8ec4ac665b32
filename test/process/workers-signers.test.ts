/**
 * All workers have and show the same keys of a signer, whichever worker needed them first, and new keys are fetched as
 * soon as a single process would fetch them. API 4.5, R107, D-498.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { decodeJwt } from 'jose'
import { systemClock } from '../../src/base/time/clock.ts'
import { seconds } from '../../src/base/time/duration.ts'
import { newIdpKey, signJwt } from '../support/idp/external-idp.ts'
import { jwtLogin, registerIdp } from '../support/idp/jwt-login.ts'
import { eachWorker, startWorkers, type WorkerView } from '../support/kills/workers.ts'
import { administrate, administratorWith } from '../support/management.ts'

test('several workers have the same keys of a signer', async (t) => {
  const workers = await eachWorker(t, await startWorkers(t, 3))
  const [one, two, three] = workers
  assert.ok(one && two && three)
  const admin = await administrate(one)
  const issuer = 'https://idp.example/'
  const idp = await registerIdp(t, { clock: systemClock }, admin, { issuer })
  await admin.createIdentity({ externalId: 'alice' })
  const shownBy = async (worker: WorkerView) => {
    const { get } = administratorWith(worker, admin.token)
    const { lastFetchedAt, lastError, keys } = await get(`/external-jwt-signers/${idp.id}`)
    return { lastFetchedAt, lastError, kids: keys.map(({ kid }: { kid: string }) => kid) }
  }
  const unknown = { lastFetchedAt: null, lastError: null, kids: [] }
  assert.deepEqual(await Promise.all(workers.map(shownBy)), [unknown, unknown, unknown])

  await t.test('all workers use and show what was fetched for one of them', async () => {
    const jwt = await idp.jwt('alice')
    for (const worker of workers) assert.equal((await jwtLogin(worker, jwt)).status, 302)
    assert.equal(idp.server.fetches, 1)
    const [first, ...others] = await Promise.all(workers.map(shownBy))
    assert.deepEqual(first?.kids, ['a-key'])
    assert.deepEqual(others, [first, first])
  })

  await t.test('R107: a second later, every worker finds a new key', async () => {
    const key = await newIdpKey('the-next')
    idp.server.keys = [key.jwk]
    const jwt = await signJwt(key, decodeJwt(await idp.jwt('alice')))
    await sleep(seconds(1))
    for (const worker of [three, one, two]) assert.equal((await jwtLogin(worker, jwt)).status, 302)
    assert.equal(idp.server.fetches, 2)
    const [first, ...others] = await Promise.all(workers.map(shownBy))
    assert.deepEqual(first?.kids, ['the-next'])
    assert.deepEqual(others, [first, first])
  })

  await t.test('R107: an unknown kid at all workers at once causes one fetch', async () => {
    const invented = await signJwt(await newIdpKey('invented'), decodeJwt(await idp.jwt('alice')))
    await sleep(seconds(1))
    const replies = await Promise.all(workers.map((worker) => jwtLogin(worker, invented)))
    for (const reply of replies) assert.equal(reply.json().error.code, 'UNAUTHORIZED', reply.text)
    assert.equal(idp.server.fetches, 3)
  })
})
