/**
 * GET /openapi.json and GET /docs, on both APIs: the OpenAPI document and the page generated from it. Both are
 * generated at the first request, from the routes of this listener, and kept in compressed form (D-199).
 */
import { referencePage } from '../../web/reference/reference-page.ts'
import { REFERENCE_STYLE_SOURCE } from '../../web/reference/styles.ts'
import { empty, page, text } from '../answer.ts'
import { keepDocument } from '../kept-document.ts'
import type { ListenerParts } from '../listener-parts.ts'
import { openApiDocument } from '../openapi/document.ts'
import type { OpenApiDocument } from '../openapi/openapi.ts'
import { referenceOf } from '../openapi/reference.ts'
import { APIS, type Api, type ApiBinding } from './api.ts'

const UNCHANGED = { types: [], about: 'It is the one that `If-None-Match` names.' }

export function addOpenApi(
  api: Api,
  binding: ApiBinding,
  listener: Pick<ListenerParts, 'version'>,
): void {
  const document = (): OpenApiDocument => {
    const { version } = listener.version()
    return openApiDocument(APIS[binding], api.table, { version, answers: 'open' })
  }
  const written = keepDocument(() => JSON.stringify(document()))
  const reference = keepDocument(() => referencePage(referenceOf(document())).toString())

  api.add(
    {
      method: 'GET',
      path: '/openapi.json',
      access: 'public',
      tag: 'service',
      summary: 'Read this document',
      answers: {
        200: { types: ['application/json'], about: 'The OpenAPI document of the API.' },
        304: UNCHANGED,
      },
    },
    async (call) => {
      const { bytes, headers } = await written(call)
      if (bytes === undefined) return empty(304, headers)
      return text('application/json', bytes, headers)
    },
  )

  api.add(
    {
      method: 'GET',
      path: '/docs',
      access: 'public',
      tag: 'service',
      summary: 'Read this document as a page',
      answers: {
        200: { types: ['text/html'], about: 'The reference of the API as a page.' },
        304: UNCHANGED,
      },
    },
    async (call) => {
      const { bytes, headers } = await reference(call)
      if (bytes === undefined) return empty(304, headers)
      return page(200, bytes, { style: REFERENCE_STYLE_SOURCE }, headers)
    },
  )
}
