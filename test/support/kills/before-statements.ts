/** Looks at every statement of this process before it runs, on either database. */
import { StatementSync } from 'node:sqlite'
import { Client } from 'pg'

export function beforeStatements(look: (text: string) => void): void {
  // `all` is for inserts that return something.
  for (const method of ['run', 'all'] as const) {
    const original = StatementSync.prototype[method] as (...args: unknown[]) => unknown
    const watched = function (this: StatementSync, ...args: unknown[]) {
      look(this.sourceSQL)
      return original.apply(this, args)
    }
    Object.assign(StatementSync.prototype, { [method]: watched })
  }
  const { query } = Client.prototype
  Client.prototype.query = function (this: Client, ...args: unknown[]) {
    const [what] = args
    const text = typeof what === 'string' ? what : (what as { text?: string } | undefined)?.text
    look(text ?? '')
    return Reflect.apply(query, this, args)
  } as typeof query
}
