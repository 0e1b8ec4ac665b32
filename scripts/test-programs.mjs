// Bundles the programs that tests start as child processes, once for a test run. Most of a start is loading 1,300
// modules one by one; a bundle of the same sources starts in half the CPU time. The first run of each command, and what
// the tests of the shipped files start, stays bin/latchkey.js (D-259).
import { mkdtempSync, rmSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build, stop } from 'esbuild'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

/** The name under which test/support/process/program.ts asks for each, and its source. */
const PROGRAMS = {
  latchkey: 'src/main.ts',
  'cheap-latchkey': 'test/support/process/cheap-latchkey.ts',
  // Started by the service itself, from beside the source that starts it.
  'worker-process': 'src/app/workers/worker-process.ts',
}
/** This source starts the bundle of the worker instead of its source. */
const STARTS_WORKERS = join(ROOT, 'src/app/workers/pool.ts')

/** Returns the folder, which is removed at the end of the process. It is inside node_modules, so that packages with native code are found. */
export async function bundlePrograms() {
  const parent = join(ROOT, 'node_modules', '.cache')
  await mkdir(parent, { recursive: true })
  const folder = mkdtempSync(join(parent, 'test-programs-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  await build({
    entryPoints: Object.fromEntries(
      Object.entries(PROGRAMS).map(([name, source]) => [`${name}.bundle`, join(ROOT, source)]),
    ),
    outdir: folder,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'esnext',
    // Native code; data that is loaded when the first password is set; and what tests change in the process before the
    // program starts (test/support/kills).
    external: ['@node-rs/argon2', '@zxcvbn-ts/language-common', 'pg'],
    // For packages that are CommonJS.
    banner: {
      js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
    },
    plugins: [keepAddresses(folder)],
    logLevel: 'warning',
  })
  await stop()
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

/** A source that looks for files beside itself finds them where the source is. */
function keepAddresses(folder) {
  return {
    name: 'keep addresses',
    setup({ onLoad }) {
      onLoad({ filter: /[/\\](src|test)[/\\].*\.ts$/ }, async ({ path }) => {
        const text = await readFile(path, 'utf8')
        const at = path === STARTS_WORKERS ? join(folder, 'pool.js') : path
        const address = JSON.stringify(pathToFileURL(at).href)
        return { loader: 'ts', contents: text.replaceAll('import.meta.url', address) }
      })
    },
  }
}
