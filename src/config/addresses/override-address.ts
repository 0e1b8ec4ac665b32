/**
 * `--port` and LATCHKEY_ADDRESS for an existing `controller.yml`: they replace the address of its first listener for
 * this run. D-337. Works on the parsed file, so that the replaced addresses pass the same checks as written ones.
 */
import { formatHostPort, parseHostPort } from '../../base/host-port.ts'
import { bindPointOf, get, hostPortAt } from '../checks.ts'
import { bindPointsFor, readAddress } from './bind-points.ts'

/** What the operator asked for; at least one of the two has an effect. */
export interface WantedAddress {
  /** LATCHKEY_ADDRESS, `HOST:PORT`. */
  readonly address: string | undefined
  /** `--port`, which replaces the port of either. */
  readonly port: number | undefined
}

export interface AddressOverride {
  /** `--port`, `LATCHKEY_ADDRESS`, or both. */
  readonly by: string
  readonly listener: string
  /** The first address in the file, and the one that replaces it. */
  readonly from: string
  readonly to: string
}

interface Point {
  readonly interface: string
  readonly address: string
}

/**
 * Returns the tree with other bind points, or the same tree if the file already has the address. A file that the checks
 * will refuse anyway is returned as it is. Throws ConfigProblems if LATCHKEY_ADDRESS is not an address.
 */
export function overrideAddress(
  tree: unknown,
  { address, port }: WantedAddress,
): { readonly tree: unknown; readonly override?: AddressOverride } {
  const wanted = address === undefined ? undefined : { ...readAddress(address), ...withPort(port) }
  const web = get(tree, 'web')
  const [first, ...others] = Array.isArray(web) ? web : []
  const points = pointsOf(first)
  const [before] = points
  if (before === undefined) return { tree }

  const replaced =
    wanted === undefined ? points.map((point) => atPort(point, port)) : bindPointsFor(wanted)
  const isThere =
    wanted === undefined
      ? JSON.stringify(replaced) === JSON.stringify(points)
      : [first, ...others].flatMap(pointsOf).some((one) => one.address === formatHostPort(wanted))
  const [after] = replaced
  if (isThere || after === undefined) return { tree }

  const by = [
    ...(address === undefined ? [] : ['LATCHKEY_ADDRESS']),
    ...(port === undefined ? [] : ['--port']),
  ].join(' and ')
  const changed = { ...first, bindPoints: replaced }
  return {
    tree: withApiAddress({ ...(tree as object), web: [changed, ...others] }, points, replaced),
    override: { by, listener: String(get(first, 'name')), from: before.address, to: after.address },
  }
}

const withPort = (port: number | undefined) => (port === undefined ? {} : { port })

/** The address that clients use keeps its port if it differs from the one we listen at, as behind a load balancer. */
function atPort(point: Point, port: number | undefined): Point {
  const place = parseHostPort(point.interface)
  const address = parseHostPort(point.address)
  if (place === undefined || address === undefined || port === undefined) return point
  return {
    interface: formatHostPort({ ...place, port }),
    address: formatHostPort(address.port === place.port ? { ...address, port } : address),
  }
}

/** `edge.api.address` names an address of a listener, and follows it. */
function withApiAddress(
  tree: { readonly web: unknown },
  before: readonly Point[],
  after: readonly Point[],
): unknown {
  const edge = get(tree, 'edge')
  const api = get(edge, 'api')
  const parsed = hostPortAt(api, 'address')
  if (parsed === undefined) return tree
  const at = before.findIndex(({ address }) => address === formatHostPort(parsed))
  if (at < 0) return tree
  const address = (before.length === after.length ? after[at] : after[0])?.address
  return { ...tree, edge: { ...(edge as object), api: { ...(api as object), address } } }
}

/** Only valid ones, in one spelling. */
function pointsOf(listener: unknown): readonly Point[] {
  const list = get(listener, 'bindPoints')
  if (!Array.isArray(list)) return []
  return list.flatMap((entry) => {
    const point = bindPointOf(entry)
    if (point === undefined) return []
    const { interface: place, address } = point
    return [{ interface: formatHostPort(place), address: formatHostPort(address) }]
  })
}
