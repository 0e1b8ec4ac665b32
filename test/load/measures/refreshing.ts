/** The thread that refreshes in the background of another measurement, between `begin` and `pause`. */
import { parentPort, workerData } from 'node:worker_threads'
import { runLoad } from '../generator/load.ts'
import { prepareWorks } from '../generator/works.ts'
import type { RefreshingOrder } from './delay.ts'

const { latchkey, connections }: RefreshingOrder = workerData
const stop = async () => {}
const { works } = await prepareWorks({ ...latchkey, stop }, 'refresh', { connections })
let isPaused = true
let running: Promise<unknown> = Promise.resolve()
parentPort?.on('message', async (order: 'begin' | 'pause') => {
  isPaused = order === 'pause'
  if (isPaused) await running
  else running = runLoad(works, Number.POSITIVE_INFINITY, () => isPaused)
  parentPort?.postMessage(order)
})
parentPort?.postMessage('ready')
