/**
 * Commit, then tell the in-memory copies of this instance: sessions that a transaction ended, and that it changed the
 * rules. D-34, D-260. It is part of the transaction that use cases get, so no use case can forget it; other instances
 * read the same from the database within a second.
 */
import type { ApiSessionId } from '../../../base/ids.ts'
import type { Rules } from '../../policies/rules.ts'
import { replaceStores } from '../../replace-stores.ts'
import type { Transaction } from '../../stores.ts'
import type { SessionEnding } from '../api-session.ts'
import type { EndedSessions } from './ended-sessions.ts'

/** With its number, unless it was in the store before. */
export type NewEnding = SessionEnding & { readonly sequence?: number }

/** What a commit changed that copies in memory depend on. */
export interface News {
  readonly endings: readonly NewEnding[]
  readonly hasNewRules: boolean
  readonly hasNewKeys: boolean
  /** A legacy session that now means something else. */
  readonly changedSession?: ApiSessionId
}

/** The other processes of this instance, if there are any (D-289). */
export interface Others {
  /** Resolves when they know it. */
  tell(news: News): Promise<void>
}

export const NO_NEWS: News = { endings: [], hasNewRules: false, hasNewKeys: false }

/** Returns the same transaction, which resolves once the copies know what it committed. */
export function tellCopies(
  transaction: Transaction,
  copies: {
    readonly endedSessions: Pick<EndedSessions, 'add'>
    readonly rules: Pick<Rules, 'refresh'>
    readonly others?: Others | undefined
    /** Called with what was committed. */
    readonly onEndings?: (endings: readonly NewEnding[]) => void
  },
): Transaction {
  return async (work) => {
    const { result, ...news } = await transaction(async (tx) => {
      const endings: NewEnding[] = []
      let hasNewRules = false
      let hasNewKeys = false
      const stores = replaceStores(tx, {
        sessionEndings: (store) => ({
          ...store,
          async insert(ending) {
            const sequence = await store.insert(ending)
            endings.push(sequence === undefined ? ending : { ...ending, sequence })
            return sequence
          },
        }),
        signingKeys: (store) => ({
          ...store,
          insert(key) {
            hasNewKeys = true
            return store.insert(key)
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
      return { result, endings, hasNewRules, hasNewKeys }
    })
    const { endings, hasNewRules, hasNewKeys } = news
    for (const ending of endings) copies.endedSessions.add(ending)
    if (endings.length > 0) copies.onEndings?.(endings)
    await Promise.all([
      hasNewRules ? copies.rules.refresh() : undefined,
      endings.length > 0 || hasNewRules || hasNewKeys ? copies.others?.tell(news) : undefined,
    ])
    return result
  }
}
