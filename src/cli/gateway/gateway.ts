/**
 * `latchkey gateway`: runs the gateway in front of services, with the settings of its home and of the command line.
 * docs/router.md.
 */

import { createLog } from '../../app/logging.ts'
import { formatHostPort } from '../../base/host-port.ts'
import { systemRandom } from '../../base/secrets/random.ts'
import { systemClock } from '../../base/time/clock.ts'
import { type Duration, seconds } from '../../base/time/duration.ts'
import { describeAdjustment } from '../../config/durations.ts'
import { readEnvironment } from '../../config/environment.ts'
import { startGateway } from '../../gateway/gateway.ts'
import { loadGatewaySettings } from '../../gateway/settings/load.ts'
import { formatUpstreamUrl } from '../../gateway/settings/upstream-url.ts'
import { startRouter } from '../../router/router.ts'
import { EXIT, type ExitCode, type Io } from '../terminal/io.ts'
import { listenForSignals } from '../terminal/signals.ts'
import { type GatewayValues, readGiven } from './given.ts'
import { findPlace } from './home.ts'
import { listenerCertificate, readIdentity } from './identity.ts'

/** As long as the service itself. */
const DRAIN: Duration = seconds(10)

export async function runGateway(values: GatewayValues, io: Io): Promise<ExitCode> {
  const given = readGiven(values)
  const place = await findPlace(values, io)
  const signals = listenForSignals(systemClock)
  const { variable } = readEnvironment(io.variables)
  const { folder: home, file } = place
  const { settings, adjustments } = await loadGatewaySettings({ home, file, given, variable })
  const identity = await readIdentity(place.identity)
  const listener = await listenerCertificate(settings, identity)
  const log = createLog(settings.log)
  for (const one of adjustments) log.warn({}, describeAdjustment(one))
  const { id, cert, key, ca } = identity
  const { controller, listen, upstreams } = settings

  const router = startRouter({ controller, identity: { id, cert, key: key.reveal(), ca }, log })
  try {
    const gateway = await startGateway({
      router,
      settings,
      ...listener,
      log,
      random: systemRandom,
      browsers: { controller, ca, clock: systemClock },
    })
    const at = formatHostPort({ host: listen.host, port: gateway.port })
    log.info({ routerId: id, controller, listen: at }, 'listening')
    void router.ready.then(() => {
      const behind = upstreams.map(({ to }) => formatUpstreamUrl(to)).join(', ')
      io.out(`The gateway is ready: https://${at} → ${behind}`)
    })
    const signal = await signals.stop
    log.info({ signal }, 'stopping')
    await gateway.stop(DRAIN)
  } finally {
    await router.stop()
  }
  log.info({}, 'stopped')
  return EXIT.ok
}
