/**
 * R117: dependencies are few, pinned and without install scripts. What somebody else publishes tomorrow, under a name that
 * we use today, does not get in by itself, and what gets in runs nothing while it is installed.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'

interface Locked {
  readonly version?: string
  readonly integrity?: string
  readonly resolved?: string
  readonly dev?: boolean
  readonly optional?: boolean
  readonly hasInstallScript?: boolean
  readonly link?: boolean
}

const read = (name: string) => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8')
const manifest = JSON.parse(read('package.json'))
const pinnedNode = JSON.parse(read('tools/node/package.json'))
// The package itself and its workspace are folders of this repository.
const locked = Object.entries<Locked>(JSON.parse(read('package-lock.json')).packages).filter(
  ([path, { link }]) => path.startsWith('node_modules/') && link !== true,
)

test('R117: every dependency is named by one exact version', () => {
  const { dependencies, devDependencies } = manifest
  const all = { ...dependencies, ...devDependencies, ...pinnedNode.optionalDependencies }
  for (const [name, version] of Object.entries<string>(all)) {
    // An alias names the package before the version.
    assert.match(version, /^(npm:[\w/@-]+@)?\d+\.\d+\.\d+(-[\w.]+)?$/, name)
  }
})

test('R117: the lock file has the hash of every package, and names no registry', () => {
  for (const [path, { integrity, resolved }] of locked) {
    assert.match(integrity ?? '', /^sha512-/, path)
    assert.equal(resolved, undefined, path)
  }
})

test('R117: nothing that we ship wants to run code while it is installed, and nothing may', () => {
  const shipped = locked.filter(([, { dev }]) => dev !== true)
  assert.deepEqual(
    shipped.filter(([, { hasInstallScript }]) => hasInstallScript === true),
    [],
  )
  assert.match(read('.npmrc'), /^ignore-scripts=true$/m)
})

test('R117: we ship few packages, and each is there because one of ours asked for it', () => {
  // A start for a talk, not a law: whoever raises it says in the commit what for.
  const shipped = locked.filter(([, { dev, optional }]) => dev !== true && optional !== true)
  assert.ok(shipped.length <= 145, `${shipped.length} packages are shipped`)
  assert.ok(Object.keys(manifest.dependencies).length <= 16)
})
