/** GET /version, at the root and on both APIs: what runs here, and which APIs it has. API 3.1. */
import type { Version } from '../../contract/version.ts'
import { json } from '../answer.ts'
import type { Router } from '../route.ts'

export function addVersion(
  router: Router,
  prefix: string,
  use: { readonly version: () => Version },
): void {
  router.add(
    {
      method: 'GET',
      url: `${prefix}/version`,
      access: 'public',
      face: { json: 'api', pages: false },
      cors: 'listed',
      reads: [],
      replies: [200],
    },
    () => json(200, { data: use.version(), meta: {} }),
  )
}
