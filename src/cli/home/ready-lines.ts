/** What a start prints when the service answers: links to click, and a command to paste. */
import { fileURLToPath } from 'node:url'
import type { Instance } from '../../app/core.ts'
import { homeFiles, type OpenedHome } from '../../app/installation/home.ts'
import { shellWord } from '../../base/shell-word.ts'
import type { Binding } from '../../config/config.ts'

type Shown = Pick<Instance, 'listeners' | 'caFile'>

/** The pages for people, with the binding that has each. */
const PAGES: readonly { readonly title: string; readonly binding: Binding; path: string }[] = [
  { title: 'account', binding: 'edge-oidc', path: '/account' },
  { title: 'console', binding: 'console', path: '/console' },
]

/** A clone runs the TypeScript itself (D-271), and `latchkey` is not a command there. */
const COMMAND = import.meta.filename.endsWith('.ts')
  ? [process.execPath, fileURLToPath(new URL('../../../bin/latchkey.js', import.meta.url))]
  : ['latchkey']

export function readyLines(
  { listeners, caFile }: Shown,
  { config, override, file }: Pick<OpenedHome, 'config' | 'override' | 'file'>,
): readonly string[] {
  const base = listeners[0]?.baseUrls[0] ?? ''
  const trust = caFile === undefined ? [] : ['--cacert', caFile]
  const curl = pasted('curl', ...trust, `${base}/version`)
  const pages = PAGES.flatMap(({ title, binding, path }): [string, string][] => {
    const bound = config.listeners.find(({ apis }) => apis.some((api) => api.binding === binding))
    const [url] = listeners.find(({ name }) => name === bound?.name)?.baseUrls ?? []
    return url === undefined ? [] : [[title, `${url}${path}`]]
  })
  const isOurCa = caFile === homeFiles(config.home).ca
  const fields: readonly (readonly [string, string | undefined])[] = [
    ['base URL', base],
    ...pages,
    ['address', override && `from ${override.by}, for this run; ${file} says ${override.from}`],
    ['CA file', caFile],
    ['try it', curl],
    [
      'browsers',
      isOurCa
        ? `warn until they trust the CA: ${pasted(...COMMAND, 'trust', '--ca', caFile)}`
        : undefined,
    ],
  ]
  const shown = fields.filter(([, value]) => value !== undefined)
  return ['Latchkey is ready.', ...shown.map(([title, value]) => `  ${title.padEnd(8)}   ${value}`)]
}

const pasted = (...words: readonly string[]): string => words.map(shellWord).join(' ')
