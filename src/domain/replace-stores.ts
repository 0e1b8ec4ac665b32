import type { Stores } from './stores.ts'

/**
 * Returns the stores of a transaction with some of them replaced. The others are looked up when they are used, because a
 * transaction makes only the stores that it uses.
 */
export function replaceStores(
  tx: Stores,
  replacements: { readonly [Name in keyof Stores]?: (store: Stores[Name]) => Stores[Name] },
): Stores {
  return new Proxy(tx, {
    get(stores, name) {
      const store = Reflect.get(stores, name)
      const replace = Reflect.get(replacements, name) as ((store: unknown) => unknown) | undefined
      return replace === undefined ? store : replace(store)
    },
  })
}
