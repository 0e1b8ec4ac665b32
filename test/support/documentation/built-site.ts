/** The documentation site, built by the command that users run. */
import { execFile } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

/** Builds it into a folder; without one into dist/site, where a service serves it, unless it is there already. */
export async function builtSite(folder?: string): Promise<string> {
  const where = folder === undefined ? ['--if-needed'] : ['--into', folder]
  await promisify(execFile)(process.execPath, ['scripts/site.ts', ...where], { cwd: ROOT })
  return folder ?? join(ROOT, 'dist', 'site')
}

/** The HTML of every page, by its address below the site. */
export function pagesIn(folder: string): ReadonlyMap<string, string> {
  const names = globSync('**/*.html', { cwd: folder })
  return new Map(names.map((name) => [name, readFileSync(join(folder, name), 'utf8')]))
}
