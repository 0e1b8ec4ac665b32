/** `latchkey run`: runs the service. */

import type { Instance, InstanceOptions } from '../../app/core.ts'
import { type OpenedHome, openHome } from '../../app/installation/home.ts'
import { createLog } from '../../app/logging.ts'
import { workersOf } from '../../app/workers/count.ts'
import { EndedWorker } from '../../app/workers/ended-worker.ts'
import type { Log } from '../../base/log.ts'
import { lowerPoolPriority } from '../../base/node/pool-priority.ts'
import { releaseMemoryWhenIdle } from '../../base/node/release-memory.ts'
import { systemRandom } from '../../base/secrets/random.ts'
import { systemClock } from '../../base/time/clock.ts'
import { type Duration, seconds } from '../../base/time/duration.ts'
import { endsWithin } from '../../base/time/within.ts'
import { describeAdjustment } from '../../config/durations.ts'
import { createGeneratedPassword } from '../home/generated-password.ts'
import type { HomeOptions } from '../home/home-options.ts'
import { readyLines } from '../home/ready-lines.ts'
import { withWaysOn } from '../home/ways-on.ts'
import { EXIT, type ExitCode, type Io } from '../terminal/io.ts'
import { listenForSignals, type Signals } from '../terminal/signals.ts'

const START_LIMIT: Duration = seconds(5)

const SECRET_REPLACED =
  'the installation secret was replaced; stopping, to be started with the new one'
const DATABASE_RESTORED = 'the database was restored from a backup; stopping, to be started again'

/** Tests pass a cheaper `hashStrength`; no option, variable or configuration key reaches it (D-276). */
export async function runService(
  options: HomeOptions,
  io: Io,
  hashStrength?: InstanceOptions['hashStrength'],
): Promise<ExitCode> {
  const signals = listenForSignals(systemClock)
  const opened = await openHome(options).catch((error) => {
    throw withWaysOn(error, { isNew: true, ...options })
  })
  const { config, adjustments } = opened
  const log = createLog(config.log)
  for (const adjustment of adjustments) log.warn({ ...adjustment }, describeAdjustment(adjustment))
  warnAboutUnused(opened, options, log)

  const password = createGeneratedPassword(io, config.home)
  // Even if the start fails, or is ended: it is set by then.
  process.once('exit', password.show)
  const starting = start(options, opened, {
    config,
    adminPassword: options.environment.adminPassword,
    clock: systemClock,
    random: systemRandom,
    log,
    handOver: password.take,
    hashStrength,
  }).catch((error) => {
    password.show()
    throw withWaysOn(error, { ...opened, ...options, file: opened.file })
  })
  const instance = await unlessStopped(starting, signals, log)
  if (instance === undefined) {
    log.info({}, 'stopped')
    return EXIT.ok
  }
  log.info({ baseUrls: instance.listeners.flatMap(({ baseUrls }) => baseUrls) }, 'ready')
  for (const line of readyLines(instance, opened)) io.out(line)
  password.show()
  process.off('exit', password.show)
  lowerPoolPriority()
  releaseMemoryWhenIdle()

  signals.onHangup(() => {
    log.info({}, 'looking for newer certificates')
    instance.reopenAuditOutput()
    instance
      .renewCertificates()
      .catch((error) => log.error({ err: error }, 'a certificate could not be renewed'))
  })
  const signal = await Promise.race([
    signals.stop,
    instance.secretReplaced.then(() => SECRET_REPLACED),
    instance.databaseRestored.then(() => DATABASE_RESTORED),
  ])
  const isAgain = signal === SECRET_REPLACED || signal === DATABASE_RESTORED
  if (isAgain) log.error({}, signal)
  else log.info({ signal }, 'stopping')
  await instance.stop()
  log.info({}, 'stopped')
  return isAgain ? EXIT.again : EXIT.ok
}

/** Loads only the code that this process needs: a supervisor answers no requests. */
async function start(
  { home, file, port, environment }: HomeOptions,
  { tree, override }: OpenedHome,
  options: InstanceOptions,
): Promise<Instance> {
  const workers = workersOf(options.config)
  if (workers === 1) {
    const { startInstance } = await import('../../app/instance.ts')
    return startInstance(options)
  }
  const { startSupervisor } = await import('../../app/workers/supervisor.ts')
  const variables = environment.forWorkers()
  const wanted = override === undefined ? undefined : { address: environment.address, port }
  return startSupervisor({ ...options, workers, home, file, tree, wanted, variables })
}

/** D-337: whatever the operator has set takes effect, or the service says that it does not. */
function warnAboutUnused(
  { override, namedVariables, file }: OpenedHome,
  { environment }: HomeOptions,
  log: Log,
): void {
  if (override !== undefined)
    log.warn({ ...override, file }, 'the address is overridden for this run')
  const unknown = environment.unknownVariables(namedVariables)
  if (unknown.length > 0) {
    log.warn({ variables: unknown }, 'unknown environment variables have no effect')
  }
}

/**
 * A start may be waiting for a database that does not respond. Do not wait for it if the service should stop anyway.
 * Returns undefined if the signal has ended the start.
 */
async function unlessStopped(
  starting: Promise<Instance>,
  signals: Pick<Signals, 'stop'>,
  log: Log,
): Promise<Instance | undefined> {
  const signal = await Promise.race([
    signals.stop,
    starting.then(
      () => undefined,
      () => undefined,
    ),
  ])
  if (signal === undefined) return starting
  if (!(await endsWithin(START_LIMIT, starting))) {
    log.error({ signal }, 'stopped before the start was complete')
    // Connections and files that the start has open would keep the process alive.
    process.exit(EXIT.failed)
  }
  return starting.catch((error) => {
    // A terminal sends Ctrl-C to the workers too. It ends a worker that has not run any of our code yet.
    if (!(error instanceof EndedWorker)) throw error
    log.info({ signal }, 'stopping')
    return undefined
  })
}
