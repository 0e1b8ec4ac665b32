/**
 * The files of the documentation site, which is built into dist/site (D-352). Only files that are there when the list is
 * read are served, by their exact names, so no request can name a path. Each is read and compressed once.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { extname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type KeptDocument, keepDocument } from '../kept-document.ts'

/** The same from `src` and from `dist`. */
const FOLDER = fileURLToPath(new URL('../../../dist/site/', import.meta.url))

const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
} as const

export interface SiteFile {
  readonly type: (typeof TYPES)[keyof typeof TYPES]
  readonly document: KeptDocument
}

export type SiteFiles = ReadonlyMap<string, SiteFile>

/** Returns the files by their address below the site; undefined if the site was not built. */
export function readSiteFiles(): SiteFiles | undefined {
  try {
    const entries = readdirSync(FOLDER, { recursive: true, withFileTypes: true })
    return new Map(
      entries.flatMap((entry) => {
        const path = join(entry.parentPath, entry.name)
        const type = TYPES[extname(entry.name) as keyof typeof TYPES]
        if (!entry.isFile() || type === undefined) return []
        const document = keepDocument(() => readFileSync(path, 'utf8'))
        return [[relative(FOLDER, path).replaceAll(sep, '/'), { type, document }] as const]
      }),
    )
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
