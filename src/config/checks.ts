/**
 * Rules that span several keys, and those that need the disk or the environment. They work on the tree as written and
 * skip what they cannot parse, so that all problems are in one message even if other parts are wrong (D-43).
 */
import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import {
  formatHostPort,
  type HostPort,
  isLoopbackHost,
  parseHostPort,
  withoutBrackets,
} from '../base/host-port.ts'
import type { BindPoint } from './config.ts'
import { formatPath } from './keys.ts'
import type { Problem } from './problems.ts'

type Path = readonly PropertyKey[]

export function spanningProblems(
  tree: unknown,
  variable: (name: string) => string | undefined,
): readonly Problem[] {
  return [
    ...secretProblems(get(tree, 'secret'), variable),
    ...repeats(listenerNames(tree), 'is the name of'),
    ...repeats(places(tree, 'interface'), 'is listened on by'),
    ...repeats(places(tree, 'address'), 'is an address of'),
    ...entriesOf(tree, 'web').flatMap(({ value, path }) => [...listenerProblems(value, path)]),
    ...apiAddressProblems(tree),
    ...consoleProblems(tree),
    ...collectorProblems(get(tree, 'telemetry', 'traces')),
    ...webhookProblems(get(tree, 'notifications', 'webhook', 'url')),
  ]
}

/** Reports PEM files that do not exist. Relative paths are relative to the home. */
export async function missingFiles(tree: unknown, home: string): Promise<readonly Problem[]> {
  const identities = [{ value: tree, path: [] as Path }, ...entriesOf(tree, 'web')]
  const named = identities.flatMap(({ value, path }) =>
    ['cert', 'key', 'ca'].flatMap((name) => {
      const file = get(value, 'identity', name)
      return isFileName(file) ? [{ file, path: [...path, 'identity', name] }] : []
    }),
  )
  const checked = await Promise.all(
    named.map(async ({ file, path }) =>
      (await isReadable(resolve(home, file))) ? [] : [{ path }],
    ),
  )
  return checked
    .flat()
    .map(({ path }) => problem(path, 'names a file that is not there or not readable'))
}

function* secretProblems(
  secret: unknown,
  variable: (name: string) => string | undefined,
): Iterable<Problem> {
  const name = get(secret, 'environment')
  if (name === undefined) return
  if (get(secret, 'file') !== undefined) {
    yield problem(['secret'], 'has a file and an environment variable; keep one of them')
  }
  if (typeof name === 'string' && !variable(name)) {
    yield problem(['secret', 'environment'], 'names an environment variable that is not set')
  }
}

/** Clients are sent to this address, so it must have the client API. */
function* apiAddressProblems(tree: unknown): Iterable<Problem> {
  const address = hostPortAt(tree, 'edge', 'api', 'address')
  if (address === undefined) return
  const clientApis = entriesOf(tree, 'web').flatMap(({ value }, position) =>
    entriesOf(value, 'apis').some(({ value: api }) => get(api, 'binding') === 'edge-client')
      ? [position]
      : [],
  )
  const isThere = places(tree, 'address').some(
    ({ listener, value }) => clientApis.includes(listener) && value === formatHostPort(address),
  )
  if (isThere) return
  yield problem(['edge', 'api', 'address'], 'is not an address of a listener with edge-client')
}

/** D-355: the console's administrators sign in on its own listener, so the provider must be there too. */
function* consoleProblems(tree: unknown): Iterable<Problem> {
  const listeners = entriesOf(tree, 'web').map(({ value, path }) => {
    const apis = entriesOf(value, 'apis', path)
    const placeOf = (binding: string) => apis.find((api) => get(api.value, 'binding') === binding)
    return {
      client: placeOf('edge-client'),
      oidc: placeOf('edge-oidc'),
      console: placeOf('console'),
    }
  })
  const isAutoBound =
    get(tree, 'edge', 'api', 'disableOidcAutoBinding') !== true &&
    listeners.every(({ oidc }) => oidc === undefined)
  for (const listener of listeners) {
    if (listener.console === undefined || listener.oidc !== undefined) continue
    if (isAutoBound && listener.client !== undefined) continue
    yield problem(
      [...listener.console.path, 'binding'],
      'needs edge-oidc on the same listener; list edge-oidc there, and on every other listener that should have it',
    )
  }
}

/** A credential in plain http to another machine can be read on the way (D-139). */
function* collectorProblems(traces: unknown): Iterable<Problem> {
  if (!isPlainElsewhere(get(traces, 'endpoint')) || get(traces, 'headers') === undefined) return
  const message = 'is plain http to another machine, and there are headers; use https'
  yield problem(['telemetry', 'traces', 'endpoint'], message)
}

/** So can a link, which is a credential (D-378). */
function* webhookProblems(url: unknown): Iterable<Problem> {
  if (!isPlainElsewhere(url)) return
  yield problem(
    ['notifications', 'webhook', 'url'],
    'is plain http to another machine, which could read the links; use https',
  )
}

function isPlainElsewhere(given: unknown): boolean {
  const url = typeof given === 'string' ? URL.parse(given) : null
  if (url?.protocol !== 'http:') return false
  return !isLoopbackHost(withoutBrackets(url.hostname))
}

/** A value that must be unique among listeners, with its place in the file. */
interface Claim {
  readonly listener: number
  readonly value: string
  readonly path: Path
}

/** Reports each value that an earlier listener already has. */
function repeats(claims: readonly Claim[], what: string): readonly Problem[] {
  const owners = new Map<string, number>()
  return claims.flatMap(({ listener, value, path }) => {
    const owner = owners.get(value) ?? listener
    owners.set(value, owner)
    return owner === listener
      ? []
      : [
          problem(
            path,
            `${JSON.stringify(value)} ${what} web[${owner}] too; give each listener its own`,
          ),
        ]
  })
}

function listenerNames(tree: unknown): readonly Claim[] {
  return entriesOf(tree, 'web').flatMap(({ value, path }, listener) => {
    const name = get(value, 'name')
    return typeof name === 'string' ? [{ listener, value: name, path: [...path, 'name'] }] : []
  })
}

/** Port 0 is a different free port each time, so it never conflicts. */
function places(tree: unknown, key: 'interface' | 'address'): readonly Claim[] {
  return entriesOf(tree, 'web').flatMap((listener, position) =>
    entriesOf(listener.value, 'bindPoints', listener.path).flatMap(({ value, path }) => {
      const place = bindPointOf(value)?.[key]
      return place === undefined || place.port === 0
        ? []
        : [{ listener: position, value: formatHostPort(place), path: [...path, key] }]
    }),
  )
}

function* listenerProblems(listener: unknown, path: Path): Iterable<Problem> {
  const [oldest, newest] = ['minTLSVersion', 'maxTLSVersion'].map((key) =>
    get(listener, 'options', key),
  )
  if (oldest === 'TLS1.3' && newest === 'TLS1.2') {
    yield problem([...path, 'options', 'minTLSVersion'], 'is newer than maxTLSVersion')
  }

  const points = new Set<string>()
  for (const entry of entriesOf(listener, 'bindPoints', path)) {
    const point = bindPointOf(entry.value)
    if (point === undefined) continue
    const text = `${formatHostPort(point.interface)} ${formatHostPort(point.address)}`
    if (points.has(text))
      yield problem(entry.path, 'repeats an earlier bind point of this listener')
    points.add(text)
  }

  const bindings = new Set<unknown>()
  for (const { value, path: at } of entriesOf(listener, 'apis', path)) {
    const binding = get(value, 'binding')
    if (bindings.has(binding)) yield problem([...at, 'binding'], 'is on this listener twice')
    if (binding !== undefined) bindings.add(binding)
    for (const option of ['redirectURIs', 'postLogoutURIs']) {
      if (binding === 'edge-oidc' || get(value, 'options', option) === undefined) continue
      yield problem([...at, 'options', option], 'is an option of the binding edge-oidc alone')
    }
  }
}

/** Undefined if a part is missing or not valid. */
export function bindPointOf(value: unknown): BindPoint | undefined {
  const place = hostPortAt(value, 'interface')
  const address = hostPortAt(value, 'address')
  if (place === undefined || address === undefined) return undefined
  return { interface: place, address: withPortOf(place, address) }
}

/** Port 0 in an address means the port of its interface. */
export function withPortOf(place: HostPort, address: HostPort): HostPort {
  return address.port === 0 ? { ...address, port: place.port } : address
}

function problem(path: Path, message: string): Problem {
  return { path: formatPath(path), message }
}

/** The value at a path of the tree; undefined if there is none. */
export function get(tree: unknown, ...path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((value, key) => {
    const hasKey = typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    return hasKey ? Reflect.get(value, key) : undefined
  }, tree)
}

/** Undefined if it is missing or not valid. */
export function hostPortAt(tree: unknown, ...path: readonly string[]): HostPort | undefined {
  const text = get(tree, ...path)
  return typeof text === 'string' ? parseHostPort(text) : undefined
}

function entriesOf(value: unknown, key: string, path: Path = []): { value: unknown; path: Path }[] {
  const list = get(value, key)
  if (!Array.isArray(list)) return []
  return list.map((entry: unknown, i) => ({ value: entry, path: [...path, key, i] }))
}

function isFileName(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && !value.includes('\0')
}

async function isReadable(path: string): Promise<boolean> {
  try {
    await access(path, constants.R_OK)
    return (await stat(path)).isFile()
  } catch {
    return false
  }
}
