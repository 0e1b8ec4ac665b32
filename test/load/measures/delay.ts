/** How much longer one caller waits while others refresh. */
import { Worker } from 'node:worker_threads'
import { runLoad } from '../generator/load.ts'
import { CONNECTIONS, prepareWorks } from '../generator/works.ts'
import { OPERATIONS } from '../operations.ts'
import type { Filled } from '../servers/people.ts'
import { median, spreadOf } from '../statistics.ts'
import { type Row, short } from '../table.ts'

const REFRESHING = new URL('./refreshing.ts', import.meta.url)

/** The rest of a `Filled` has functions and stays with its thread. */
export interface RefreshingOrder {
  readonly latchkey: Omit<Filled, 'stop'>
  readonly connections: number
}

/** Half of each round alone, half while others refresh: a moment of a busy machine hits both. */
export async function measureDelay(
  latchkey: Filled,
  { rounds, milliseconds }: { readonly rounds: number; readonly milliseconds: number },
): Promise<readonly Row[]> {
  const ratios: number[] = []
  const alone: number[] = []
  const among: number[] = []
  const { works, close } = await prepareWorks(latchkey, 'current-identity', { connections: 1 })
  const p50 = async () => (await runLoad(works, milliseconds / 2)).p50
  const load = await startRefreshing(latchkey)
  try {
    await p50()
    for (let round = 0; round < rounds; round++) {
      const before = await p50()
      await load.begin()
      const during = await p50()
      await load.pause()
      alone.push(before)
      among.push(during)
      ratios.push(during / before)
    }
  } finally {
    close()
    await load.stop()
  }
  const note = `${short(median(alone))} ms alone, ${short(median(among))} ms among them`
  const title = OPERATIONS.delay.title
  return [{ title, measured: spreadOf(ratios), unit: '×', target: { atMost: 2 }, note }]
}

/**
 * In a thread of its own: in the event loop of the caller that is measured, the other requests would delay it whatever the
 * server does.
 */
async function startRefreshing({ stop: _, ...latchkey }: Filled) {
  const order: RefreshingOrder = { latchkey, connections: CONNECTIONS }
  const worker = new Worker(REFRESHING, { workerData: order })
  const failed = Promise.withResolvers<never>()
  failed.promise.catch(() => {})
  worker.on('error', failed.reject)
  const told = () =>
    Promise.race([
      new Promise<void>((resolve) => worker.once('message', () => resolve())),
      failed.promise,
    ])
  await told()
  const tell = async (order: 'begin' | 'pause') => {
    const done = told()
    worker.postMessage(order)
    await done
  }
  return {
    begin: () => tell('begin'),
    pause: () => tell('pause'),
    stop: () => worker.terminate(),
  }
}
