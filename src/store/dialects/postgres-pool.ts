/**
 * Connections to PostgreSQL that may stop responding: after a failover, or with a forgotten NAT entry, packets are
 * neither answered nor refused. The kernel notices after minutes, or never. So every statement has a deadline. A
 * connection that misses it is destroyed, together with the idle ones, which took the same route (D-251).
 */
import { Client, type ClientConfig, Pool, type PoolClient, type PoolConfig } from 'pg'
import { type Duration, milliseconds, seconds } from '../../base/time/duration.ts'
import { endsWithin } from '../../base/time/within.ts'

/** Longer than the server lets a statement run (`STATEMENT_LIMIT`): a server that is merely slow responds earlier. */
const SILENCE: Duration = milliseconds(4_500)
/** Time to read what arrived while this process was busy, before the connection is dropped. */
const READ_WHAT_CAME: Duration = milliseconds(500)
/** How long to wait for a free connection, or for a new one. */
const CONNECT_LIMIT: Duration = seconds(5)
/** How long a connection is idle before the first keep-alive probe. */
const KEEP_ALIVE_AFTER: Duration = seconds(10)
/** How long to wait for the server to close a connection. */
const CLOSE_LIMIT: Duration = seconds(1)

export interface WatchedPool {
  connect(): Promise<PoolClient>
  /** Takes about a second, even if the server does not respond: remaining connections are cut. */
  end(): Promise<void>
  giveUpOnSilence(): void
  readonly options: object
}

export function openPool(config: PoolConfig): WatchedPool {
  const live = new Set<Client>()
  const idle = new Set<Client>()
  let givesUp = false

  async function watch<T>(client: Client, answer: Promise<T>): Promise<T> {
    let timer = setTimeout(() => {
      timer = setTimeout(giveUp, READ_WHAT_CAME)
    }, SILENCE)
    let isSilent = false
    function giveUp(): void {
      isSilent = true
      destroy(client)
      for (const other of idle) destroy(other)
    }
    try {
      return await answer
    } catch (error) {
      if (!isSilent) throw error
      throw new Error('the server does not answer', { cause: error })
    } finally {
      clearTimeout(timer)
    }
  }

  class WatchedClient extends Client {
    constructor(config?: string | ClientConfig) {
      super(config)
      live.add(this)
      this.once('end', () => {
        live.delete(this)
        idle.delete(this)
      })
      const query = this.query.bind(this) as (...args: unknown[]) => unknown
      Object.assign(this, {
        query: (...args: unknown[]) => {
          const answer = query(...args)
          return givesUp && answer instanceof Promise ? watch(this, answer) : answer
        },
      })
    }
  }

  const pool = new Pool({
    ...config,
    Client: WatchedClient,
    connectionTimeoutMillis: CONNECT_LIMIT,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER,
  })
  // An idle connection that dies is replaced; if that fails too, the next query reports it.
  pool.on('error', () => {})
  pool.on('acquire', (client) => idle.delete(client))
  pool.on('release', (_error, client) => idle.add(client))

  return {
    connect: () => pool.connect(),
    options: {},
    giveUpOnSilence() {
      givesUp = true
    },
    async end() {
      const closed = [...live].map(
        (client) => new Promise((resolve) => client.once('end', resolve)),
      )
      await endsWithin(CLOSE_LIMIT, Promise.all([pool.end(), ...closed]))
      for (const client of live) destroy(client)
    },
  }
}

/** Fails its statement at once. `end` would wait for the server. */
function destroy(client: Client): void {
  const { connection } = client as unknown as { connection: { stream: { destroy(): void } } }
  connection.stream.destroy()
}
