/** docs/install.md is run on a machine with a stand-in for systemd, from the user that is made to its removal. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { runGuide } from '../support/guides/guide.ts'
import { freePort } from '../support/ports.ts'
import { operatorMachine } from '../support/process/operator-machine.ts'

const PAGE = 'docs/install.md'

test('the lines of docs/install.md install the service, log its administrator in, and remove it', async (t) => {
  const machine = await operatorMachine(t)
  const outputs = await runGuide(t, 'docs/install.md', {
    environment: machine.environment,
    replace: {
      ...(await machine.replace(PAGE)),
      'auth.example.com:1280': `localhost:${await freePort()}`,
    },
    notRun: {
      'npm ci && npm start': 'fetches packages; readme.test.ts goes on from there',
      'npm ci && npm run build': 'fetches packages; package.test.ts builds, packs and runs it',
      'podman build':
        'needs a container runtime; package.test.ts runs the steps of the Containerfile',
    },
  })
  const { version } = JSON.parse(
    await readFile(new URL('../../package.json', import.meta.url), 'utf8'),
  )
  assert.equal(outputs[0], `${version}\n`)
  for (const path of ['/etc/latchkey', '/var/lib/latchkey', '/main-pid']) {
    assert.ok(!existsSync(machine.at(path)), path)
  }
  assert.deepEqual(await readdir(machine.at('/etc/systemd/system')), [])
})

test('docs/install.md names the file that npm makes of this version', async () => {
  const { name, version, files } = JSON.parse(
    await readFile(new URL('../../package.json', import.meta.url), 'utf8'),
  )
  const page = await readFile(new URL(`../../${PAGE}`, import.meta.url), 'utf8')
  assert.ok(page.includes(`./${name}-${version}.tgz`))
  // The unit is taken from the installed package.
  assert.ok(files.includes('deploy'))
})
