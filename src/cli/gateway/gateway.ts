/**
 * `latchkey gateway`: runs the gateway in front of services, with the settings of its home and of the command line.
 * docs/router.md.
 */

import { createLog } from '../../app/logging.ts'
import { formatHostPort } from '../../base/host-port.ts'
import type { Log } from '../../base/log.ts'
import { systemRandom } from '../../base/secrets/random.ts'
import { systemClock } from '../../base/time/clock.ts'
import { type Duration, seconds } from '../../base/time/duration.ts'
import { describeAdjustment } from '../../config/durations.ts'
import { readEnvironment } from '../../config/environment.ts'
import { startGateway } from '../../gateway/gateway.ts'
import { createGatewayMetrics } from '../../gateway/monitoring/gateway-metrics.ts'
import { type Monitoring, startMonitoring } from '../../gateway/monitoring/monitoring.ts'
import { type LoadedSettings, loadGatewaySettings } from '../../gateway/settings/load.ts'
import { formatUpstreamUrl } from '../../gateway/settings/upstream-url.ts'
import { startRouter } from '../../router/router.ts'
import { EXIT, type ExitCode, type Io } from '../terminal/io.ts'
import { listenForSignals, type Signals } from '../terminal/signals.ts'
import { enrollGateway } from './enroll.ts'
import { type GatewayValues, readGiven } from './given.ts'
import { findPlace, type GatewayPlace } from './home.ts'
import { readIdentity, readListener } from './identity.ts'
import { keepUp } from './keep-up.ts'
import type { InUse } from './reload.ts'
import { explainTaken } from './taken-address.ts'

/** As long as the service itself. */
const DRAIN: Duration = seconds(10)

const clock = systemClock

export async function runGateway(values: GatewayValues, io: Io): Promise<ExitCode> {
  const given = readGiven(values)
  const { variable } = readEnvironment(io.variables)
  if (values.enroll !== undefined) await enrollGateway(values, given, io, variable)
  const place = await findPlace(values, io)
  const signals = listenForSignals(clock)
  try {
    const load = () =>
      loadGatewaySettings({ home: place.folder, file: place.file, given, variable })
    const { settings, adjustments } = await load()
    const identity = await readIdentity(place.identity)
    const listener = await readListener(settings, identity, clock.now())
    const log = createLog(settings.log)
    for (const one of adjustments) log.warn({}, describeAdjustment(one))
    for (const note of listener.notes) log.warn({}, note)
    const started = { settings, identity, listener }
    await serve(started, { place, load, signals, log, io }).catch((error: unknown) => {
      throw explainTaken(error, { settings, given, file: place.file })
    })
    log.info({}, 'stopped')
    return EXIT.ok
  } catch (error) {
    signals.release()
    throw error
  }
}

/** Runs until a signal ends it. However it ends, also by a start that fails, everything that it has opened is closed. */
async function serve(
  started: InUse,
  deps: {
    readonly place: GatewayPlace
    readonly load: () => Promise<LoadedSettings>
    readonly signals: Signals
    readonly log: Log
    readonly io: Pick<Io, 'out'>
  },
): Promise<void> {
  const { place, load, signals, log, io } = deps
  const { settings, identity, listener } = started
  const { id, cert, key, ca } = identity
  const { controller, listen, upstreams } = settings
  let inUse = started

  await using open = new AsyncDisposableStack()
  const router = startRouter({ controller, identity: { id, cert, key: key.reveal(), ca }, log })
  open.defer(() => router.stop())
  const metrics = createGatewayMetrics({ router, clock, inUse: () => inUse })
  open.defer(() => metrics.stop())
  let monitoring: Monitoring | undefined
  // After the gateway: it answers while the gateway drains.
  open.defer(() => monitoring?.stop())
  const gateway = await startGateway({
    router,
    settings,
    ...listener,
    log,
    random: systemRandom,
    browsers: { controller, ca, clock },
    onRequest: metrics.onRequest,
  })
  open.defer(() => gateway.stop(DRAIN))
  metrics.follow(gateway)
  monitoring = await startMonitoring(settings.monitoring, { router, metrics, log })
  const upkeep = keepUp({
    place,
    ports: { load, identityFile: place.identity, gateway, router, clock, log },
    inUse: () => inUse,
    use: (next) => {
      inUse = next
    },
  })
  open.defer(() => upkeep.stop())
  signals.onHangup(upkeep.now)
  const at = formatHostPort({ host: listen.host, port: gateway.port })
  log.info({ routerId: id, controller, listen: at }, 'listening')
  void router.ready.then(() => {
    const behind = upstreams.map(({ to }) => formatUpstreamUrl(to)).join(', ')
    io.out(`The gateway is ready: https://${at} → ${behind || 'forward authentication alone'}`)
  })
  const signal = await signals.stop
  log.info({ signal }, 'stopping')
  monitoring.drain()
}
