/**
 * `latchkey gateway`: runs the gateway in front of one service. It needs no home; it gets everything from its
 * controller. docs/router.md.
 */

import {
  RefusedStart,
  readText,
  refuseWorldReadable,
} from '../../app/installation/private-files.ts'
import { createLog } from '../../app/logging.ts'
import { formatHostPort, type HostPort, parseHostPort } from '../../base/host-port.ts'
import { isText, parseJson } from '../../base/json.ts'
import { systemRandom } from '../../base/secrets/random.ts'
import { Secret } from '../../base/secrets/secret.ts'
import { systemClock } from '../../base/time/clock.ts'
import { type Duration, seconds } from '../../base/time/duration.ts'
import { startGateway } from '../../gateway/gateway.ts'
import { parseUpstream } from '../../gateway/http/upstream.ts'
import { onlyUpstream } from '../../gateway/settings/upstream-settings.ts'
import { parseControllerUrl } from '../../router/paths.ts'
import { startRouter } from '../../router/router.ts'
import { identityFault, type RouterIdentity } from '../../router/router-identity.ts'
import { EXIT, type ExitCode, type Io, Misuse } from '../terminal/io.ts'
import { listenForSignals } from '../terminal/signals.ts'

interface GatewayValues {
  readonly controller?: string
  readonly identity?: string
  readonly listen?: string
  readonly upstream?: string
}

/** As long as the service itself. */
const DRAIN: Duration = seconds(10)

const DEEPEST = 4

export async function runGateway(values: GatewayValues, io: Io): Promise<ExitCode> {
  const { controller, listen, upstream, file } = readValues(values)
  const signals = listenForSignals(systemClock)
  const identity = await readIdentity(file, io)
  const log = createLog({ level: 'info', format: 'auto' })
  const { id, cert, key, ca } = identity

  const router = startRouter({ controller, identity: { id, cert, key: key.reveal(), ca }, log })
  try {
    const gateway = await startGateway({
      router,
      listen,
      upstreams: [onlyUpstream(upstream)],
      certificatePem: cert,
      keyPem: key,
      log,
      random: systemRandom,
    })
    const at = formatHostPort({ host: listen.host, port: gateway.port })
    log.info({ routerId: id, controller, listen: at }, 'listening')
    void router.ready.then(() => {
      io.out(`The gateway is ready: https://${at} → http://${formatHostPort(upstream)}`)
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

function readValues(values: GatewayValues): {
  readonly controller: string
  readonly listen: HostPort
  readonly upstream: HostPort
  readonly file: string
} {
  const { controller, identity: file, listen: at, upstream: behind } = values
  if (controller === undefined) throw new Misuse('--controller is missing')
  if (file === undefined) throw new Misuse('--identity is missing')
  if (at === undefined) throw new Misuse('--listen is missing')
  if (behind === undefined) throw new Misuse('--upstream is missing')
  if (parseControllerUrl(controller) === undefined) {
    throw new Misuse('--controller is not https://HOST:PORT')
  }
  const listen = parseHostPort(at)
  if (listen === undefined) throw new Misuse('--listen is not HOST:PORT')
  const upstream = parseUpstream(behind)
  if (upstream === undefined) throw new Misuse('--upstream is not http://HOST:PORT')
  return { controller, listen, upstream, file }
}

async function readIdentity(path: string, io: Pick<Io, 'resolve'>): Promise<RouterIdentity> {
  await refuseWorldReadable(io.resolve(path))
  const text = await readText(io.resolve(path))
  if (text === undefined) throw new RefusedStart(`there is no identity file ${path}`)
  const value = parseJson(text, DEEPEST)?.value
  const { id, cert, key, ca } = (value ?? {}) as Readonly<Record<string, unknown>>
  if (!isText(id) || !isText(cert) || !isText(key) || !isText(ca)) {
    throw new RefusedStart(`the identity file ${path} is not JSON with the texts id, cert, key, ca`)
  }
  const identity = { id, cert, key: new Secret(key), ca }
  const fault = identityFault(identity)
  if (fault !== undefined) throw new RefusedStart(`the identity file ${path} ${fault}`)
  return identity
}
