/** docs/cli.md is run: its lines, as they stand there. */
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { runGuide } from '../support/guides/guide.ts'
import { administrate } from '../support/management.ts'
import { ADMIN, startService, temporaryFolder } from '../support/service.ts'

test('the lines of docs/cli.md do what they say', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const password = 'a long password of a robot'
  await admin.createIdentity({ name: 'robot', password, isAdmin: true })
  const cwd = await temporaryFolder(t)
  await writeFile(join(cwd, 'ca.pem'), service.ca)
  await writeFile(join(cwd, 'password'), `${password}\n`, { mode: 0o600 })
  const url = 'https://auth.example.com'
  const [, , administered = ''] = await runGuide(t, 'docs/cli.md', {
    cwd,
    typed: `${ADMIN.password}\n`,
    replace: {
      // Where nobody looks at a browser, and nothing trusts the CA of a test.
      [`latchkey login --url ${url}\n`]: `latchkey login --url ${service.baseUrl} --ca ca.pem --username admin\n`,
      [`${url}/edge`]: `${service.baseUrl}/edge`,
      'curl -H': 'curl -sS --cacert ca.pem -H',
      '/run/secrets/password': 'password',
    },
    notRun: { 'source <(latchkey completion': 'each shell has its own: cli-completion.test.ts' },
  })
  assert.match(administered, /^The identity "alice" was created: /m)
  assert.match(administered, /^Deleted: identity "alice" /m)
})
