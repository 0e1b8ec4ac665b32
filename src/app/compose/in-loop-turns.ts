/** The store with transactions that begin one in each turn of the event loop (D-380). */
import type { LoopTurns } from '../../base/time/loop-turns.ts'
import type { Store } from '../../domain/stores.ts'

export function inLoopTurns(store: Store, turns: LoopTurns): Store {
  return {
    ...store,
    async transaction(work) {
      await turns.next()
      return store.transaction(work)
    },
    async spendRefreshToken(spending) {
      await turns.next()
      return store.spendRefreshToken(spending)
    },
    async beginSession(beginning) {
      await turns.next()
      return store.beginSession(beginning)
    },
  }
}
