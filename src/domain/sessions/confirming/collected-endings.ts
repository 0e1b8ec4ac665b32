/**
 * Collects what a call ends, however many transactions it needs, so that its response can name it (D-382). No use case
 * passes it on: the transaction that every use case gets reports it (D-260).
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { NewEnding } from '../ending/tell-copies.ts'
import { type ConfirmedThing, thingOf } from './ending-id.ts'

export interface CollectedEndings {
  /** Runs `work`. Returns its result, and what it ended. */
  collect<T>(
    work: () => Promise<T>,
  ): Promise<{ readonly result: T; readonly ended: ConfirmedThing | undefined }>
  note(endings: readonly NewEnding[]): void
}

export function createCollectedEndings(): CollectedEndings {
  const current = new AsyncLocalStorage<NewEnding[]>()
  return {
    async collect(work) {
      const endings: NewEnding[] = []
      const result = await current.run(endings, work)
      return { result, ended: endings.length === 0 ? undefined : thingOf(endings) }
    },
    note(endings) {
      const collected = current.getStore()
      for (const ending of endings) collected?.push(ending)
    },
  }
}
