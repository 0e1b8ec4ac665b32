/** What a process loads before it can do anything: each start pays for it in time, and each idle process in memory (D-263). */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'

const ROOT = join(import.meta.dirname, '../..')

/** What is loaded after a source of ours: modules of Node by name, ours and those of packages by address. */
async function loadedAfter(source: string): Promise<readonly string[]> {
  const address = JSON.stringify(pathToFileURL(join(ROOT, source)).href)
  const script = `
    import { registerHooks } from 'node:module'
    const loaded = []
    registerHooks({
      load(url, context, next) {
        loaded.push(url)
        return next(url, context)
      },
    })
    await import(${address})
    console.log(JSON.stringify([...process.moduleLoadList, ...loaded]))`
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--input-type=module',
    '--eval',
    script,
  ])
  return JSON.parse(stdout)
}

function count(loaded: readonly string[], part: string): number {
  return loaded.filter((name) => name.includes(part)).length
}

test('the command line loads neither the client nor the configuration until a command needs them', async () => {
  const loaded = await loadedAfter('src/cli/run.ts')
  assert.equal(count(loaded, '/src/cli/table/commands.ts'), 1)
  assert.equal(count(loaded, '/src/config/schema.ts'), 0)
  assert.equal(count(loaded, '/node_modules/'), 0)
  assert.equal(count(loaded, 'undici'), 0)
})

test('a worker loads neither the code of fetch nor libraries that few requests need', async () => {
  const loaded = await loadedAfter('src/app/workers/worker.ts')
  assert.equal(count(loaded, '/node_modules/fastify/fastify.js'), 1)
  for (const part of [
    'undici',
    '/node_modules/pkijs/',
    '/node_modules/qrcode/',
    '/node_modules/@simplewebauthn/',
    '/node_modules/@zxcvbn-ts/',
    '/node_modules/pg/',
  ]) {
    assert.equal(count(loaded, part), 0, part)
  }
})

test('the supervisor loads nothing that answers requests', async () => {
  const loaded = await loadedAfter('src/app/workers/supervisor.ts')
  assert.equal(count(loaded, '/src/app/core.ts'), 1)
  for (const part of [
    'undici',
    '/node_modules/fastify/',
    '/src/web/console/',
    '/src/app/serving.ts',
  ]) {
    assert.equal(count(loaded, part), 0, part)
  }
})
