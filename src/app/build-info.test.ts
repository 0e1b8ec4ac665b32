import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { readBuildInfo } from './build-info.ts'

test('running from the sources reports the version of the package and no build', async () => {
  const manifest = await readFile(new URL('../../package.json', import.meta.url), 'utf8')
  assert.deepEqual(await readBuildInfo(), {
    version: JSON.parse(manifest).version,
    revision: 'source',
    buildDate: 'source',
  })
})
