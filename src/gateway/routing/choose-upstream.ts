/**
 * Chooses the upstream of a request by its host and the prefix of its path. D-401. Upstreams that name the host come
 * before those for every host; then the longest prefix wins.
 */
import type { UpstreamSettings } from '../settings/settings.ts'
import { isBelow, type RequestPath, readPath, readPrefix } from './request-path.ts'

export type Choice<Upstream> =
  | { readonly outcome: 'chosen'; readonly upstream: Upstream }
  | { readonly outcome: 'none' }
  /** Another server could read the path as that of another upstream. */
  | { readonly outcome: 'ambiguous'; readonly why: string }

export type ChooseUpstream<Upstream> = (host: string, path: RequestPath) => Choice<Upstream>

type Place = Pick<UpstreamSettings, 'name' | 'hosts' | 'path'>

/** Returns what is wrong with these upstreams together; undefined if a choice is always possible. */
export function routingFault(upstreams: readonly Place[]): string | undefined {
  const places = new Map<string, string>()
  for (const { name, hosts, path } of upstreams) {
    const prefix = readPrefix(path)
    if (prefix === undefined) return `the path of the upstream ${name} is not a plain path`
    for (const host of hosts.length === 0 ? [''] : hosts) {
      // Without regard to case: such prefixes could not be told apart by every server.
      const place = `${host}/${prefix.join('/').toLowerCase()}`
      const other = places.get(place)
      if (other !== undefined)
        return `${other} and ${name} have the same host and path: give them \`hosts\` or a \`path\``
      places.set(place, name)
    }
  }
  return undefined
}

/** Throws if the settings have a `routingFault`. */
export function createChooseUpstream<Upstream extends Place>(
  upstreams: readonly Upstream[],
): ChooseUpstream<Upstream> {
  const fault = routingFault(upstreams)
  if (fault !== undefined) throw new TypeError(fault)
  const places = upstreams
    .map((upstream) => {
      const prefix = readPrefix(upstream.path) ?? []
      const { lenient } = readPath(upstream.path)
      return { upstream, hosts: new Set(upstream.hosts), prefix, lenient }
    })
    .sort((one, other) => other.prefix.length - one.prefix.length)
  const ranked = [
    ...places.filter(({ hosts }) => hosts.size > 0),
    ...places.filter(({ hosts }) => hosts.size === 0),
  ]

  return (host, path) => {
    const possible = ranked.filter(({ hosts }) => hosts.size === 0 || hosts.has(host))
    const exact = possible.find(({ prefix }) => isBelow(path.segments, prefix))
    // Where the path decides nothing, the upstream alone reads it.
    if (possible.some(({ prefix }) => prefix.length > 0)) {
      if (path.fault !== undefined) return { outcome: 'ambiguous', why: path.fault }
      const lenient = possible.find((place) => isBelow(path.lenient, place.lenient))
      if (lenient !== exact) return { outcome: 'ambiguous', why: 'its path has two meanings' }
    }
    return exact === undefined
      ? { outcome: 'none' }
      : { outcome: 'chosen', upstream: exact.upstream }
  }
}
