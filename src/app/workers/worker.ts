/**
 * One worker: a process that answers requests and does nothing else by itself. It has no timers: what changes comes from
 * the supervisor (D-288, D-289).
 */
import type { Socket } from 'node:net'
import { systemRandom } from '../../base/secrets/random.ts'
import { systemClock } from '../../base/time/clock.ts'
import { milliseconds } from '../../base/time/duration.ts'
import { endsWithin } from '../../base/time/within.ts'
import { readEnvironment } from '../../config/environment.ts'
import { loadConfig } from '../../config/load.ts'
import type { Position } from '../../domain/sessions/confirming/position.ts'
import type { News, Others } from '../../domain/sessions/ending/tell-copies.ts'
import type { Family } from '../../telemetry/families.ts'
import { METRICS_CONTENT_TYPE } from '../../telemetry/metrics.ts'
import type { AuditOutput } from '../audit-output.ts'
import { type Core, DRAIN, LAST_ROUNDS, openCore } from '../core.ts'
import { createLog } from '../logging.ts'
import { type Serving, serve } from '../serving.ts'
import type { Channel } from './channel.ts'
import { authoritiesOf, keysOf, machineTime } from './fingerprints.ts'
import type { StartedWorker, StartWorker, State, ToSupervisor } from './messages.ts'
import { askForLimits } from './shared-limits.ts'

export interface Worker extends StartedWorker {
  accept(listener: number, socket: Socket): void
  learn(news: News): Promise<void>
  follow(state: State): Promise<void>
  renewCertificates(): Promise<void>
  /** How many are open. */
  connections(): number
  position(): Position
  snapshot(): Promise<readonly Family[]>
  /** Answers the requests that have come, for at most ten seconds. Returns the last values of the metrics. */
  stop(): Promise<readonly Family[]>
}

export async function startWorker(
  start: StartWorker,
  supervisor: Channel<ToSupervisor>,
): Promise<Worker> {
  const { home, file, tree, wanted, variables, workers } = start
  const { config } = await loadConfig({
    home,
    tree,
    wanted,
    environment: readEnvironment(variables),
    ...(file === undefined ? {} : { file }),
  })
  const log = createLog(config.log, undefined, { worker: start.worker })
  const others: Others = { tell: (news) => supervisor.ask('news', news) }
  const core = await openCore({
    config,
    adminPassword: undefined,
    clock: systemClock,
    random: systemRandom,
    log,
    handOver: async () => {
      throw new Error('a worker does not install')
    },
    hashStrength: start.hashStrength,
    auditOutput: outputOf(config.audit.output.kind, supervisor),
    limits: askForLimits(supervisor),
    others,
    askKeySet: (wanted) => supervisor.ask('keySet', wanted),
    processes: workers,
    role: 'worker',
  })
  try {
    const open = await serve(core, {
      alone: false,
      openPorts: start.openPorts,
      shownMetrics: {
        contentType: METRICS_CONTENT_TYPE,
        render: () => supervisor.ask('metrics', null),
      },
    })
    return assemble(core, open)
  } catch (error) {
    await core.close()
    throw error
  }
}

function assemble(core: Core, open: Serving): Worker {
  const { ports, authorities, metrics } = core
  const { endedSessions, rules, signingKeys, legacySessionCache } = ports
  return {
    listeners: open.listeners.map(({ name, baseUrls }) => ({ name, baseUrls })),
    accept: open.accept,
    renewCertificates: () => open.renewCertificates(),
    connections: () => open.connections(),
    snapshot: () => metrics.snapshot(),
    position: () => endedSessions.position(),

    async learn({ endings, hasNewRules, hasNewKeys, changedSession }) {
      for (const ending of endings) endedSessions.add(ending)
      await Promise.all([
        hasNewRules ? rules.refresh() : undefined,
        hasNewKeys ? signingKeys.refresh() : undefined,
        changedSession === undefined ? undefined : legacySessionCache.forgetHere(changedSession),
      ])
    },

    async follow({ sentAt, endings, rules: seen, keys, authorities: cas }) {
      const onTheWay = Math.max(0, machineTime() - sentAt)
      if (endings !== undefined) {
        endedSessions.learn(endings.rows, milliseconds(endings.age + onTheWay))
      }
      await Promise.all([
        seen && rules.confirm({ ...seen, age: milliseconds(seen.age + onTheWay) }),
        keysOf(core) === keys ? undefined : signingKeys.refresh(),
        authoritiesOf(core) === cas ? undefined : authorities.refresh().then(open.nameOwnCas),
      ])
    },

    async stop() {
      open.announceStop()
      await open.close(DRAIN)
      await endsWithin(LAST_ROUNDS, ports.routerPresence.flush())
      const last = await metrics.snapshot()
      await core.close()
      return last
    },
  }
}

/** The supervisor writes the events of all workers, so that no two processes write to one file. */
function outputOf(
  kind: 'none' | 'stdout' | 'file',
  supervisor: Channel<ToSupervisor>,
): AuditOutput {
  return {
    write(events) {
      if (kind === 'none' || events.length === 0) return
      // The database has the events, whatever happens to the lines.
      supervisor.ask('events', { events }).catch(() => {})
    },
    reopen() {},
    async close() {},
  }
}
