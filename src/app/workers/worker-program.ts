/**
 * The program of a worker, which `worker-process.ts` starts. It loads everything, waits for the message that tells it what
 * to be, and ends with the supervisor, so that no orphan keeps serving.
 */
import { lowerPoolPriority } from '../../base/node/pool-priority.ts'
import { releaseMemoryWhenIdle } from '../../base/node/release-memory.ts'
import { ChannelClosed, type Handlers, openChannel } from './channel.ts'
import type { ToSupervisor, ToWorker } from './messages.ts'
import { startWorker, type Worker } from './worker.ts'

let worker: Worker | undefined

function running(): Worker {
  if (worker === undefined) throw new Error('this worker has not started yet')
  return worker
}

/** What came while this worker was starting: it may have been too late for its first look into the database. */
const missed: ((worker: Worker) => Promise<void>)[] = []

async function learn(lesson: (worker: Worker) => Promise<void>): Promise<void> {
  if (worker === undefined) missed.push(lesson)
  else await lesson(worker)
}

const handlers: Handlers<ToWorker> = {
  async start(start) {
    const started = await startWorker(start, supervisor)
    for (let next = missed.shift(); next !== undefined; next = missed.shift()) await next(started)
    worker = started
    lowerPoolPriority()
    releaseMemoryWhenIdle()
    return { listeners: started.listeners }
  },
  connection({ listener }, socket) {
    // The socket is missing if it was closed on the way.
    if (socket !== undefined) running().accept(listener, socket)
  },
  news: (news) => learn((one) => one.learn(news)),
  async state(state) {
    await learn((one) => one.follow(state))
    return { connections: worker?.connections() ?? 0 }
  },
  renewCertificates: () => running().renewCertificates(),
  position: () => running().position(),
  snapshot: async () => worker?.snapshot() ?? [],
  async stop() {
    const last = (await worker?.stop()) ?? []
    // After this answer, nothing is left to do.
    setImmediate(() => process.disconnect?.())
    return last
  },
}

const channel = openChannel<ToWorker, ToSupervisor>(process as never, handlers)
void channel.closed.then(() => process.exit())

/**
 * A write to a dead supervisor fails before its end is announced. The worker ends here too: a request that waits for the
 * supervisor would otherwise be answered with an internal error, although it may have been committed.
 */
const supervisor: typeof channel = {
  ...channel,
  ask: (name, body, socket) =>
    channel.ask(name, body, socket).catch((error) => {
      if (error instanceof ChannelClosed) process.exit()
      throw error
    }),
}
