/**
 * `edge.audit.output` of the service as people run it: standard output, a file that is rotated with SIGHUP, and a file
 * that cannot be written. D-134; R108, R109.
 */
import assert from 'node:assert/strict'
import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { EventLine } from '../../src/contract/management/events.ts'
import { beginLogin, logIn, submitPassword } from '../support/login/login.ts'
import { administrate } from '../support/management.ts'
import { changeConfig, missingHome } from '../support/process/child-home.ts'
import {
  type ChildService,
  spawnLatchkey,
  startChild,
  waitFor,
} from '../support/process/child-service.ts'
import { preparedHome } from '../support/process/prepared-home.ts'
import { runLatchkey } from '../support/process/run-command.ts'
import { ADMIN } from '../support/service.ts'

/** A home whose events go to this place. */
async function homeWith(t: TestContext, output: string): Promise<string> {
  return withOutput(await preparedHome(t), output)
}

/** The same, made by a command: what is left for its first start, such as the first signing key, is not done yet. */
async function initializedHomeWith(t: TestContext, output: string): Promise<string> {
  const home = await missingHome(t)
  const environment = { LATCHKEY_ADDRESS: 'localhost:0', LATCHKEY_ADMIN_PASSWORD: ADMIN.password }
  const made = await runLatchkey(t, ['init', '--home', home], { environment })
  assert.equal(made.code, 0, made.stderr)
  return withOutput(home, output)
}

async function withOutput(home: string, output: string): Promise<string> {
  await changeConfig(home, (config) => {
    config.edge = { ...config.edge, audit: { output } }
  })
  return home
}

/** The events that the API shows, oldest first; those of the command that made the home are not among them. */
async function eventsOf(service: ChildService): Promise<readonly EventLine[]> {
  const admin = await administrate(service)
  const listed = await admin.get('/events?limit=500&sort=at')
  return listed.map(({ _links, ...event }: { readonly _links: object }) => EventLine.parse(event))
}

function readLines(text: string): readonly EventLine[] {
  const lines = text.split('\n').filter((line) => line.startsWith('{'))
  return lines.map((line) => EventLine.parse(JSON.parse(line)))
}

const byId = (events: readonly EventLine[]) => new Map(events.map((event) => [event.id, event]))

test('standard output has every event of the instance, as the API shows it', async (t) => {
  const service = await startChild(t, { home: await initializedHomeWith(t, 'stdout') })
  await logIn(service)
  const { authRequestId } = await beginLogin(service)
  const wrong = { username: ADMIN.username, password: 'marker-of-a-wrong-password' }
  assert.equal((await submitPassword(service, authRequestId, wrong)).status, 401)
  const shown = byId(await eventsOf(service))
  await waitFor(
    () => readLines(service.output.stdout).length >= 5,
    () => 'five events',
    service,
  )
  const { stdout } = await service.stop()
  const lines = readLines(stdout)
  assert.equal(new Set(lines.map(({ id }) => id)).size, lines.length, 'each once')
  for (const line of lines) {
    const event = shown.get(line.id)
    if (event !== undefined) assert.deepEqual(line, event)
  }
  const types = lines.map(({ type }) => type)
  // In the order in which they were committed.
  assert.deepEqual(types.slice(0, 5), [
    'signing-key.created',
    'signing-key.created',
    'login.succeeded',
    'token.issued',
    'login.failed',
  ])
  assert.equal(stdout.includes('marker'), false)
})

test('a file is the owner’s alone, is rotated with SIGHUP, and loses nothing', async (t) => {
  const home = await homeWith(t, 'audit.log')
  const file = join(home, 'audit.log')
  const service = await startChild(t, { home })
  await logIn(service)
  assert.equal((await stat(file)).mode & 0o777, 0o600)
  await rename(file, join(home, 'audit.log.1'))
  service.process.kill('SIGHUP')
  await waitFor(
    () => stat(file).then(Boolean, () => false),
    () => 'a new file',
    service,
  )
  assert.equal((await stat(file)).mode & 0o777, 0o600)
  await logIn(service)
  const shown = await eventsOf(service)
  assert.equal((await service.stop()).code, 0)
  const [before, after] = [
    readLines(await readFile(join(home, 'audit.log.1'), 'utf8')),
    readLines(await readFile(file, 'utf8')),
  ]
  assert.ok(after.length >= 2)
  const lines = byId([...before, ...after])
  assert.equal(lines.size, before.length + after.length, 'each once')
  // What the instance did; the home was made by a command, whose events only the database has.
  const own = shown.filter(({ requestId }) => requestId !== null)
  assert.ok(own.length >= 4)
  for (const event of own) assert.deepEqual(lines.get(event.id), event, event.type)
})

test('events of commands are in the database, and in no output', async (t) => {
  const home = await initializedHomeWith(t, 'audit.log')
  const service = await startChild(t, { home })
  const rotated = await runLatchkey(t, ['keys', 'rotate', '--home', home])
  assert.equal(rotated.code, 0, rotated.stderr)
  const created = (await eventsOf(service)).filter(({ type }) => type === 'signing-key.created')
  assert.equal(created.length, 4)
  await service.stop()
  const lines = readLines(await readFile(join(home, 'audit.log'), 'utf8'))
  const kids = lines.filter(({ type }) => type === 'signing-key.created')
  assert.equal(kids.length, 2)
})

test('a start whose file cannot be written is refused, and names the key', async (t) => {
  const home = await homeWith(t, 'missing/audit.log')
  const { code, stderr } = await runLatchkey(t, ['run', '--home', home])
  assert.equal(code, 1)
  assert.match(
    stderr,
    /^latchkey: events cannot be written \(edge\.audit\.output\): \S+ cannot be written: the folder does not exist\n$/,
  )
})

test('a file that can no longer be written to is reported in the log, and users can still log in', async (t) => {
  const home = await homeWith(t, 'logs/audit.log')
  await mkdir(join(home, 'logs'))
  const service = await startChild(t, { home })
  await rm(join(home, 'logs'), { recursive: true })
  await writeFile(join(home, 'logs'), 'no folder')
  service.process.kill('SIGHUP')
  const complaints = () =>
    service.logLines().filter(({ msg }) => msg === 'events cannot be written to the audit output')
  await waitFor(
    () => complaints().length > 0,
    () => 'a complaint',
    service,
  )
  for (let i = 0; i < 3; i++) await logIn(service)
  assert.equal(complaints().length, 1)
  assert.equal((await service.stop()).code, 0)
})

test('a reader of standard output that goes away takes nothing with it', async (t) => {
  const home = await homeWith(t, 'stdout')
  const child = spawnLatchkey(t, ['run', '--home', home])
  await waitFor(
    () => child.output.stdout.includes('  try it '),
    () => 'ready',
    child,
  )
  const baseUrl = /base URL +(\S+)/.exec(child.output.stdout)?.[1] ?? ''
  const ca = await readFile(join(home, 'pki', 'ca.pem'), 'utf8')
  const { httpClient } = await import('../support/http-client.ts')
  const client = httpClient(ca)
  child.process.stdout?.destroy()
  const service = {
    baseUrl,
    call: (path: string, options?: Parameters<typeof client.call>[1]) =>
      client.call(`${baseUrl}${path}`, options),
  }
  for (let i = 0; i < 3; i++) await logIn(service)
  assert.equal(child.process.exitCode, null)
})
