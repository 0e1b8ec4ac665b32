/**
 * Connections to PostgreSQL that may fall silent: after a failover or with a NAT entry that was forgotten, nothing that is
 * sent is answered and nothing is refused. The kernel notices after minutes, or never. So every statement has a
 * deadline, and a connection that misses it is destroyed, together with the idle ones: they went the same way (D-251).
 */
import { Client, type ClientConfig, Pool, type PoolClient, type PoolConfig } from 'pg'
import { type Duration, milliseconds, seconds } from '../../base/time/duration.ts'
import { endsWithin } from '../../base/time/within.ts'

/** Longer than the server lets a statement run (`STATEMENT_LIMIT`): a server that is only slow answers before. */
const SILENCE: Duration = milliseconds(4_500)
/** What came while this process was busy with something else is read before the connection is given up. */
const READ_WHAT_CAME: Duration = milliseconds(500)
/** For a connection that is free, or for a new one. */
const CONNECT_LIMIT: Duration = seconds(5)
/** Before the first sign that a peer is gone is looked for, where nothing is sent. */
const KEEP_ALIVE_AFTER: Duration = seconds(10)
/** For a farewell to the server. */
const CLOSE_LIMIT: Duration = seconds(1)

export interface WatchedPool {
  connect(): Promise<PoolClient>
  /** Within a second or so, whatever the server does: what is still connected then is cut off. */
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
    constructor(given?: string | ClientConfig) {
      super(given)
      live.add(this)
      this.once('end', () => {
        live.delete(this)
        idle.delete(this)
      })
      const query = this.query.bind(this) as (...given: unknown[]) => unknown
      Object.assign(this, {
        query: (...given: unknown[]) => {
          const answer = query(...given)
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
  // An idle connection that dies is replaced; the next query tells if that is not possible either.
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
      const gone = [...live].map((client) => new Promise((resolve) => client.once('end', resolve)))
      await endsWithin(CLOSE_LIMIT, Promise.all([pool.end(), ...gone]))
      for (const client of live) destroy(client)
    },
  }
}

/** Its statement fails at once. `end` would wait for the server. */
function destroy(client: Client): void {
  const { connection } = client as unknown as { connection: { stream: { destroy(): void } } }
  connection.stream.destroy()
}
