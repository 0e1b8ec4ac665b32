/**
 * Loaded before the command (`node --import`): the process kills itself around the commit of a transaction that writes
 * to a table, as a kill -9 at that very moment would. KILL_TABLE names the table, KILL_COUNT says at which transaction
 * that writes to it, KILL_SIDE whether `before` the commit or `after` it, when nobody has been answered yet.
 */
import process from 'node:process'
import { StatementSync } from 'node:sqlite'
import { Client } from 'pg'

const { KILL_TABLE: table, KILL_COUNT: count, KILL_SIDE: side } = process.env
if (table !== undefined) arm(table, Number(count), side)

function arm(table: string, count: number, side: string | undefined): void {
  const write = new RegExp(`^\\s*(insert into|update|delete from) "${table}"`)
  /** One statement with several writes is a transaction of its own (D-322). */
  const lone = new RegExp(`^\\s*with\\b[^]*\\b(insert into|update|delete from) ${table}\\b`)
  /** Connections whose transaction is written to; of SQLite there is one. */
  const marked = new Set<unknown>()
  let left = count

  /** Whether this commit is the one. */
  function isTheOne(connection: unknown, text: string): boolean {
    if (write.test(text)) marked.add(connection)
    if (text === 'rollback') marked.delete(connection)
    if (!lone.test(text) && (text !== 'commit' || !marked.delete(connection))) return false
    left -= 1
    return left === 0
  }
  const die = () => process.kill(process.pid, 'SIGKILL')

  for (const method of ['run', 'all', 'get'] as const) {
    const original = StatementSync.prototype[method] as (...args: unknown[]) => unknown
    const watched = function (this: StatementSync, ...args: unknown[]) {
      const isIt = isTheOne('sqlite', this.sourceSQL)
      if (isIt && side === 'before') die()
      const result = original.apply(this, args)
      if (isIt) die()
      return result
    }
    Object.assign(StatementSync.prototype, { [method]: watched })
  }

  const { query } = Client.prototype
  Client.prototype.query = function (this: Client, ...args: unknown[]) {
    const [what] = args
    const text = typeof what === 'string' ? what : (what as { text?: string } | undefined)?.text
    if (!isTheOne(this, text ?? '')) return Reflect.apply(query, this, args)
    if (side === 'before') die()
    // The last argument is told the answer of the server.
    return Reflect.apply(query, this, [...args.slice(0, -1), die])
  } as typeof query
}
