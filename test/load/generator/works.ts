/** The operations of the table as work for connections. */
import type { CpuOperation } from '../operations.ts'
import type { Filled } from '../servers/people.ts'
import type { OtherProvider } from '../servers/provider.ts'
import { type Connection, openConnection } from './connection.ts'
import type { Work } from './load.ts'
import { type Credential, expect, externalJwt, logIn, refresh } from './login.ts'

export const CONNECTIONS = 8

/** Sessions that each connection refreshes in turn. */
const REFRESHED_SESSIONS = 25
/** A session may have a hundred certificates at a time. */
const CERTIFICATES_PER_SESSION = 90
/** For each connection; more than a run of three seconds uses up. */
const CERTIFIED_SESSIONS = 12

export interface PreparedWorks {
  readonly works: readonly Work[]
  close(): void
}

export interface WorkOptions {
  readonly connections?: number
  /** Who logs in by external JWT. */
  readonly externalId?: () => string
}

/** Opens the connections and logs in where the operation needs a session; none of it belongs to the measurement. */
export async function prepareWorks(
  latchkey: Filled,
  operation: CpuOperation,
  { connections = CONNECTIONS, externalId = () => latchkey.externalId }: WorkOptions = {},
): Promise<PreparedWorks> {
  const certificate = operation === 'login-cert' ? latchkey.certificate : undefined
  const byJwt = (): Credential => {
    const jwt = externalJwt(latchkey.signer, externalId())
    return { method: 'ext-jwt', jwt }
  }
  const makers: Readonly<Record<CpuOperation, (one: Connection) => Work | Promise<Work>>> = {
    'current-identity': async (one) => {
      const { access } = await logIn(one, byJwt())
      const headers = { authorization: `Bearer ${access}` }
      const path = '/edge/client/v1/current-identity'
      return async () => (await expect(one, 200, { method: 'GET', path, headers })).status === 200
    },
    refresh: async (one) => {
      const tokens: string[] = []
      while (tokens.length < REFRESHED_SESSIONS) tokens.push((await logIn(one, byJwt())).refresh)
      return refreshInTurn(one, '/oidc/token', tokens)
    },
    'login-ext-jwt': (one) => always(() => logIn(one, byJwt())),
    'login-cert': (one) => always(() => logIn(one, { method: 'cert' })),
    'login-password': (one) =>
      always(() => logIn(one, { method: 'username', ...latchkey.password })),
    'session-cert': async (one) => {
      const tokens: string[] = []
      while (tokens.length < CERTIFIED_SESSIONS) tokens.push((await logIn(one, byJwt())).access)
      return certify(one, latchkey.csr, tokens)
    },
  }
  return prepareOn(connections, () => openConnection(latchkey, certificate), makers[operation])
}

/**
 * Refreshes at node-oidc-provider. A token that was used is replaced by the next one in `tokens`. Each connection has its
 * own, so that one that is slow never sends a token that another has spent.
 */
export async function prepareUnit(
  provider: OtherProvider,
  tokens: string[],
): Promise<PreparedWorks> {
  let opened = 0
  const open = () => openConnection(provider)
  return prepareOn(CONNECTIONS, open, (one) => {
    const first = opened++
    let i = first
    return async () => {
      tokens[i] = (await refresh(one, '/token', tokens[i] ?? '')).refresh
      i = i + CONNECTIONS < tokens.length ? i + CONNECTIONS : first
      return true
    }
  })
}

async function prepareOn(
  count: number,
  open: () => Promise<Connection>,
  make: (connection: Connection) => Work | Promise<Work>,
): Promise<PreparedWorks> {
  const connections = await Promise.all(Array.from({ length: count }, open))
  return {
    works: await Promise.all(connections.map(make)),
    close: () => {
      for (const connection of connections) connection.close()
    },
  }
}

function always(operation: () => Promise<unknown>): Work {
  return async () => {
    await operation()
    return true
  }
}

function refreshInTurn(connection: Connection, path: string, tokens: string[]): Work {
  let next = 0
  return async () => {
    const i = next++ % tokens.length
    tokens[i] = (await refresh(connection, path, tokens[i] ?? '')).refresh
    return true
  }
}

function certify(connection: Connection, csr: string, tokens: readonly string[]): Work {
  let count = 0
  const path = '/edge/client/v1/current-api-session/certificates'
  const body = JSON.stringify({ csr })
  return async () => {
    const token = tokens[Math.floor(count++ / CERTIFICATES_PER_SESSION)]
    if (token === undefined) return false
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    await expect(connection, 201, { method: 'POST', path, headers, body })
    return true
  }
}
