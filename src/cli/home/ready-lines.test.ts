import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import type { OpenedHome } from '../../app/installation/home.ts'
import { readyLines } from './ready-lines.ts'

/** The line about browsers, for a service whose home is `/srv/my home` and that presents a certificate of this CA. */
function browsersLine(caFile: string | undefined): string | undefined {
  const listeners = [{ name: 'default', baseUrls: ['https://localhost:1280'] }]
  const config = { home: '/srv/my home', listeners: [] } as unknown as OpenedHome['config']
  const lines = readyLines({ listeners, caFile } as Parameters<typeof readyLines>[0], {
    config,
    override: undefined,
    file: '/srv/my home/controller.yml',
  })
  return lines.find((line) => line.trim().startsWith('browsers'))
}

test('the command that makes browsers trust the CA runs in a clone, in any folder and for any home', () => {
  // The tests run from the sources, as a clone does; `latchkey` is not a command there.
  const line = browsersLine('/srv/my home/pki/ca.pem') ?? ''
  const [, node, program, rest] = / (\/\S+) (\/\S+) (.*)$/.exec(line) ?? []
  assert.equal(node, process.execPath)
  assert.ok(existsSync(program ?? ''), line)
  assert.equal(rest, "trust --ca '/srv/my home/pki/ca.pem'")
})

test('a CA that the operator configured is not offered to browsers', () => {
  assert.equal(browsersLine('/etc/ssl/our-ca.pem'), undefined)
  assert.equal(browsersLine(undefined), undefined)
})
