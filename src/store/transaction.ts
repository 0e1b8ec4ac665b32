/**
 * A transaction that ends as a whole. If one of several concurrent calls fails (`Promise.all`), the others still wait
 * for the connection; after the rollback they would run outside the transaction, and their writes would stay. So the
 * end waits for every pending call, and rejects later ones.
 */
import type { Stores } from '../domain/stores.ts'
import { madeWhenUsed } from './made-when-used.ts'

/** Runs `work` and returns only when none of its calls is pending. */
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
