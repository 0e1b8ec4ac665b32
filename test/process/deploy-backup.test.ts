/** The units of deploy/systemd that back up every night. That they run is shown by guide-backup.test.ts. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { temporaryFolder } from '../support/service.ts'

const UNITS = new URL('../../deploy/systemd/', import.meta.url)
const readUnit = (name: string) => readFile(new URL(name, UNITS), 'utf8')
const valuesOf = (unit: string, key: string) =>
  [...unit.matchAll(new RegExp(`^${key}=(.*)$`, 'gm'))].map(([, value]) => value)

test('R063: the backup runs as the user of the service, with its variables, and can write nothing but the home and the backups', async () => {
  const backup = await readUnit('latchkey-backup.service')
  const service = await readUnit('latchkey.service')
  for (const key of ['User', 'Group', 'EnvironmentFile', 'UMask', 'ProtectSystem', 'LimitCORE']) {
    assert.deepEqual(valuesOf(backup, key), valuesOf(service, key), key)
  }
  assert.deepEqual(valuesOf(backup, 'ReadWritePaths'), ['/var/lib/latchkey /var/backups/latchkey'])
  assert.deepEqual(valuesOf(backup, 'CapabilityBoundingSet'), [''])
  assert.deepEqual(valuesOf(backup, 'NoNewPrivileges'), ['yes'])
})

test('systemd finds nothing wrong with the backup and its timer', {
  skip: !existsSync('/usr/bin/systemd-analyze') && 'there is no systemd-analyze here',
}, async (t) => {
  const folder = await temporaryFolder(t)
  const paths = ['latchkey-backup.service', 'latchkey-backup.timer'].map((name) =>
    join(folder, name),
  )
  for (const path of paths) {
    const unit = await readUnit(path.slice(folder.length + 1))
    await writeFile(path, unit.replace('/usr/local/bin/latchkey', process.execPath))
  }
  const { stdout, stderr } = await promisify(execFile)('systemd-analyze', ['verify', ...paths])
  assert.deepEqual({ stdout, stderr }, { stdout: '', stderr: '' })
})
