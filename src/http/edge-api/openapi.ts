/**
 * GET /openapi.json and GET /docs, on both APIs: the OpenAPI document and the page made of it. Both are put together
 * when somebody asks for the first time, from the routes that this listener has.
 */
import { referencePage } from '../../web/reference/reference-page.ts'
import { REFERENCE_STYLE_SOURCE } from '../../web/reference/styles.ts'
import { page, text } from '../answer.ts'
import { DESCRIBED_APIS } from '../openapi/apis.ts'
import { openApiDocument } from '../openapi/document.ts'
import type { OpenApiDocument } from '../openapi/openapi.ts'
import { referenceOf } from '../openapi/reference.ts'
import type { Router } from '../route.ts'
import { API_PREFIXES, type ApiBinding } from './paths.ts'
import { API_ROUTE } from './route-defaults.ts'

const PUBLIC_READ = { ...API_ROUTE, access: 'public', method: 'GET', replies: [200] } as const

export function addOpenApi(
  router: Router,
  binding: ApiBinding,
  use: { readonly version: () => { readonly version: string } },
): void {
  const prefix = API_PREFIXES[binding]
  const once = <T>(make: (document: OpenApiDocument) => T): (() => T) => {
    let made: { readonly it: T } | undefined
    return () => {
      const { version } = use.version()
      const options = { version, answers: 'open' } as const
      made ??= { it: make(openApiDocument(DESCRIBED_APIS[binding], router.table, options)) }
      return made.it
    }
  }
  const written = once((document) => JSON.stringify(document))
  const shown = once((document) => referencePage(referenceOf(document)))

  router.add({ ...PUBLIC_READ, url: `${prefix}/openapi.json` }, () =>
    text('application/json; charset=utf-8', written()),
  )
  router.add({ ...PUBLIC_READ, url: `${prefix}/docs` }, () =>
    page(200, shown(), { style: REFERENCE_STYLE_SOURCE }),
  )
}
