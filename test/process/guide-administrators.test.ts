/** docs/administrators.md is run: its blocks, as they stand there, and what it says that a terminal shows. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { TOTP } from 'otpauth'
import { runGuide } from '../support/guides/guide.ts'
import { promiseOf } from '../support/guides/guide-answer.ts'
import { copyInstalledHome } from '../support/homes/installed-home.ts'
import { administrate } from '../support/management.ts'
import { cliFor, loginTo } from '../support/process/cli.ts'
import { ADMIN, startService, temporaryFolder } from '../support/service.ts'

test('docs/administrators.md', async (t) => {
  const folder = await temporaryFolder(t)
  const home = join(folder, 'latchkey-data')
  await copyInstalledHome(home)
  const service = await startService(t, { home })
  const { host } = new URL(service.baseUrl)
  const replace = { 'localhost:1280': host }

  await t.test('its lines do what they say', async (t) => {
    const typed = `${ADMIN.password}\n`
    await runGuide(t, 'docs/administrators.md', { cwd: folder, typed, replace })
  })

  await t.test('a terminal shows what it says of the first login with TOTP', async (t) => {
    const password = (await readFile(join(folder, 'deputy-password'), 'utf8')).trim()
    const deputy = { username: 'deputy', password }
    const admin = await administrate(service, deputy)
    const [policy] = await admin.get('/auth-policies?filter=name%3D%22office-totp%22')
    const alice = 'a password of alice'
    const { id } = await admin.createIdentity({ name: 'alice-2', password: alice })
    await admin.act('PATCH', `/identities/${id}`, { authPolicyId: policy.id })

    const cli = await cliFor(t, service)
    const args = [...loginTo(service), '--username', 'alice-2']
    const terminal = cli.open(args, { columns: 200 })
    await terminal.sees('Password: ')
    terminal.types(alice)
    await terminal.sees('First code of the app: ')
    const secret = /enter this secret: (\w+)/.exec(terminal.output())?.[1] ?? ''
    terminal.types(new TOTP({ secret }).generate())
    assert.equal(await terminal.ended(), 0, terminal.output())

    const page = await readFile(new URL('../../docs/administrators.md', import.meta.url), 'utf8')
    const shown = /```text\n(Password:\n[\s\S]*?)```/.exec(page)?.[1] ?? ''
    const expected = shown.replace('localhost:1280', host).replace('as alice', 'as alice-2')
    // On a busy machine the login takes more than a second, and a progress line is shown and erased.
    const lasting = terminal.output().replaceAll(/Logging in [|/\\-]/g, '')
    const output = lasting.replaceAll('\r', '').replaceAll(/ +$/gm, '')
    promiseOf('text', expected)?.compare(output, 'the terminal')
  })
})
