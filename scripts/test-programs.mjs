// Bundles the programs that tests start as child processes, once for a test run. Most of a start is loading 1,300
// modules one by one; a bundle of the same sources starts in half the CPU time. The first run of each command, and what
// the tests of the shipped files start, stays bin/latchkey.js (D-259).
import { mkdtempSync, rmSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { addressOfSource, bundle } from './bundle.mjs'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

/** The name under which test/support/process/program.ts asks for each, and its source. */
const PROGRAMS = {
  latchkey: 'src/main.ts',
  'cheap-latchkey': 'test/support/process/cheap-latchkey.ts',
  // Started by the service itself, from beside the source that starts it.
  'worker-process': 'src/app/workers/worker-process.ts',
}

/** Returns the folder, which is removed at the end of the process. It is inside node_modules, so that packages with native code are found. */
export async function bundlePrograms() {
  const parent = join(ROOT, 'node_modules', '.cache')
  await mkdir(parent, { recursive: true })
  const folder = mkdtempSync(join(parent, 'test-programs-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  await bundle({
    entryPoints: Object.fromEntries(
      Object.entries(PROGRAMS).map(([name, source]) => [`${name}.bundle`, join(ROOT, source)]),
    ),
    folder,
    addressOf: addressOfSource,
    // Native code; data that is loaded when the first password is set; and what tests change in the process before the
    // program starts (test/support/kills).
    external: ['@node-rs/argon2', '@zxcvbn-ts/language-common', 'pg'],
  })
  // Tests add the commands that they start as the shipped program.
  await writeFile(join(folder, 'started'), '')
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
  for (const name of Object.keys(PROGRAMS)) await writeFile(join(folder, `${name}.js`), start(name))
  return folder
}

/** As bin/latchkey.js does, with a cache that goes with the bundle. */
function start(name) {
  return `import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'
enableCompileCache(fileURLToPath(new URL('./cache', import.meta.url)))
await import('./${name}.bundle.js')
`
}
