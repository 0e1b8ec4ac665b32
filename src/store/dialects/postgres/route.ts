/**
 * The way to the server: which host of the URL a new connection uses. Hosts are tried in order, beginning with the one
 * that worked last, and a server that does not accept writes is passed over (D-295). One silent connection destroys the
 * idle ones too, because they took the same way (D-251).
 */
import { Client, types } from 'pg'
import { type Duration, seconds } from '../../../base/time/duration.ts'
import { endsWithin } from '../../../base/time/within.ts'
import type { PostgresHost, PostgresUrl } from '../../../base/urls/postgres-url.ts'
import { reasonOf } from '../guarded.ts'
import { type Limits, settingLimits } from './limits.ts'
import { Link } from './link.ts'
import type { Timelines } from './timelines.ts'

/** How long to wait for one host, unless the URL says it: a host that is switched off must not block the next. */
const HOST_LIMIT: Duration = seconds(2)
/** The same if there is no other host. */
const ONLY_HOST_LIMIT: Duration = seconds(5)
/** How long a connection is idle before the first keep-alive probe. */
const KEEP_ALIVE_AFTER: Duration = seconds(10)
/** How long to wait for the server to close a connection. */
const CLOSE_LIMIT: Duration = seconds(1)

export interface Route {
  /** Opens a connection to the first suitable host. Throws with the reasons of all hosts if there is none. */
  open(limits: Limits): Promise<Link>
  /** Tells whether a connection is idle, so that silence elsewhere destroys it. */
  setIdle(link: Link, isIdle: boolean): void
  /** From now on, statements have deadlines. */
  giveUpOnSilence(): void
  /** Whether statements have deadlines. */
  readonly givesUp: boolean
  /** Takes about a second, even if the server does not respond: remaining connections are cut. */
  end(): Promise<void>
}

export function createRoute(url: PostgresUrl, timelines: Timelines): Route {
  const live = new Set<Link>()
  const idle = new Set<Link>()
  let givesUp = false
  let isEnded = false
  let lastGood = 0
  /** Grows when a later timeline is used; connections of an earlier count lead to a former primary. */
  let advances = 0
  const advancesAt = new WeakMap<Link, number>()
  timelines.onAdvance(() => {
    advances += 1
    for (const link of live) if ((advancesAt.get(link) ?? advances) < advances) link.destroy()
  })

  async function connect(host: PostgresHost, limits: Limits): Promise<Link> {
    const client = new Client({
      connectionString: host.url,
      connectionTimeoutMillis: connectLimit(url),
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER,
      fallback_application_name: 'latchkey',
      pipeline: true,
      types: {
        getTypeParser: (oid, format) =>
          oid === types.builtins.INT8 ? safeInteger : types.getTypeParser(oid, format),
      },
    })
    const reported = followParameters(client)
    // The error is also the rejection of `connect`; without a listener, a second one would end the process.
    client.on('error', () => {})
    await client.connect()
    const link = new Link(client, {
      hasDeadline: () => givesUp,
      onSilence() {
        for (const other of idle) other.destroy()
      },
    })
    live.add(link)
    void link.ended.then(() => {
      live.delete(link)
      idle.delete(link)
    })
    try {
      if (isEnded) throw new Error('the store is closed')
      if (url.needsWritable) refuseReadOnly(reported)
      await link.run(settingLimits(limits))
      await timelines.admit(link)
      advancesAt.set(link, advances)
    } catch (error) {
      void link.end()
      throw error
    }
    return link
  }

  return {
    async open(limits) {
      const failures: [host: PostgresHost, error: unknown][] = []
      const { hosts } = url
      for (let step = 0; step < hosts.length; step++) {
        const index = (lastGood + step) % hosts.length
        const host = hosts[index] as PostgresHost
        try {
          const link = await connect(host, limits)
          lastGood = index
          return link
        } catch (error) {
          failures.push([host, error])
        }
      }
      throw summarize(failures)
    },

    setIdle(link, isIdle) {
      if (isIdle && link.isUsable) idle.add(link)
      else idle.delete(link)
    },

    giveUpOnSilence() {
      givesUp = true
    },

    get givesUp() {
      return givesUp
    },

    async end() {
      isEnded = true
      const closing = [...live].map(async (link) => {
        void link.end()
        await link.ended
      })
      await endsWithin(CLOSE_LIMIT, Promise.all(closing))
      for (const link of live) link.destroy()
    },
  }
}

function connectLimit({ hosts, connectTimeoutSeconds }: PostgresUrl): Duration {
  if (connectTimeoutSeconds !== undefined) return seconds(connectTimeoutSeconds)
  return hosts.length > 1 ? HOST_LIMIT : ONLY_HOST_LIMIT
}

type Reported = ReadonlyMap<string, string>

/** What the server reports of itself at the start of a session, without a query. */
function followParameters(client: Client): Reported {
  const reported = new Map<string, string>()
  const { connection } = client as unknown as {
    connection: {
      on(
        event: 'parameterStatus',
        listener: (message: { parameterName: string; parameterValue: string }) => void,
      ): void
    }
  }
  connection.on('parameterStatus', ({ parameterName, parameterValue }) => {
    reported.set(parameterName, parameterValue)
  })
  return reported
}

function refuseReadOnly(reported: Reported): void {
  if (reported.get('in_hot_standby') === 'on') throw new Error('the server is a standby')
  if (reported.get('default_transaction_read_only') === 'on') {
    throw new Error('the server is read-only')
  }
}

function summarize(failures: readonly [host: PostgresHost, error: unknown][]): unknown {
  const [[, first] = []] = failures
  if (failures.length === 1) return first
  const reasons = failures.map(([{ name }, error]) => `${name}: ${reasonOf(error)}`)
  return new Error(`no host can be used (${reasons.join('; ')})`, { cause: first })
}

function safeInteger(text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value)) throw new RangeError('a bigint of the database is too large')
  return value
}
