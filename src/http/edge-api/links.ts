/** Links and references: API 1. */

/** Links are relative to the API's prefix, so that they hold behind any address. */
export function selfLink(path: string): { self: { href: string } } {
  return { self: { href: `./${path}` } }
}

export function reference(entity: string, { id, name }: { id: string; name: string }) {
  return { id, name, entity, _links: selfLink(`${entity}/${id}`) }
}
