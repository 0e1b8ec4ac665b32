/**
 * Every address of a listener, whatever the method, for the methods that an address does not have (D-45). Looked up only when
 * Fastify found no route, by the router that it uses itself, so that both mean the same address. A route for
 * each of the thirty methods that Node reads would be most of what a start costs.
 */
import findMyWay from 'find-my-way'
import type { Face } from './error-replies.ts'

export interface Address {
  /** The pattern, as the routes have it. */
  readonly url: string
  readonly allow: readonly string[]
  readonly face: Face
}

/** The address of a request's path. */
export type FindAddress = (path: string) => Address | undefined

export function findAmong(addresses: () => readonly Address[]): FindAddress {
  let router: ReturnType<typeof findMyWay> | undefined
  return (path) => {
    router ??= routerOf(addresses())
    return router.find('GET', path)?.store
  }
}

function routerOf(addresses: readonly Address[]): ReturnType<typeof findMyWay> {
  const router = findMyWay()
  for (const address of addresses) router.on('GET', address.url, () => undefined, address)
  return router
}

/**
 * The methods that addresses would borrow from another one whose last part stands for any word: `/things/:id` takes
 * `DELETE /things/all` unless somebody says that there is no such thing.
 */
export function borrowedMethods<A extends Address>(
  addresses: readonly A[],
): readonly { readonly address: A; readonly methods: readonly string[] }[] {
  const open = new Map(
    addresses.filter(({ url }) => isOpen(url)).map((address) => [parentOf(address.url), address]),
  )
  return addresses.flatMap((address) => {
    const lender = isOpen(address.url) ? undefined : open.get(parentOf(address.url))
    const methods = lender?.allow.filter((method) => !address.allow.includes(method)) ?? []
    return methods.length === 0 ? [] : [{ address, methods }]
  })
}

function isOpen(url: string): boolean {
  return url.startsWith(':', url.lastIndexOf('/') + 1)
}

function parentOf(url: string): string {
  return url.slice(0, url.lastIndexOf('/'))
}
