/** A router that takes nothing of what is sent to it any more. D-196, D-42. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { endMany, enrollRouter, openFeed, readyFeed } from '../../support/edge/feed-client.ts'
import { eventually } from '../../support/eventually.ts'
import { administrate } from '../../support/management.ts'
import { type Monitored, startMonitored } from '../../support/monitoring/monitoring.ts'

const point = { interface: '127.0.0.1:0', address: 'localhost:0' }
const web = [
  {
    name: 'apis',
    bindPoints: [point],
    // No connection ends for another reason; on a busy machine one that reads may stand still for a second.
    options: { timeouts: { write: '4s', idle: '1h' } },
    apis: [{ binding: 'edge-client' }, { binding: 'edge-management' }],
  },
  {
    name: 'monitoring',
    bindPoints: [point],
    options: { timeouts: { idle: '1h' } },
    apis: [{ binding: 'metrics' }],
  },
]

async function openConnections(scrape: Monitored['scrape']): Promise<number> {
  const [sample] = (await scrape()).get('latchkey_connections_open')?.samples ?? []
  assert.ok(sample)
  return sample.value
}

// Attack: the first picture has no limit of its own, and what is not read of it would stay in memory for ever.
test('D-196: a router that stops reading is cut after timeouts.write; one that reads stays', async (t) => {
  const { service, scrape } = await startMonitored(t, { config: { web } })
  const router = await enrollRouter(t, await administrate(service))
  const quick = await readyFeed(t, service, router)
  // More than the buffers of the two kernels take.
  for (let round = 0; round < 9; round++) {
    await quick.ended(await endMany(service, `round-${round}`, 2))
  }
  const stalled = await openFeed(t, service, router)
  stalled.response.pause()
  const open = await openConnections(scrape)
  await eventually(
    async () => (await openConnections(scrape)) < open || undefined,
    'the end of the connection',
  )
  stalled.response.resume()
  assert.equal(await stalled.closed, 'cut')
  assert.ok(stalled.subjects().length < quick.subjects().length, 'it did not get the whole picture')
  // Many seconds without anything but heartbeats do not count against the other one.
  const beats = () => quick.lines.filter(({ type }) => type === 'heartbeat').length
  const before = beats()
  await eventually(() => beats() > before + 1 || undefined, 'more heartbeats')
})
