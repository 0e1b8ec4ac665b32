/**
 * One connection to PostgreSQL. The connection may stop responding: after a failover, or with a forgotten NAT entry,
 * packets are neither answered nor refused. The kernel notices after minutes, or never. So every statement has a
 * deadline, and a connection that misses it is destroyed (D-251).
 */
import { type Client, Query, type QueryResult } from 'pg'
import { type Duration, milliseconds } from '../../../base/time/duration.ts'

/** Longer than the server lets a statement run (`limits.ts`): a server that is merely slow responds earlier. */
const SILENCE: Duration = milliseconds(4_500)
/** Time to read what arrived while this process was busy, before the connection is dropped. */
const READ_WHAT_CAME: Duration = milliseconds(500)

export interface Statement {
  readonly text: string
  readonly values?: readonly unknown[]
  /** Set for a statement that the server should keep prepared on this connection. */
  readonly name?: string | undefined
}

export class Link {
  readonly client: Client
  /** False once the connection has failed or ended; it must not be used again. */
  isUsable = true
  readonly ended: Promise<void>
  readonly #onSilence: () => void
  readonly #hasDeadline: () => boolean

  /** Expects a connected client. */
  constructor(
    client: Client,
    deps: {
      /** Called when the server has missed a deadline, after this link was destroyed. */
      readonly onSilence: () => void
      readonly hasDeadline: () => boolean
    },
  ) {
    this.client = client
    this.#onSilence = deps.onSilence
    this.#hasDeadline = deps.hasDeadline
    const ended = Promise.withResolvers<void>()
    this.ended = ended.promise
    // A connection can die when nothing awaits it. Without a listener, the error would end the process.
    client.on('error', () => this.#retire(ended.resolve))
    client.once('end', () => this.#retire(ended.resolve))
  }

  run(statement: Statement): Promise<QueryResult> {
    return this.#submit(new Query(configOf(statement)))
  }

  /** Begins a transaction and runs its first statement, in one round trip (D-299). */
  runFirst(statement: Statement, begin: string): Promise<QueryResult> {
    return this.#submit(new FirstQuery(configOf(statement), begin))
  }

  /** Fails its statements at once. `end` would wait for the server. */
  destroy(): void {
    this.isUsable = false
    const { connection } = this.client as unknown as { connection: Wire }
    connection.stream.destroy()
  }

  /** Tells the server, which then closes the connection. */
  end(): Promise<void> {
    this.isUsable = false
    return this.client.end().catch(() => {})
  }

  #retire(resolve: () => void): void {
    this.isUsable = false
    resolve()
  }

  async #submit(query: Query): Promise<QueryResult> {
    const answer = new Promise<QueryResult>((resolve, reject) => {
      const callback = (error: Error | null | undefined, result: QueryResult) =>
        error ? reject(error) : resolve(result)
      ;(this.client.query as (query: Query, callback: unknown) => void)(query, callback)
    })
    try {
      return await (this.#hasDeadline() ? this.#watch(answer) : answer)
    } catch (error) {
      // The original stack leads to the socket only.
      if (error instanceof Error) Error.captureStackTrace(error)
      throw error
    }
  }

  async #watch<T>(answer: Promise<T>): Promise<T> {
    let isSilent = false
    let timer = setTimeout(() => {
      timer = setTimeout(() => {
        isSilent = true
        this.destroy()
        this.#onSilence()
      }, READ_WHAT_CAME)
    }, SILENCE)
    try {
      return await answer
    } catch (error) {
      if (!isSilent) throw error
      throw new Error('the server does not answer', { cause: error })
    } finally {
      clearTimeout(timer)
    }
  }
}

function configOf({ text, values = [], name }: Statement) {
  const config = { text, values: [...values], ...(name === undefined ? {} : { name }) }
  return config
}

/** The part of the driver's connection that is used here. */
interface Wire {
  readonly stream: { destroy(): void }
  parse(message: { text: string; name: string; types: readonly number[] }): void
  bind(message: object): void
  execute(message: object): void
}

interface QueryInternals {
  prepare(connection: Wire): void
  handleCommandComplete(message: unknown, connection: Wire): void
}
const INTERNALS = Query.prototype as unknown as QueryInternals

/**
 * A statement preceded by `begin` in the same message group: the server skips the whole group if `begin` fails, so the
 * statement never runs outside its transaction. Two separate queries sent together would not guarantee that.
 */
class FirstQuery extends Query implements QueryInternals {
  readonly #begin: string
  #hasBegun = false

  constructor(config: ReturnType<typeof configOf>, begin: string) {
    super({ ...config, queryMode: 'extended' } as ConstructorParameters<typeof Query>[0])
    this.#begin = begin
  }

  prepare(connection: Wire): void {
    connection.parse({ text: this.#begin, name: '', types: [] })
    connection.bind({})
    connection.execute({})
    INTERNALS.prepare.call(this, connection)
  }

  handleCommandComplete(message: unknown, connection: Wire): void {
    if (this.#hasBegun) INTERNALS.handleCommandComplete.call(this, message, connection)
    this.#hasBegun = true
  }
}
