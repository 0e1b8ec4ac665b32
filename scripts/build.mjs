// Builds dist/ for the published package: program/, the bundle that it runs (D-271); the same code in single files, as far
// as its libraries need it; build-info.json, which says what it was built from; sbom.json, which lists its dependencies
// (CycloneDX, R117); and site/, the documentation. A checkout needs none of it.
import { execFileSync, spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  globSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { besideBundle, bundleProgram } from './bundle.mjs'
import { buildSite } from './site/build.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const dist = new URL('../dist/', import.meta.url)

// Files that were removed from src must not stay in the package. The site is replaced as a whole, below.
for (const name of existsSync(dist) ? readdirSync(dist) : []) {
  if (name !== 'site') rmSync(new URL(name, dist), { recursive: true, force: true })
}
// The compiler in Go. `typescript` is its predecessor in JavaScript, which only dependency-cruiser still needs (D-277).
const tsc = fileURLToPath(new URL('../node_modules/typescript-7/bin/tsc', import.meta.url))
// One checker takes half the processor time of four, each of which would check what all others import.
const compiler = [tsc, '--project', 'tsconfig.build.json', '--checkers', '1']
const { status } = spawnSync(process.execPath, compiler, { cwd: root, stdio: 'inherit' })
if (status !== 0) process.exit(status ?? 1)
// Browsers get these files as they are; the compiler does not know them.
const assets = 'web/console/assets/'
cpSync(new URL(`../src/${assets}`, import.meta.url), new URL(assets, dist), { recursive: true })
await bundleProgram(fileURLToPath(new URL('program', dist)), besideBundle)
removeUnused()

const info = { revision: revision(), buildDate: buildDate() }
writeFileSync(new URL('build-info.json', dist), `${JSON.stringify(info)}\n`)
await buildSite(fileURLToPath(new URL('site', dist)))
writeFileSync(new URL('sbom.json', dist), `${JSON.stringify(billOfMaterials(info))}\n`)
console.log(`dist/ is built from ${info.revision}`)

/** Removes the single files that neither a library of the package nor its bundle can reach: the bundle has their code. */
function removeUnused() {
  const { exports } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  const reached = new Set(
    Object.values(exports)
      .flatMap((entry) => Object.values(entry))
      .filter((path) => path.startsWith?.('./dist/'))
      .map((path) => join(root, path)),
  )
  const folder = fileURLToPath(dist)
  for (const name of globSync('program/*.js', { cwd: folder })) reached.add(join(folder, name))
  // The set grows while it is walked.
  for (const file of reached) {
    for (const found of referencesIn(file)) reached.add(found)
  }
  for (const name of globSync('**/*.{js,d.ts}', { cwd: folder })) {
    const isCode = !name.startsWith('site/') && !name.startsWith(assets)
    if (isCode && !reached.has(join(folder, name))) rmSync(join(folder, name))
  }
}

/** The files of dist that one of them imports or names. Declarations name the source of another declaration. */
function referencesIn(file) {
  const isDeclaration = file.endsWith('.d.ts')
  return [...readFileSync(file, 'utf8').matchAll(/['"`](\.{1,2}\/[^'"`\n]+\.(?:js|ts))['"`]/g)]
    .map(([, path]) =>
      join(dirname(file), isDeclaration ? path.replace(/(\.d)?\.(ts|js)$/, '.d.ts') : path),
    )
    .filter((path) => existsSync(path))
}

/** Returns the commit, or `unknown` for a source archive without a repository. */
function revision() {
  try {
    return execFileSync('git', ['rev-parse', 'HEAD'], {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim()
  } catch {
    return 'unknown'
  }
}

/** SOURCE_DATE_EPOCH is how reproducible builds are told the time: https://reproducible-builds.org/specs/source-date-epoch/ */
function buildDate() {
  const { SOURCE_DATE_EPOCH: epoch } = process.env
  return (epoch === undefined ? new Date() : new Date(Number(epoch) * 1000)).toISOString()
}

/**
 * Uses only the lock file, without the workspace, which is not shipped (D-100). The same sources and the same time give
 * the same bytes.
 */
function billOfMaterials(info) {
  const args = ['sbom', '--package-lock-only', '--omit=dev', '--workspaces=false']
  args.push('--sbom-format=cyclonedx')
  const text = execFileSync('npm', args, {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    maxBuffer: 64 * 1024 * 1024,
  })
  const { serialNumber: _, metadata, ...bom } = JSON.parse(text)
  return { ...bom, metadata: { ...metadata, timestamp: info.buildDate } }
}
