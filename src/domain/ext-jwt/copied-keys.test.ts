/** The keys of signers in a worker, which copies them from its supervisor. API 4.5, R107, D-498. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock, NOON } from '../../../test/support/clocks/manual-clock.ts'
import { externalSigner, newIdpKey } from '../../../test/support/idp/external-idp.ts'
import { hours, milliseconds, minutes, seconds } from '../../base/time/duration.ts'
import { createSignerKeys, type SignerKeyCache } from './signer-keys.ts'

const ONE = await newIdpKey('one')
const TWO = await newIdpKey('two')
const SIGNER = externalSigner()
const UNKNOWN = 'no key of the signer matches the token'

/** The caches of a supervisor and of two workers. Messages between processes are copied as JSON. */
function world() {
  const clock = new ManualClock()
  const idp = { keys: [ONE.jwk], isDown: false, fetches: 0 }
  const supervisor = createSignerKeys({
    clock,
    async fetchJson() {
      idp.fetches += 1
      if (idp.isDown) throw new Error('it is down')
      return { keys: idp.keys }
    },
  })
  const channel = { isClosed: false }
  const worker = () =>
    createSignerKeys({
      clock,
      fetchJson: () => assert.fail('a worker fetches nothing'),
      async askKeySet(wanted) {
        if (channel.isClosed) throw new Error('the other process has ended')
        return JSON.parse(JSON.stringify(await supervisor.keySet(structuredClone(wanted))))
      },
    })
  return { clock, idp, channel, here: worker(), there: worker() }
}

async function find(cache: SignerKeyCache, kid: string): Promise<unknown> {
  const found = await cache.keyFor(SIGNER, { kid, alg: 'ES256' })
  return 'why' in found ? found.why : found.key.export({ format: 'jwk' }).x
}

test('workers share one fetch, and show the same status', async () => {
  const { here, there, idp } = world()
  assert.equal(await here.status(SIGNER), undefined)
  assert.equal(await find(here, 'one'), ONE.jwk.x)
  const keys = [{ kid: 'one', algorithms: ['ES256'] }]
  const shown = { lastFetchedAt: NOON, lastError: undefined, keys }
  assert.deepEqual(await there.status(SIGNER), shown)
  assert.deepEqual(await here.status(SIGNER), shown)
  assert.equal(await find(there, 'one'), ONE.jwk.x)
  assert.equal(idp.fetches, 1)
})

test('R107: unknown kids, at whichever workers, cause at most one fetch a second', async () => {
  // Attack: a flood of tokens with invented kids, over a connection to each worker.
  const { here, there, idp, clock } = world()
  await find(here, 'one')
  clock.pass(milliseconds(999))
  for (const cache of [here, there]) assert.equal(await find(cache, 'two'), UNKNOWN)
  assert.equal(idp.fetches, 1)
  idp.keys = [ONE.jwk, TWO.jwk]
  clock.pass(milliseconds(1))
  for (const cache of [there, here]) assert.equal(await find(cache, 'two'), TWO.jwk.x)
  assert.equal(idp.fetches, 2)
})

test('a new key at a worker whose copy is old works at once, if the last fetch was a second ago', async () => {
  const { here, there, idp, clock } = world()
  for (const cache of [here, there]) await find(cache, 'one')
  clock.pass(minutes(5))
  // Fetched in the background, for the other worker.
  await find(here, 'one')
  assert.equal(idp.fetches, 2)
  idp.keys = [TWO.jwk]
  clock.pass(seconds(1))
  assert.equal(await find(there, 'two'), TWO.jwk.x)
  assert.equal(idp.fetches, 3)
})

test('a withdrawn key is refused ten minutes after the fetch, not after the copy', async () => {
  const { here, there, idp, clock } = world()
  await find(here, 'one')
  clock.pass(minutes(9))
  assert.equal(await find(there, 'one'), ONE.jwk.x)
  assert.equal(idp.fetches, 1)
  idp.keys = [TWO.jwk]
  clock.pass(minutes(1))
  assert.equal(await find(there, 'one'), UNKNOWN)
  assert.equal(idp.fetches, 2)
})

test('R107: the last good set serves every worker through an outage, for a day after its fetch', async () => {
  const { here, there, idp, clock } = world()
  await find(here, 'one')
  idp.isDown = true
  clock.pass(hours(23))
  assert.equal(await find(there, 'one'), ONE.jwk.x)
  assert.equal((await here.status(SIGNER))?.lastError, 'it is down')
  clock.pass(hours(1))
  assert.equal(await find(there, 'one'), `${UNKNOWN}; the latest fetch failed: it is down`)
  idp.isDown = false
  clock.pass(seconds(1))
  assert.equal(await find(there, 'one'), ONE.jwk.x)
  assert.equal((await here.status(SIGNER))?.lastError, undefined)
})

test('a worker whose supervisor has ended keeps its copy', async () => {
  const { here, channel, clock } = world()
  await find(here, 'one')
  channel.isClosed = true
  clock.pass(minutes(5))
  assert.equal(await find(here, 'one'), ONE.jwk.x)
  assert.equal(
    await find(here, 'two'),
    `${UNKNOWN}; the latest fetch failed: the other process has ended`,
  )
})
