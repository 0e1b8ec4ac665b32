// Bundles a program of ours with esbuild. Loading some 1,500 modules one by one is most of a start; a bundle of the same
// code starts in less than half the CPU time and needs less memory (D-271).
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build, stop } from 'esbuild'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const SOURCES = join(ROOT, 'src')

/** Started by the service itself, from beside the source that starts it: the bundle of it, not the source. */
const WORKER = 'app/workers/worker-process'
const STARTS_WORKERS = join(SOURCES, 'app', 'workers', 'pool.ts')

/**
 * Direct dependencies that have none of their own and consist of many files. Their version is fixed by our
 * package.json, so what a bundle has is what is installed. All others stay outside: npm may install a newer version
 * of what they depend on, and a fix there must take effect.
 */
const BUNDLED = ['jose', 'kysely', 'yaml', 'zod']

/**
 * Writes `main.js` and `worker-process.js`, with what they share, to the folder. `addressOf(path)` is an expression for
 * the address of a source, for the code that looks for other files beside itself.
 */
export async function bundleProgram(folder, addressOf) {
  await bundle({
    entryPoints: {
      main: join(SOURCES, 'main.ts'),
      'worker-process': join(SOURCES, `${WORKER}.ts`),
    },
    folder,
    addressOf,
    plugins: [leaveOutside()],
  })
  await refuseWideText(folder)
  await writeFile(join(folder, 'LICENSES.txt'), await licenses())
}

/** What the bundle of the package and that of the tests have in common; the other options are those of esbuild. */
export async function bundle({ folder, addressOf, plugins = [], ...options }) {
  await build({
    outdir: folder,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'esnext',
    // V8 keeps the text of what it runs. Names stay, for stack traces.
    minifyWhitespace: true,
    legalComments: 'none',
    // For packages that are CommonJS.
    banner: {
      js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
    },
    plugins: [...plugins, keepAddresses(addressOf)],
    logLevel: 'warning',
    ...options,
  })
  await stop()
}

/**
 * V8 keeps a file with one wide character at twice its size, in every process. esbuild escapes these characters
 * everywhere but in tagged templates.
 */
async function refuseWideText(folder) {
  const names = await readdir(folder)
  for (const name of names.filter((one) => one.endsWith('.js'))) {
    const wide = /.{0,40}[^\0-\x7f]/.exec(await readFile(join(folder, name), 'utf8'))
    if (wide !== null) throw new Error(`${name}: write an entity, such as &hellip;, in: ${wide[0]}`)
  }
}

/** For a bundle that runs where its sources are. */
export function addressOfSource(path) {
  return JSON.stringify(pathToFileURL(path).href)
}

// For the bench: the bundle of a checkout, in a folder below its node_modules.
if (import.meta.main) {
  await bundleProgram(process.argv[2], addressOfSource)
}

/** For a bundle in `dist/program`: the address of the same file in `dist`. */
export function besideBundle(path) {
  const name = relative(SOURCES, path).replaceAll('\\', '/').replace(/\.ts$/, '.js')
  return `new URL(${JSON.stringify(`../${name}`)}, import.meta.url).href`
}

function leaveOutside() {
  const isBundled = (path) =>
    BUNDLED.some((name) => path === name || path.startsWith(`${name}/`)) || /^[./#]/.test(path)
  return {
    name: 'leave outside',
    setup({ onResolve }) {
      onResolve({ filter: /^/ }, ({ path, kind }) =>
        kind === 'entry-point' || isBundled(path) ? undefined : { path, external: true },
      )
    },
  }
}

function keepAddresses(addressOf) {
  return {
    name: 'keep addresses',
    setup({ onLoad }) {
      onLoad({ filter: /[/\\](src|test)[/\\].*\.ts$/ }, async ({ path }) => {
        const text = await readFile(path, 'utf8')
        const address =
          path === STARTS_WORKERS ? "new URL('./pool.js', import.meta.url).href" : addressOf(path)
        return { loader: 'ts', contents: text.replaceAll('import.meta.url', `(${address})`) }
      })
    },
  }
}

/** Each license asks to be included in copies of its code. */
async function licenses() {
  const texts = BUNDLED.map(async (name) => {
    const folder = join(ROOT, 'node_modules', name)
    const { version } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
    const file = ['LICENSE', 'LICENSE.md'].map((one) => readFile(join(folder, one), 'utf8'))
    return `${name} ${version}\n\n${await Promise.any(file)}`
  })
  return (await Promise.all(texts)).join('\n\n')
}
