/**
 * The processes of the workers: started, replaced when they end, stopped. A worker that ends soon after its start is
 * replaced later each time, so that one that cannot run does not keep the machine busy (D-292).
 */
import { type ChildProcess, fork } from 'node:child_process'
import { getCompileCacheDir } from 'node:module'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Log } from '../../base/log.ts'
import type { Clock } from '../../base/time/clock.ts'
import { type Duration, milliseconds, seconds } from '../../base/time/duration.ts'
import { endsWithin } from '../../base/time/within.ts'
import { childEnvironment } from '../../config/environment.ts'
import type { Family } from '../../telemetry/families.ts'
import { RefusedStart } from '../installation/private-files.ts'
import { type Channel, ChannelClosed, type Handlers, openChannel, type Peer } from './channel.ts'
import { EndedWorker } from './ended-worker.ts'
import type { StartedWorker, StartWorker, ToSupervisor, ToWorker } from './messages.ts'

export interface RunningWorker {
  /** From 1; the one that replaces a worker has the same number. */
  readonly number: number
  readonly channel: Channel<ToWorker>
  /** D-294: ends the process, because it does not answer. One that is still starting, or stopping, has time. */
  replace(): void
}

export interface Pool {
  /** Starts all of them. Rejects with the first failure, EndedWorker or that of a worker, after which none runs. */
  start(): Promise<StartedWorker>
  /** Those that answer requests. */
  running(): readonly RunningWorker[]
  /** Those, and the ones that are starting: they must miss nothing that happens meanwhile. */
  everyone(): readonly RunningWorker[]
  restarts(): number
  /** Lets every worker finish its requests. Kills those that do not end within `limit`. */
  stop(limit: Duration): Promise<void>
}

export interface PoolOptions {
  readonly workers: number
  /** The questions of one worker; `end` is called when its process has ended. */
  readonly attend: (number: number) => { handlers: Handlers<ToSupervisor>; end(): void }
  /** What a worker needs to start, once that is known. */
  readonly startOrder: (number: number) => Promise<StartWorker>
  /** Called for each worker that has started. Returns what to do when it is gone. */
  readonly onRunning: (worker: RunningWorker) => () => void
  /** The last values of the metrics of a worker that was stopped. */
  readonly onStopped: (number: number, last: readonly Family[]) => void
  readonly clock: Pick<Clock, 'uptime'>
  readonly log: Pick<Log, 'info' | 'error'>
}

/** A worker that has run for this long was well: the next one starts at once. */
const WELL_AFTER: Duration = seconds(60)
const FIRST_PAUSE: Duration = milliseconds(100)
const LONGEST_PAUSE: Duration = seconds(30)
/** D-386: for glibc, which otherwise keeps the memory that each thread has needed at the start. */
const ONE_ARENA = { MALLOC_ARENA_MAX: '1' }

export function restartPause(deathsInARow: number): Duration {
  if (deathsInARow <= 1) return milliseconds(0)
  return milliseconds(Math.min(FIRST_PAUSE * 2 ** (deathsInARow - 2), LONGEST_PAUSE))
}

export function createPool(options: PoolOptions): Pool {
  const { workers, clock, log } = options
  const processes = new Map<number, ChildProcess>()
  const everyone = new Map<number, RunningWorker>()
  const running = new Map<number, RunningWorker>()
  const pauses = new Set<NodeJS.Timeout>()
  let restarts = 0
  let isStopping = false

  /** Resolves when the worker answers requests; replaces it when its process ends later. */
  async function begin(number: number, deathsBefore: number): Promise<StartedWorker> {
    const child = forkWorker()
    const refusal = refusalOf(child)
    processes.set(number, child)
    const beganAt = clock.uptime()
    const { handlers, end } = options.attend(number)
    const channel = openChannel<ToSupervisor, ToWorker>(child as Peer, handlers)
    const worker: RunningWorker = {
      number,
      channel,
      replace() {
        if (running.get(number) !== worker || isStopping) return
        log.error(
          { silentWorker: number, pid: child.pid },
          'a worker does not answer; it is killed',
        )
        child.kill('SIGKILL')
      },
    }
    let hasStarted = false
    let leave = () => {}
    function forget(): void {
      if (processes.get(number) === child) processes.delete(number)
      running.delete(number)
      if (everyone.get(number) === worker) everyone.delete(number)
      leave()
      end()
    }
    refusal.catch(forget)
    child.once('exit', (code, signal) => {
      forget()
      if (isStopping || !hasStarted) return
      const wasWell = clock.uptime() - beganAt >= WELL_AFTER
      replace(number, wasWell ? 1 : deathsBefore + 1, { code, signal })
    })
    async function start(): Promise<StartedWorker> {
      const order = await options.startOrder(number)
      // From here on it reads the database; changes that are not there yet must be sent to it.
      everyone.set(number, worker)
      return channel.ask('start', order)
    }
    return Promise.race([refusal, start()]).then(
      (started) => {
        hasStarted = true
        running.set(number, worker)
        leave = options.onRunning(worker)
        log.info({ startedWorker: number, pid: child.pid }, 'a worker is ready')
        return started
      },
      async (error) => {
        child.kill('SIGKILL')
        if (!(error instanceof ChannelClosed)) throw error
        await hasEnded(child)
        throw new EndedWorker(number, child.signalCode ?? `exit code ${child.exitCode}`)
      },
    )
  }

  function replace(number: number, deaths: number, why: object): void {
    restarts += 1
    const pause = restartPause(deaths)
    log.error(
      { endedWorker: number, ...why, deathsInARow: deaths, pauseMilliseconds: pause },
      'a worker has ended; it is replaced',
    )
    const timer = setTimeout(() => {
      pauses.delete(timer)
      begin(number, deaths).catch((error) => {
        if (!isStopping) replace(number, deaths + 1, { err: error })
      })
    }, pause)
    pauses.add(timer)
  }

  async function stopOne(worker: RunningWorker): Promise<void> {
    const last = await worker.channel.ask('stop', null)
    options.onStopped(worker.number, last)
  }

  async function stop(limit: Duration): Promise<void> {
    isStopping = true
    for (const timer of pauses) clearTimeout(timer)
    const children = [...processes]
    const ended = Promise.all(
      children.map(([number, child]) => {
        const worker = running.get(number)
        // One that is still starting has answered nothing.
        if (worker === undefined) child.kill('SIGKILL')
        else stopOne(worker).catch(() => {})
        return hasEnded(child)
      }),
    )
    if (await endsWithin(limit, ended)) return
    log.error({}, 'a worker did not end in time; it is killed')
    await killAll(children.map(([, child]) => child))
  }

  return {
    async start() {
      const numbers = Array.from({ length: workers }, (_, i) => i + 1)
      const starting = numbers.map((number) => begin(number, 0))
      try {
        const [first] = await Promise.all(starting)
        if (first === undefined) throw new Error('there is no worker')
        return first
      } catch (error) {
        isStopping = true
        await Promise.allSettled(starting)
        await killAll([...processes.values()])
        throw error
      }
    },
    running: () => [...running.values()],
    everyone: () => [...everyone.values()],
    restarts: () => restarts,
    stop,
  }
}

/** Nothing is lost: they have answered nothing, or had their time to finish. */
async function killAll(children: readonly ChildProcess[]): Promise<void> {
  for (const child of children) child.kill('SIGKILL')
  await Promise.all(children.map(hasEnded))
}

const TOO_MANY = 'this user or service has too many processes (ulimit -u, or TasksMax= of systemd)'

/**
 * Rejects if the system does not create the process, as when the user has too many. There is no `exit` event then, and
 * without a listener the error would end this process too.
 */
function refusalOf(child: ChildProcess): Promise<never> {
  return new Promise((_resolve, reject) => {
    child.on('error', (cause) => {
      if (child.pid !== undefined) return
      const { code, message } = cause as NodeJS.ErrnoException
      const why = code === 'EAGAIN' ? TOO_MANY : message
      reject(new RefusedStart(`a worker process cannot be created: ${why}`, { cause }))
    })
  })
}

function hasEnded(child: ChildProcess): Promise<void> {
  if (child.pid === undefined) return Promise.resolve()
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve()
  return new Promise((resolve) => child.once('exit', () => resolve()))
}

function forkWorker(): ChildProcess {
  // The same suffix as this file: source in a checkout, JavaScript in a package.
  const name = import.meta.url.endsWith('.ts') ? './worker-process.ts' : './worker-process.js'
  const cache = getCompileCacheDir()
  return fork(fileURLToPath(new URL(name, import.meta.url)), [], {
    env: childEnvironment(
      // The cache of the program that was started: it halves the work of loading.
      cache === undefined ? {} : { NODE_COMPILE_CACHE: dirname(cache) },
      ONE_ARENA,
    ),
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
}
