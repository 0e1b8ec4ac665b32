/**
 * A transaction that ends as a whole. If one of several concurrent calls fails (`Promise.all`), the others still wait
 * for the connection; after the rollback they would run outside the transaction, and their writes would stay. So the
 * end waits for every pending call, and rejects later ones.
 */
export interface WholeCalls {
  /** Returns the store with methods that belong to the transaction. */
  watch<Store extends object>(store: Store): Store
}

/** Runs `work` and returns only when none of its calls is pending. */
export async function runAsWhole<T>(work: (calls: WholeCalls) => Promise<T>): Promise<T> {
  const underWay = new Set<Promise<unknown>>()
  let isOver = false

  async function follow(call: () => Promise<unknown>): Promise<unknown> {
    if (isOver) throw new Error('the transaction of this call is over')
    const pending = call()
    underWay.add(pending)
    try {
      return await pending
    } finally {
      underWay.delete(pending)
    }
  }
  const handler: ProxyHandler<object> = {
    get(store, name) {
      const method = Reflect.get(store, name) as (...args: unknown[]) => Promise<unknown>
      return (...args: unknown[]) => follow(() => method(...args))
    },
  }

  try {
    return await work({ watch: (store) => new Proxy(store, handler) as typeof store })
  } finally {
    isOver = true
    await Promise.allSettled(underWay)
  }
}
