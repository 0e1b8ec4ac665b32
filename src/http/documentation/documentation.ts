/**
 * GET /docs: the documentation of this version, on every listener with an API (D-353). It is the same for everyone and
 * holds no data. A checkout whose site was not built has none.
 */
import { orNotFound } from '../../domain/refusals.ts'
import { type Answer, empty, page, redirect, text } from '../answer.ts'
import type { Call } from '../call.ts'
import type { DeclaredRoute } from '../route.ts'
import type { Router } from '../router.ts'
import { readSiteFiles, type SiteFiles } from './site-files.ts'

const ROUTE = {
  method: 'GET',
  access: 'public',
  face: { json: 'api', pages: true },
  replies: [200, 304],
} as const satisfies Omit<DeclaredRoute, 'url'>

export function addDocumentation(router: Router): void {
  let files: SiteFiles | undefined
  const answer = (name: string, call: Pick<Call<'public'>, 'headers'>): Promise<Answer> => {
    files ??= readSiteFiles()
    return fileAnswer(files, name, call)
  }

  // The links of the pages are relative, so the start page has an address that ends in a slash.
  router.add({ ...ROUTE, url: '/docs', replies: [302] }, () => redirect('/docs/'))
  router.add({ ...ROUTE, url: '/docs/' }, (call) => answer('index.html', call))
  router.add({ ...ROUTE, url: '/docs/:name' }, (call) => answer(call.path['name'] ?? '', call))
  router.add({ ...ROUTE, url: '/docs/:folder/:name' }, (call) =>
    answer(`${call.path['folder']}/${call.path['name']}`, call),
  )
}

async function fileAnswer(
  files: SiteFiles | undefined,
  name: string,
  call: Pick<Call<'public'>, 'headers'>,
): Promise<Answer> {
  const { type, document } = orNotFound(files?.get(name))
  const { bytes, headers } = await document(call)
  if (bytes === undefined) return empty(304, headers)
  if (type === 'text/html; charset=utf-8') {
    return page(200, bytes, { assets: 'own', images: 'own' }, headers)
  }
  if (type === 'image/svg+xml') {
    return { status: 200, headers, content: { kind: 'image', type, bytes } }
  }
  return text(type, bytes, headers)
}
