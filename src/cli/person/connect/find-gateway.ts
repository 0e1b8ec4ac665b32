/**
 * Where a gateway is: the name of one that the controller lists leads to its host; every other text is an address. The
 * list also says for which hosts a public certificate is enough. D-423, D-425.
 */
import { type HostPort, parseHostPort } from '../../../base/host-port.ts'
import { isText } from '../../../base/json.ts'
import { wireAnswerOf } from '../../../client/certificates/session-certificate.ts'
import { UnexpectedAnswer } from '../../../client/client.ts'
import type { GatewayPlace } from '../../../client/gateway/dial.ts'
import type { Session } from '../../../client/session.ts'
import { jsonOf, refusalOf } from '../../../client/wire/answers.ts'
import { CommandFailed, EXIT } from '../../terminal/io.ts'
import type { WantedService } from './target.ts'

export interface ListedGateway {
  readonly name: string
  /** Port 0: the administrator wrote none. */
  readonly hosts: readonly HostPort[]
}

const PATH = '/edge/client/v1/gateways'

/** As in docs/router.md. */
const DEFAULT_PORT = 8443

/** Throws ClientErrors; CommandFailed if the text is neither a known name nor an address. */
export async function findGateway(
  wanted: Pick<WantedService, 'gateway' | 'port'>,
  session: Pick<Session, 'call'>,
  ca: string | undefined,
): Promise<GatewayPlace> {
  return placeOf(wanted, await listGateways(session), ca)
}

/** Empty for a controller that does not list them yet. */
async function listGateways(session: Pick<Session, 'call'>): Promise<readonly ListedGateway[]> {
  const answer = await wireAnswerOf(await session.call(PATH))
  if (answer.status === 404) return []
  if (answer.status !== 200) throw refusalOf(answer, 'the list of gateways')
  const data = jsonOf(answer)?.['data']
  if (!Array.isArray(data)) throw new UnexpectedAnswer('the list of gateways cannot be read')
  return data.flatMap((row: { readonly name?: unknown; readonly hosts?: unknown }) => {
    const { name, hosts } = row ?? {}
    if (!isText(name) || !Array.isArray(hosts)) return []
    const places = hosts.flatMap((host) => (isText(host) ? (parseHostPort(host, 0) ?? []) : []))
    return places.length === 0 ? [] : [{ name, hosts: places }]
  })
}

export function placeOf(
  { gateway, port }: Pick<WantedService, 'gateway' | 'port'>,
  listed: readonly ListedGateway[],
  ca: string | undefined,
): GatewayPlace {
  const at = (host: HostPort) => ({
    host: host.host,
    port: port ?? (host.port === 0 ? DEFAULT_PORT : host.port),
  })
  const [byName] = listed.find(({ name }) => name === gateway)?.hosts ?? []
  if (byName !== undefined) return { at: at(byName), ca, isListed: true }
  const place = parseHostPort(gateway, 0)
  const allowed = listed
    .flatMap(({ hosts }) => hosts)
    .filter((host) => host.host === place?.host)
    .find((host) => port === undefined || host.port === 0 || host.port === port)
  if (allowed !== undefined) return { at: at(allowed), ca, isListed: true }
  const isAddress = place !== undefined && (ca !== undefined || port !== undefined || isFull(place))
  if (!isAddress) throw unknown(gateway, listed)
  return { at: at(place), ca, isListed: false }
}

/** A single label is more likely a mistyped name than a host. */
function isFull({ host }: HostPort): boolean {
  return host.includes('.') || host.includes(':') || host === 'localhost'
}

function unknown(gateway: string, listed: readonly ListedGateway[]): CommandFailed {
  const names = listed.map(({ name }) => name).join(', ')
  const others =
    names === ''
      ? 'the controller lists none; give its address, HOST:PORT'
      : `the controller lists: ${names}`
  return new CommandFailed(
    `there is no gateway called ${JSON.stringify(gateway)}; ${others}`,
    EXIT.missing,
  )
}
