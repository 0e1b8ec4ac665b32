/** What a process loads before it can do anything: each start pays for it in time, and each idle process in memory (D-263). */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'

const ROOT = join(import.meta.dirname, '../..')

/** The modules of Node itself that are loaded after a source of ours. */
async function nodeModulesAfter(...sources: readonly string[]): Promise<readonly string[]> {
  const addresses = sources.map((source) => pathToFileURL(join(ROOT, source)).href)
  const imports = addresses.map((address) => `await import(${JSON.stringify(address)})`)
  const script = `${imports.join('\n')}\nconsole.log(JSON.stringify(process.moduleLoadList))`
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--input-type=module',
    '--eval',
    script,
  ])
  return JSON.parse(stdout)
}

test('neither the command line nor a process of the service loads the code of fetch', async () => {
  const loaded = await nodeModulesAfter('src/cli/run.ts', 'src/app/workers/worker.ts')
  assert.ok(loaded.includes('NativeModule http'))
  assert.deepEqual(
    loaded.filter((name) => name.includes('undici')),
    [],
  )
})
