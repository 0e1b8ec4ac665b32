/**
 * The stylesheet and scripts of the console, from our own address: GET /console/assets/… (D-357). They are the same for
 * everyone and hold no data, so they need no session.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { orNotFound } from '../../domain/refusals.ts'
import { ASSETS_PATH } from '../../web/console/navigation.ts'
import { BASE_STYLES } from '../../web/login/base-styles.ts'
import { empty, text } from '../answer.ts'
import { type KeptDocument, keepDocument } from '../kept-document.ts'
import { SITE_ROUTE } from '../own-site/site.ts'
import type { Router } from '../router.ts'

const require = createRequire(import.meta.url)

/** A file of ours, beside the pages that load it. */
const own = (name: string) =>
  readFileSync(new URL(`../../web/console/assets/${name}`, import.meta.url), 'utf8')

/** A file of a package that is served to browsers as it is. */
const packaged = (path: string) => readFileSync(require.resolve(path), 'utf8')

const SCRIPT = 'text/javascript; charset=utf-8'
const STYLE = 'text/css; charset=utf-8'

interface Asset {
  readonly type: string
  readonly document: KeptDocument
}

const script = (read: () => string): Asset => ({ type: SCRIPT, document: keepDocument(read) })

/** Every file by its name in the address. Each is read when it is first asked for. */
const ASSETS: ReadonlyMap<string, Asset> = new Map([
  [
    'console.css',
    {
      type: STYLE,
      document: keepDocument(() => `${BASE_STYLES}${own('console.css')}${own('rules.css')}`),
    },
  ],
  ['htmx.js', script(() => packaged('htmx.org/dist/htmx.min.js'))],
  ...['console.js', 'copy.js', 'keyboard.js', 'live.js', 'times.js'].map(
    (name) => [name, script(() => own(name))] as const,
  ),
])

export function addAssets(router: Router): void {
  router.add(
    {
      ...SITE_ROUTE,
      method: 'GET',
      url: `${ASSETS_PATH}/:name`,
      replies: [200, 304],
    },
    async (call) => {
      const { type, document } = orNotFound(ASSETS.get(call.path['name'] ?? ''))
      const { bytes, headers } = await document(call)
      return bytes === undefined ? empty(304, headers) : text(type, bytes, headers)
    },
  )
}
