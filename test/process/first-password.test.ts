/**
 * Where the first administrator's password comes from, and where it goes: D-49. Without a terminal it must be in no
 * output, because outputs are kept.
 */
import assert from 'node:assert/strict'
import { mkdir, readdir, readFile, rmdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { beginLogin, submitPassword } from '../support/login/login.ts'
import { homeWithDatabase, missingHome } from '../support/process/child-home.ts'
import { startChild } from '../support/process/child-service.ts'
import { runLatchkey } from '../support/process/run-command.ts'
import { ADMIN, startService, temporaryFolder } from '../support/service.ts'

async function modeOf(path: string): Promise<string> {
  return ((await stat(path)).mode & 0o777).toString(8)
}

test('without a terminal, a password that was drawn goes into a 0600 file and is printed nowhere', async (t) => {
  const service = await startChild(t, {
    home: await missingHome(t),
    environment: { LATCHKEY_ADMIN_PASSWORD: undefined },
  })
  const file = join(service.home, 'admin-password')
  assert.match(service.output.stdout, new RegExp(`"admin"; the password is in ${file}\\n`))
  assert.equal(await modeOf(file), '600')
  const password = (await readFile(file, 'utf8')).trimEnd()
  assert.ok(password.length >= 20)
  const { stdout, stderr } = service.output
  assert.ok(!`${stdout}${stderr}`.includes(password))
  const { authRequestId } = await beginLogin(service)
  const reply = await submitPassword(service, authRequestId, { username: 'admin', password })
  assert.equal(reply.status, 302)
})

test('a password that was given is used, and neither printed nor kept', async (t) => {
  const service = await startChild(t, { home: await missingHome(t) })
  assert.equal(
    (await submitPassword(service, (await beginLogin(service)).authRequestId)).status,
    302,
  )
  assert.doesNotMatch(service.output.stdout, /administrator/)
  const { stdout, stderr } = service.output
  assert.ok(!`${stdout}${stderr}`.includes(ADMIN.password))
  assert.ok(!(await readdir(service.home)).includes('admin-password'))
})

test('a given password that is too short is refused, and the next start can have another', async (t) => {
  const home = join(await temporaryFolder(t), 'home')
  const environment = { LATCHKEY_ADDRESS: 'localhost:0', LATCHKEY_ADMIN_PASSWORD: 'short' }
  const refused = await runLatchkey(t, ['run', '--home', home], { environment })
  assert.equal(refused.code, 1)
  assert.match(
    refused.stderr,
    /^latchkey: LATCHKEY_ADMIN_PASSWORD must have at least \d+ characters\n$/,
  )
  assert.equal(refused.stdout, '')
  const service = await startChild(t, { home })
  assert.equal(
    (await submitPassword(service, (await beginLogin(service)).authRequestId)).status,
    302,
  )
})

test('a drawn password is handed over even when the start fails after it', async (t) => {
  // The port is taken when the service listens: what it has made by then is kept, so its password must be known.
  const { port } = new URL((await startService(t)).baseUrl)
  const home = await homeWithDatabase(t)
  const refused = await runLatchkey(t, ['run', '--home', home, '--port', port])
  assert.equal(refused.code, 1)
  assert.match(refused.stdout, /the password is in /)
  assert.ok((await readFile(join(home, 'admin-password'), 'utf8')).length > 20)
})

test('D-330: a start that cannot store the password installs nothing, and the next one draws another', async (t) => {
  const home = await homeWithDatabase(t)
  const file = join(home, 'admin-password')
  await mkdir(file)
  const refused = await runLatchkey(t, ['run', '--home', home])
  assert.equal(refused.code, 1)
  assert.equal(refused.stderr, `latchkey: ${file} cannot be written: it is a folder\n`)
  await rmdir(file)
  const service = await startChild(t, {
    home,
    environment: { LATCHKEY_ADMIN_PASSWORD: undefined },
  })
  const password = (await readFile(file, 'utf8')).trimEnd()
  const { authRequestId } = await beginLogin(service)
  const reply = await submitPassword(service, authRequestId, { username: 'admin', password })
  assert.equal(reply.status, 302)
})
