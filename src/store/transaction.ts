/**
 * A transaction that ends as a whole. When one of several calls at once fails (`Promise.all`), the others are
 * still waiting for the connection; after the rollback they would run on it alone, and what they write would
 * stay. So the end waits for every call under way, and refuses those that come later.
 */
import type { Stores } from '../domain/stores.ts'
import { madeWhenUsed } from './made-when-used.ts'

/** Runs `work` and comes back only when none of its calls is under way any more. */
export async function runAsWhole<T>(stores: Stores, work: (tx: Stores) => Promise<T>): Promise<T> {
  const underWay = new Set<Promise<unknown>>()
  let isOver = false
  const watch = (method: Method): Method => {
    return async (...args) => {
      if (isOver) throw new Error('the transaction of this call is over')
      const call = method(...args)
      underWay.add(call)
      try {
        return await call
      } finally {
        underWay.delete(call)
      }
    }
  }

  try {
    return await work(mapMethods(stores, watch))
  } finally {
    isOver = true
    await Promise.allSettled(underWay)
  }
}

type Method = (...args: unknown[]) => Promise<unknown>

function mapMethods(stores: Stores, change: (method: Method) => Method): Stores {
  return madeWhenUsed<Stores>(Object.keys(stores) as (keyof Stores)[], (name) => {
    const methods: [string, Method][] = Object.entries(stores[name])
    return Object.fromEntries(methods.map(([key, method]) => [key, change(method)])) as never
  })
}
