/**
 * Every address of a listener, for any method, to respond to methods that an address does not have (D-45). Used only if
 * Fastify found no route. It uses the same router as Fastify, so that both agree on the address. Registering a route
 * for each of the thirty methods that Node accepts would take most of the startup time.
 */
import findMyWay from 'find-my-way'
import type { Face } from './error-replies.ts'

export interface Address {
  /** The pattern, as in the routes. */
  readonly url: string
  readonly allow: readonly string[]
  readonly face: Face
}

/** Returns the address of a request's path. */
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
 * Returns the methods that an address would inherit from one that ends in a parameter: `/things/:id` would accept
 * `DELETE /things/all` unless that method is explicitly excluded.
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
