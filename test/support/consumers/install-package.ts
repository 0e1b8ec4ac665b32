/** The package as it is published: built, packed, and installed into a project of somebody else. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { globSync } from 'node:fs'
import { cp, readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { promisify } from 'node:util'
import { temporaryFolder } from '../service.ts'
import { assembledStages, CHECKOUT } from './image.ts'

const run = promisify(execFile)

/** `npm ci --prefix test/nodes` installs them; without it only the Node of the test is tried. */
export const OTHER_NODES = ['20', '22', '24'].flatMap((major) =>
  globSync(join(CHECKOUT, 'test', 'nodes', 'node_modules', `node-${major}*`, 'bin', 'node')).map(
    (path) => ({ major, path }),
  ),
)

export interface Consumer {
  /** The project. */
  readonly folder: string
  /** The package in its node_modules. */
  readonly installed: string
  /** The tarball. */
  readonly archive: string
}

export async function installPackage(t: TestContext): Promise<Consumer> {
  const folder = await temporaryFolder(t)
  // npm reaches its registry by the settings of whoever runs the tests; the folder of `npm test` is not one of them.
  const { npm_config_local_prefix: _, ...env } = process.env
  const built = join(await assembledStages(), 'build')
  // What else the package has, and what it must not have.
  for (const name of ['.gitignore', 'bin', 'deploy', 'LICENSE', 'README.md', 'test/process']) {
    await cp(join(CHECKOUT, name), join(built, name), { recursive: true })
  }
  await run('npm', ['pack', '--pack-destination', folder], { cwd: built, env })
  const archive = (await readdir(folder)).find((name) => name.endsWith('.tgz')) ?? assert.fail()
  const manifest = { private: true, dependencies: { latchkey: `file:${archive}` } }
  await writeFile(join(folder, 'package.json'), JSON.stringify(manifest))
  // What the checkout was installed from is in npm's cache already.
  const args = ['install', '--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts']
  await run('npm', args, { cwd: folder, env })
  return {
    folder,
    installed: join(folder, 'node_modules', 'latchkey'),
    archive: join(folder, archive),
  }
}

export async function bytesBelow(folder: string): Promise<number> {
  let bytes = 0
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) bytes += (await stat(join(entry.parentPath, entry.name))).size
  }
  return bytes
}

/** Writes a program that uses the libraries, once as ES module and once as CommonJS. */
export async function writeEntries(folder: string): Promise<readonly string[]> {
  await cp(
    join(CHECKOUT, 'test', 'support', 'consumers', 'exercise.cjs'),
    join(folder, 'exercise.cjs'),
  )
  const print = 'then((seen) => console.log(JSON.stringify(seen)))'
  await writeFile(
    join(folder, 'esm.mjs'),
    `import { connect } from 'latchkey/client'
import { startRouter } from 'latchkey/router'
import exercise from './exercise.cjs'
exercise({ connect, startRouter }).${print}\n`,
  )
  await writeFile(
    join(folder, 'commonjs.cjs'),
    `const { connect } = require('latchkey/client')
const { startRouter } = require('latchkey/router')
require('./exercise.cjs')({ connect, startRouter }).${print}\n`,
  )
  return ['esm.mjs', 'commonjs.cjs']
}
