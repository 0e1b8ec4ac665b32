import type { Stores } from './stores.ts'

/**
 * Returns the stores of a transaction with some of them replaced. The others are looked up when they are used, because a
 * transaction makes only the stores that it uses.
 */
export function replaceStores(
  tx: Stores,
  replacements: { readonly [Name in keyof Stores]?: (store: Stores[Name]) => Stores[Name] },
): Stores {
  const names = Object.keys(replacements) as (keyof Stores)[]
  const properties = names.map((name) => {
    const replace = replacements[name] as (store: unknown) => unknown
    return [name, { enumerable: true, get: () => replace(tx[name]) }]
  })
  return Object.create(tx, Object.fromEntries(properties))
}
