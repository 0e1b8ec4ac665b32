/**
 * An instance with several processes (D-287, D-288): this one listens, supervises the workers, and does everything that
 * must be done once: preparing, following the database, rotation, renewal, cleaning up. Workers answer the requests.
 */
import { milliseconds, seconds } from '../../base/time/duration.ts'
import { endsWithin } from '../../base/time/within.ts'
import type { Position } from '../../domain/sessions/confirming/position.ts'
import { listenOnEach } from '../../https-server/listen-on-each.ts'
import { openAuditOutput } from '../audit-output.ts'
import { beginWork, type Work } from '../chores.ts'
import { createLimits } from '../compose/limits.ts'
import {
  type Core,
  caFileOf,
  DRAIN,
  type Instance,
  type InstanceOptions,
  type NamedListener,
  openCore,
} from '../core.ts'
import { RefusedStart } from '../installation/private-files.ts'
import { distinctInterfaces, explainListenError } from '../listen-places.ts'
import { certificateSource, createRenewal } from '../server-certificates.ts'
import { createDoor, type Door } from './door.ts'
import type { StartWorker } from './messages.ts'
import { createPool, type Pool } from './pool.ts'
import { createReports } from './reports.ts'
import { serveLimits } from './shared-limits.ts'
import { createSharedMetrics } from './shared-metrics.ts'

export type SupervisorOptions = InstanceOptions &
  Pick<StartWorker, 'workers' | 'home' | 'file' | 'tree' | 'wanted' | 'variables'>

/** The drain, and what a worker does after it. */
const POSITION_LIMIT = seconds(1)
const WORKERS_STOP = milliseconds(DRAIN + seconds(2))

export async function startSupervisor(options: SupervisorOptions): Promise<Instance> {
  const { config, clock, log, workers } = options
  const limits = createLimits(config, clock, workers)
  const prepared = Promise.withResolvers<Omit<StartWorker, 'worker'>>()
  prepared.promise.catch(() => {})
  const door = createDoor({ log })
  const auditOutput = await openAuditOutput(config.audit.output, { log, clock })
  const reports = createReports({ everyone: () => pool.everyone(), clock, log })
  const sharedMetrics = createSharedMetrics(() => pool.running())

  const pool: Pool = createPool({
    workers,
    clock,
    log,
    attend(number) {
      const { giveBackAll, ...handlers } = serveLimits(limits)
      return {
        handlers: {
          ...handlers,
          keySet: (wanted) => core?.ports.signerKeys.keySet(wanted) ?? {},
          news: (news) => reports.pass(number, news),
          events: ({ events }) => auditOutput.write(events),
          metrics: () => {
            // The age of every copy is among the metrics.
            reports.renew()
            return sharedMetrics.render()
          },
        },
        end() {
          giveBackAll()
          sharedMetrics.retire(number)
        },
      }
    },
    startOrder: async (number) => ({ ...(await prepared.promise), worker: number }),
    onRunning: (worker) =>
      door.addWorker({
        give(listener, socket) {
          reports.beforeConnection(worker)
          return worker.channel.ask('connection', { listener }, socket)
        },
      }),
    onStopped: (number, last) => sharedMetrics.keep(number, last),
  })
  // Workers load their code while this process prepares what they need.
  const starting = pool.start()
  starting.catch(() => {})

  let core: Core | undefined
  let work: Work | undefined
  try {
    core = await openCore({
      ...options,
      auditOutput,
      limits,
      others: reports.others,
      onEndingsRead: reports.noteEndings,
      processes: workers,
      role: 'first',
    })
    reports.follow(core)
    sharedMetrics.begin(core, { limits, restarts: () => pool.restarts() })
    const renewAll = await loadCertificates(core)
    const openPorts = await openDoor(door, options)
    const { home, file, tree, wanted, variables, hashStrength } = options
    prepared.resolve({ workers, home, file, tree, wanted, variables, openPorts, hashStrength })
    // The first worker that is ready answers requests, and must hear what this process reads, even if the others take long.
    work = await beginWork(
      core,
      {
        // The next report has the new fingerprint.
        onNewAuthorities() {},
        async renewCertificates() {
          if (await renewAll()) await showEverywhere(pool)
        },
        afterReading: (outcome) => reports.report(outcome),
      },
      () => appliedByAll(pool),
    )
    const { listeners } = await starting
    return assemble({ core, pool, door, listeners, work, renewAll })
  } catch (error) {
    prepared.reject(error)
    door.close()
    // Workers that are ready would keep this process alive. If they could not start, they have ended.
    await starting.then(
      () => pool.stop(WORKERS_STOP),
      () => {},
    )
    await work?.end()
    await (core?.close() ?? auditOutput.close())
    // A worker says why it refuses to start in the words of a single process.
    if (error instanceof Error && error.name === 'RefusedStart' && !(error instanceof RefusedStart))
      throw new RefusedStart(error.message, { cause: error })
    throw error
  }
}

/** Has every worker show the certificates that were renewed. */
async function showEverywhere(pool: Pool): Promise<void> {
  await Promise.all(pool.running().map(({ channel }) => channel.ask('renewCertificates', null)))
}

function assemble(parts: {
  readonly core: Core
  readonly pool: Pool
  readonly door: Door
  readonly listeners: readonly NamedListener[]
  readonly work: Work
  readonly renewAll: () => Promise<boolean>
}): Instance {
  const { core, pool, door, listeners, work, renewAll } = parts
  return {
    secretReplaced: work.secretReplaced,
    databaseRestored: work.databaseRestored,
    listeners,
    caFile: caFileOf(core.config),
    async renewCertificates() {
      await renewAll()
      await showEverywhere(pool)
    },
    reopenAuditOutput: () => core.auditOutput.reopen(),
    async stop() {
      door.close()
      await pool.stop(WORKERS_STOP)
      await work.end()
      await core.close()
    },
  }
}

/** What each worker has applied; undefined if one does not answer: its requests may not know an end yet. */
async function appliedByAll(pool: Pool): Promise<readonly Position[] | undefined> {
  // One that is still starting accepts no connection, and has read the database before it does.
  const asked = Promise.all(pool.running().map(({ channel }) => channel.ask('position', null)))
  const isAnswered = await endsWithin(POSITION_LIMIT, asked)
  return isAnswered ? asked.catch(() => undefined) : undefined
}

/** Creates the certificates that workers show. Returns a function that renews them and says whether one changed. */
async function loadCertificates(core: Core): Promise<() => Promise<boolean>> {
  const sources = core.config.listeners.map((listener) => certificateSource(listener, core))
  for (const source of sources) await source.load()
  return createRenewal(sources.map((source) => ({ source })))
}

/** Returns the port of each listener. */
async function openDoor(
  door: Door,
  { config, log }: Pick<SupervisorOptions, 'config' | 'log'>,
): Promise<readonly number[]> {
  const ports: number[] = []
  for (const [i, listener] of config.listeners.entries()) {
    const { name } = listener
    const listen = (at: Parameters<Door['listen']>[1]) => door.listen(i, at)
    ports.push(
      await listenOnEach(distinctInterfaces(listener), listen, { name, log }).catch((error) => {
        throw explainListenError(error, name)
      }),
    )
  }
  return ports
}
