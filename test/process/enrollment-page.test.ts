/** docs/enrollment.md is run: its blocks, as they stand there, against a service of their own. */
import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { runGuide } from '../support/guides/guide.ts'
import { copyInstalledHome } from '../support/homes/installed-home.ts'
import { administrate, logInAs } from '../support/management.ts'
import { startService, temporaryFolder } from '../support/service.ts'

test('the lines of docs/enrollment.md enroll a certificate and a password', async (t) => {
  const folder = await temporaryFolder(t)
  const home = join(folder, 'latchkey-data')
  await copyInstalledHome(home)
  const service = await startService(t, { home })
  const admin = await administrate(service)
  const outputs = await runGuide(t, 'docs/enrollment.md', {
    cwd: folder,
    environment: { ADMIN_TOKEN: admin.token },
    replace: { 'localhost:1280': new URL(service.baseUrl).host },
  })

  const answers = outputs.filter((output) => output.startsWith('{'))
  const [session, password, refreshed, removed] = answers.map((line) => JSON.parse(line))
  assert.equal(session.data.identity.name, 'laptop-7')
  assert.deepEqual(password, { data: { username: 'ada' }, meta: {} })
  assert.match(refreshed.data.token, /^lke_/)
  assert.deepEqual(removed, { data: {}, meta: {} })
  assert.equal(answers.length, 4)

  const certificate = new X509Certificate(await readFile(join(folder, 'laptop-7.pem')))
  assert.equal(certificate.subject, 'CN=laptop-7')
  await logInAs(service, { username: 'ada', password: 'a long one of her own' })
})
