/** The program that the bench starts: bundled once for each run, into a folder that is removed at its end. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export interface BundledProgram {
  readonly program: string
  /** Where compiled code is kept, as bin/latchkey.js does for the package. */
  readonly compileCache: string
}

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

let bundled: BundledProgram | undefined

export function bundledProgram(): BundledProgram {
  bundled ??= bundle()
  return bundled
}

/** Below node_modules, so that the packages that the bundle leaves outside are found. */
function bundle(): BundledProgram {
  const parent = join(ROOT, 'node_modules', '.cache')
  mkdirSync(parent, { recursive: true })
  const folder = mkdtempSync(join(parent, 'bench-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  execFileSync(process.execPath, [join(ROOT, 'scripts', 'bundle.mjs'), folder])
  return { program: join(folder, 'main.js'), compileCache: join(folder, 'compiled') }
}
