/**
 * Commit, then tell the in-memory copies of this instance: sessions that a transaction ended, and that it changed the
 * rules. D-34, D-260. It is part of the transaction that use cases get, so no use case can forget it; other instances
 * read the same from the database within a second.
 */
import type { Rules } from '../../policies/rules.ts'
import { replaceStores } from '../../replace-stores.ts'
import type { Transaction } from '../../stores.ts'
import type { SessionEnding } from '../api-session.ts'
import type { EndedSessions } from './ended-sessions.ts'

/** Returns the same transaction, which resolves once the copies know what it committed. */
export function tellCopies(
  transaction: Transaction,
  copies: {
    readonly endedSessions: Pick<EndedSessions, 'add'>
    readonly rules: Pick<Rules, 'refresh'>
  },
): Transaction {
  return async (work) => {
    const { result, endings, hasNewRules } = await transaction(async (tx) => {
      const endings: SessionEnding[] = []
      let hasNewRules = false
      const stores = replaceStores(tx, {
        sessionEndings: (store) => ({
          ...store,
          insert(ending) {
            endings.push(ending)
            return store.insert(ending)
          },
        }),
        ruleVersions: (store) => ({
          ...store,
          raise() {
            hasNewRules = true
            return store.raise()
          },
        }),
      })
      const result = await work(stores)
      return { result, endings, hasNewRules }
    })
    for (const ending of endings) copies.endedSessions.add(ending)
    if (hasNewRules) await copies.rules.refresh()
    return result
  }
}
