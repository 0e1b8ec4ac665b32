/** `latchkey run`: the service, from the first line to the last. */
import { openHome } from '../../app/home.ts'
import { type Instance, startInstance } from '../../app/instance.ts'
import { createLog } from '../../app/logging.ts'
import { systemClock } from '../../base/clock.ts'
import { systemRandom } from '../../base/random.ts'
import { describeAdjustment } from '../../config/durations.ts'
import { handOverPassword } from '../first-password.ts'
import type { HomeOptions } from '../home-options.ts'
import { EXIT, type ExitCode, type Io } from '../io.ts'

export async function runService(options: HomeOptions, io: Io): Promise<ExitCode> {
  const { config, adjustments } = await openHome(options)
  const log = createLog(config.log)
  for (const adjustment of adjustments) log.warn({ ...adjustment }, describeAdjustment(adjustment))

  const signals = listenForSignals()
  const instance = await startInstance({
    config,
    adminPassword: options.environment.adminPassword,
    clock: systemClock,
    random: systemRandom,
    log,
  })
  await handOverPassword(instance.firstPassword, config.home, io)
  for (const line of readyLines(instance)) io.out(line)
  log.info({ baseUrls: instance.listeners.flatMap(({ baseUrls }) => baseUrls) }, 'ready')

  const signal = await signals.next(() => {
    instance
      .renewCertificates()
      .catch((error) => log.error({ err: error }, 'no certificate was renewed'))
  })
  log.info({ signal }, 'stopping')
  await instance.stop()
  log.info({}, 'stopped')
  return EXIT.ok
}

/** What a person needs for the first call; the curl line works as it is pasted. */
function readyLines({ listeners, caFile }: Instance): readonly string[] {
  const base = listeners[0]?.baseUrls[0] ?? ''
  const trust = caFile === undefined ? '' : `--cacert ${caFile} `
  return [
    'Latchkey is ready.',
    `  base URL   ${base}`,
    ...(caFile === undefined ? [] : [`  CA file    ${caFile}`]),
    `  try it     curl ${trust}${base}/version`,
  ]
}

/** Collected from the start on: a signal that comes while the service starts is not lost. */
function listenForSignals() {
  const stop = Promise.withResolvers<NodeJS.Signals>()
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => {
      stop.resolve(signal)
      // A second one means now.
      process.once(signal, () => process.exit(EXIT.failed))
    })
  }
  return {
    /** The signal that ends the service. SIGHUP on the way calls `onHangup`. */
    next(onHangup: () => void): Promise<NodeJS.Signals> {
      process.on('SIGHUP', onHangup)
      return stop.promise
    },
  }
}
