/**
 * The connection URL of PostgreSQL as libpq defines it, of which WHATWG URLs cover only a part: several hosts, in the
 * authority (`postgres://a:5432,b:5433/name`) or in the parameters `host` and `port`, and what is expected of the server
 * that is chosen among them. D-295.
 */

export interface PostgresHost {
  /** Host and port, for messages. */
  readonly name: string
  /** A URL of this host alone, without the parameters that choose among hosts. It may contain a password. */
  readonly url: string
}

export interface PostgresUrl {
  /** In the order in which they are tried. */
  readonly hosts: readonly [PostgresHost, ...PostgresHost[]]
  /** All hosts and the name of the database, for messages. */
  readonly name: string
  /** Whether servers that do not accept writes are passed over. */
  readonly needsWritable: boolean
  /** How long to wait for one host; undefined if the URL does not say. */
  readonly connectTimeoutSeconds: number | undefined
}

export type PostgresUrlReading =
  | { readonly ok: true; readonly value: PostgresUrl }
  | { readonly ok: false; readonly problem: string }

const SHAPE = /^(postgres(?:ql)?:\/\/)((?:[^/?#]*@)?)([^/?#@]*)(\/[^?#]*)?(?:\?([^#]*))?$/i
const NOT_A_URL = 'is not a URL; percent-encode what is special in user and password'
const DEFAULT_PORT = '5432'
/** A bound on how long one connection attempt can take. */
const MOST_HOSTS = 8

export function isPostgresUrl(given: string): boolean {
  return /^postgres(?:ql)?:\/\//i.test(given)
}

/** Never quotes the URL in a problem: it may contain a password. */
export function readPostgresUrl(given: string): PostgresUrlReading {
  const [, scheme, login = '', authority = '', path = '', query = ''] = SHAPE.exec(given) ?? []
  if (scheme === undefined) return { ok: false, problem: NOT_A_URL }
  const parameters = new URLSearchParams(query)
  const choice = takeChoice(parameters)
  if (typeof choice === 'string') return { ok: false, problem: choice }

  const addresses = parameters.has('host')
    ? fromParameters(parameters)
    : fromAuthority(authority, parameters)
  if (typeof addresses === 'string') return { ok: false, problem: addresses }
  const hosts = addresses.map(({ inAuthority, inParameters, name }): PostgresHost => {
    const own = new URLSearchParams([...parameters, ...inParameters])
    const rest = own.size > 0 ? `?${own}` : ''
    return { name, url: `${scheme}${login}${inAuthority}${path}${rest}` }
  })
  const [first, ...others] = hosts
  if (first === undefined || hosts.some(({ url }) => !URL.canParse(url))) {
    return { ok: false, problem: NOT_A_URL }
  }
  return {
    ok: true,
    value: {
      hosts: [first, ...others],
      name: `${hosts.map(({ name }) => name).join(',')}${path}`,
      needsWritable: choice.needsWritable || others.length > 0,
      connectTimeoutSeconds: choice.connectTimeoutSeconds,
    },
  }
}

/** Removes the parameters that choose among hosts, and returns what they say or what is wrong with them. */
function takeChoice(
  parameters: URLSearchParams,
): string | Pick<PostgresUrl, 'needsWritable' | 'connectTimeoutSeconds'> {
  const take = (name: string): string | undefined => {
    const value = parameters.getAll(name).at(-1)
    parameters.delete(name)
    return value
  }
  const attributes = take('target_session_attrs') ?? 'any'
  if (!['any', 'read-write', 'primary'].includes(attributes)) {
    return 'target_session_attrs must be read-write or primary: the service needs a server that accepts writes'
  }
  const balance = take('load_balance_hosts') ?? 'disable'
  if (balance !== 'disable') {
    return 'load_balance_hosts must be disable: only one server accepts writes'
  }
  const timeout = take('connect_timeout')
  if (timeout !== undefined && !/^[1-9]\d{0,2}$/.test(timeout)) {
    return 'connect_timeout must be a number of seconds, from 1 to 999'
  }
  return {
    needsWritable: attributes !== 'any',
    connectTimeoutSeconds: timeout === undefined ? undefined : Number(timeout),
  }
}

interface Address {
  readonly name: string
  readonly inAuthority: string
  readonly inParameters: readonly [string, string][]
}

const PARAMETER_HOSTS = 'the parameters host and port need the same number of entries'

function fromParameters(parameters: URLSearchParams): string | readonly Address[] {
  const split = (name: string) => (parameters.getAll(name).at(-1) ?? '').split(',')
  const hosts = split('host')
  const ports = split('port')
  parameters.delete('host')
  parameters.delete('port')
  if (hosts.length > MOST_HOSTS) return `names more than ${MOST_HOSTS} hosts`
  if (ports.length > 1 && ports.length !== hosts.length) return PARAMETER_HOSTS
  const addresses: Address[] = []
  for (const [i, host] of hosts.entries()) {
    const port = (ports.length === 1 ? ports[0] : ports[i]) || DEFAULT_PORT
    if (host === '') return 'has an empty host'
    if (!isPort(port)) return 'has a port that is not a number from 1 to 65535'
    addresses.push({
      name: `${host}:${port}`,
      // WHATWG URLs need a host after a login; the driver prefers the parameter.
      inAuthority: 'localhost',
      inParameters: [
        ['host', host],
        ['port', port],
      ],
    })
  }
  return addresses
}

function fromAuthority(
  authority: string,
  parameters: URLSearchParams,
): string | readonly Address[] {
  const hosts = authority.split(',')
  if (hosts.length > MOST_HOSTS) return `names more than ${MOST_HOSTS} hosts`
  // The driver reads this parameter before the authority; with several hosts it would apply to all of them.
  if (hosts.length > 1 && parameters.has('port')) return PARAMETER_HOSTS
  const addresses: Address[] = []
  for (const host of hosts) {
    const [, name = '', port] = /^(\[[0-9A-Fa-f:.]+\]|[^:[\]]*)(?::(\d*))?$/.exec(host) ?? []
    if (hosts.length > 1 && name === '') return 'has an empty host'
    if (port && !isPort(port)) return 'has a port that is not a number from 1 to 65535'
    addresses.push({ name: host, inAuthority: host, inParameters: [] })
  }
  return addresses
}

function isPort(text: string): boolean {
  return /^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= 65_535
}
