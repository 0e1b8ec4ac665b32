/**
 * `latchkey trust` as it is shipped, with a certutil that only writes down how it is called, and no other program on the
 * PATH: never with a trust store of this machine. What it does elsewhere is tested in src/cli/trust.
 */
import assert from 'node:assert/strict'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { spawnLatchkey } from '../support/process/child-service.ts'
import { preparedHome } from '../support/process/prepared-home.ts'
import { temporaryFolder } from '../support/service.ts'

test('adds the CA of a home to a browser', async (t) => {
  const folder = await temporaryFolder(t)
  for (const part of ['bin', 'user/.pki/nssdb'])
    await mkdir(join(folder, part), { recursive: true })
  await writeFile(join(folder, 'user/.pki/nssdb/cert9.db'), '')
  const said = join(folder, 'said')
  const certutil = `#!/bin/sh\nif [ "$1" = -L ]; then exit 1; fi\necho "$@" >> '${said}'\n`
  await writeFile(join(folder, 'bin/certutil'), certutil, { mode: 0o700 })
  const environment = { PATH: join(folder, 'bin'), HOME: join(folder, 'user') }
  const home = await preparedHome(t)
  const child = spawnLatchkey(t, ['trust', '--yes', '--home', home], { environment })
  const { code, stdout, stderr } = await child.finished
  assert.deepEqual([code, stderr], [0, ''])
  assert.match(stdout, /SHA-256 {2}[0-9A-F:]{95}\n/)
  assert.match(stdout, /Added to Chromium and Chrome \(.*\)\nRestart browsers that are open\.\n$/)
  assert.match(
    await readFile(said, 'utf8'),
    /^-A -d sql:\S+\/nssdb -t C,, -n Latchkey CA \w{16} -i \S+\n$/,
  )
})

test('names a CA that cannot be read, and a home without one', async (t) => {
  const folder = await temporaryFolder(t)
  const missing = join(folder, 'ca.pem')
  const { code, stderr } = await spawnLatchkey(t, ['trust', '--ca', missing]).finished
  assert.equal(code, 66)
  assert.equal(stderr, `latchkey: cannot read the CA ${missing}\n`)
  const empty = await spawnLatchkey(t, ['trust', '--home', join(folder, 'home')]).finished
  assert.equal(empty.code, 1)
  assert.match(
    empty.stderr,
    /^latchkey: nothing is installed in .*; run: latchkey init --home \S+\n$/,
  )
})
