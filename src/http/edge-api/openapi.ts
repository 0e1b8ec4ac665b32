/**
 * GET /openapi.json and GET /docs, on both APIs: the OpenAPI document and the page generated from it. Both are
 * generated at the first request, from the routes of this listener, and kept in compressed form (D-199).
 */
import { referencePage } from '../../web/reference/reference-page.ts'
import { REFERENCE_STYLE_SOURCE } from '../../web/reference/styles.ts'
import { page, text } from '../answer.ts'
import { keepDocument } from '../kept-document.ts'
import { DESCRIBED_APIS } from '../openapi/apis.ts'
import { openApiDocument } from '../openapi/document.ts'
import type { OpenApiDocument } from '../openapi/openapi.ts'
import { referenceOf } from '../openapi/reference.ts'
import type { Router } from '../route.ts'
import { API_PREFIXES, type ApiBinding } from './paths.ts'
import { API_ROUTE } from './route-defaults.ts'

const PUBLIC_READ = { ...API_ROUTE, access: 'public', method: 'GET', replies: [200, 304] } as const

export function addOpenApi(
  router: Router,
  binding: ApiBinding,
  use: { readonly version: () => { readonly version: string } },
): void {
  const prefix = API_PREFIXES[binding]
  const document = (): OpenApiDocument => {
    const { version } = use.version()
    return openApiDocument(DESCRIBED_APIS[binding], router.table, { version, answers: 'open' })
  }
  const written = keepDocument(() => JSON.stringify(document()))
  const reference = keepDocument(() => referencePage(referenceOf(document())).toString())

  router.add({ ...PUBLIC_READ, url: `${prefix}/openapi.json` }, async ({ request }) => {
    const { bytes, headers } = await written(request.raw)
    if (bytes === undefined) return { status: 304, headers }
    return text('application/json; charset=utf-8', bytes, headers)
  })
  router.add({ ...PUBLIC_READ, url: `${prefix}/docs` }, async ({ request }) => {
    const { bytes, headers } = await reference(request.raw)
    if (bytes === undefined) return { status: 304, headers }
    return page(200, bytes, { style: REFERENCE_STYLE_SOURCE }, headers)
  })
}
