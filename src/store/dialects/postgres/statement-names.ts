/**
 * Which statements the server keeps prepared: those that repeat. The store has a bounded number of fixed queries, and
 * the filters of lists produce an unlimited number of others, each of which would occupy memory on every connection.
 */
import { BoundedMap } from '../../../base/collections/bounded-map.ts'

/** Returns the name under which the statement is prepared; undefined if it is not. */
export type NameOf = (text: string) => string | undefined

/** From this use on, a statement is prepared. */
const WORTH_PREPARING = 3
/** More than the fixed queries of the store. */
const MOST_PREPARED = 400
/** How many statements are counted that are not prepared yet. */
const MOST_COUNTED = 400

export function createStatementNames(): NameOf {
  const names = new Map<string, string>()
  const uses = new BoundedMap<string, number>(MOST_COUNTED)
  return (text) => {
    const name = names.get(text)
    if (name !== undefined || names.size === MOST_PREPARED) return name
    const used = (uses.get(text) ?? 0) + 1
    if (used < WORTH_PREPARING) {
      uses.set(text, used)
      return undefined
    }
    uses.delete(text)
    const added = `latchkey_${names.size + 1}`
    names.set(text, added)
    return added
  }
}
