/** Where events go besides the database: whole lines, in order, and without delaying any caller. D-134. */
import assert from 'node:assert/strict'
import {
  chmod,
  mkdir,
  mkdtemp,
  readFile,
  rename,
  rm,
  rmdir,
  stat,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { ManualClock } from '../../test/support/clocks/manual-clock.ts'
import { CALLER } from '../../test/support/people.ts'
import { waitFor } from '../../test/support/process/child-service.ts'
import type { EventId, IdentityId } from '../base/ids.ts'
import { minutes } from '../base/time/duration.ts'
import { instant } from '../base/time/instant.ts'
import { EventLine } from '../contract/management/events.ts'
import { type RecordedEvent, recorded } from '../domain/audit/recorded-event.ts'
import { openAuditOutput } from './audit-output.ts'
import { RefusedStart } from './installation/private-files.ts'

function event(id: string): RecordedEvent {
  const created = {
    id: id as EventId,
    at: instant(1_800_000_000_000),
    caller: CALLER,
    type: 'identity.created',
    identityId: 'somebody' as IdentityId,
  } as const
  return recorded(created, { identityName: 'Ada', actorName: undefined })
}

async function surroundings(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-audit-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const lines: { readonly level: string; readonly msg: string; readonly lost?: number }[] = []
  const say = (level: string) => (fields: object, msg: string) =>
    void lines.push({ level, msg, ...fields })
  return {
    folder,
    path: join(folder, 'audit.log'),
    clock: new ManualClock(),
    log: { info: say('info'), error: say('error') },
    said: lines,
  }
}

async function idsIn(path: string): Promise<string[]> {
  const text = await readFile(path, 'utf8')
  assert.ok(text === '' || text.endsWith('\n'))
  const lines = text.split('\n').slice(0, -1)
  return lines.map((line) => EventLine.parse(JSON.parse(line)).id)
}

test('each event is one line with the members of the API, and the file is the owner’s alone', async (t) => {
  const { path, ...use } = await surroundings(t)
  const output = await openAuditOutput({ kind: 'file', path }, use)
  output.write([event('a'), event('b')])
  output.write([event('c')])
  await output.close()
  assert.deepEqual(await idsIn(path), ['a', 'b', 'c'])
  assert.equal((await stat(path)).mode & 0o777, 0o600)
  const [first = ''] = (await readFile(path, 'utf8')).split('\n')
  assert.deepEqual(JSON.parse(first), {
    id: 'a',
    at: '2027-01-15T08:00:00.000Z',
    type: 'identity.created',
    identityId: 'somebody',
    identityName: 'Ada',
    sessionId: null,
    actorId: null,
    actorName: null,
    address: CALLER.address,
    requestId: CALLER.requestId,
    userAgent: null,
    reason: null,
    details: null,
    count: 1,
  })
})

test('a file that is there is added to, and keeps its mode', async (t) => {
  const { path, ...use } = await surroundings(t)
  await writeFile(path, '', { mode: 0o640 })
  await chmod(path, 0o640)
  for (const id of ['a', 'b']) {
    const output = await openAuditOutput({ kind: 'file', path }, use)
    output.write([event(id)])
    await output.close()
  }
  assert.deepEqual(await idsIn(path), ['a', 'b'])
  assert.equal((await stat(path)).mode & 0o777, 0o640)
})

test('after the file was moved away the next line begins a new one, and none is lost or torn', async (t) => {
  const { path, folder, ...use } = await surroundings(t)
  const output = await openAuditOutput({ kind: 'file', path }, use)
  const all: string[] = []
  for (let round = 0; round < 5; round++) {
    for (let i = 0; i < 200; i++) {
      const id = `${round}-${i}`
      all.push(id)
      output.write([event(id)])
      if (i === 100) {
        await rename(path, join(folder, `old-${round}`))
        output.reopen()
        await waitFor(
          () => stat(path).then(Boolean, () => false),
          () => 'the new file',
        )
      }
    }
  }
  await output.close()
  const found = await Promise.all(
    ['old-0', 'old-1', 'old-2', 'old-3', 'old-4', 'audit.log'].map((name) =>
      idsIn(join(folder, name)),
    ),
  )
  assert.deepEqual(found.flat(), all)
})

test('a file that cannot be written at the start is a reason to refuse', async (t) => {
  const { path, folder, ...use } = await surroundings(t)
  for (const place of [join(folder, 'missing', 'audit.log'), folder]) {
    await assert.rejects(openAuditOutput({ kind: 'file', path: place }, use), (error) => {
      assert.ok(error instanceof RefusedStart)
      assert.match(error.message, /^events cannot be written \(edge\.audit\.output\): /)
      return true
    })
  }
  await assert.rejects(openAuditOutput({ kind: 'file', path: '/dev/null' }, use), /is not a file/)
  await openAuditOutput({ kind: 'file', path }, use).then((output) => output.close())
})

test('what cannot be written later waits; the log says so once, and again after a minute', async (t) => {
  const { path, folder, clock, log, said } = await surroundings(t)
  const place = join(folder, 'logs', 'audit.log')
  await mkdir(join(folder, 'logs'))
  const output = await openAuditOutput({ kind: 'file', path: place }, { clock, log })
  output.write([event('a')])
  await waitFor(
    async () => (await idsIn(place)).length === 1,
    () => 'the first line',
  )
  // The disk is gone, and the program that rotates the file does not know it.
  await rename(join(folder, 'logs'), join(folder, 'elsewhere'))
  output.reopen()
  output.write([event('b')])
  const complaints = () => said.filter(({ level }) => level === 'error').length
  await waitFor(
    () => complaints() === 1,
    () => 'a complaint',
  )
  await sleep(1_200)
  output.write([event('c')])
  assert.equal(complaints(), 1, 'once is enough')
  clock.pass(minutes(1))
  await waitFor(
    () => complaints() === 2,
    () => 'the next complaint',
  )
  await rename(join(folder, 'elsewhere'), join(folder, 'logs'))
  await waitFor(
    () => said.some(({ level }) => level === 'info'),
    () => 'the end of the trouble',
  )
  await output.close()
  assert.deepEqual(await idsIn(place), ['a', 'b', 'c'])
  assert.equal(path.endsWith('audit.log'), true)
})

test('a file that cannot be opened again is reported until it can, although no line waits', async (t) => {
  const { path, folder, clock, log, said } = await surroundings(t)
  const output = await openAuditOutput({ kind: 'file', path }, { clock, log })
  await rename(path, join(folder, 'audit.log.1'))
  await mkdir(path)
  const levels = () => said.map(({ level }) => level)
  output.reopen()
  await waitFor(
    () => levels().length === 1,
    () => 'a complaint',
  )
  // So that the next attempt complains too.
  clock.pass(minutes(1))
  await waitFor(
    () => levels().length === 2,
    () => 'the next attempt',
  )
  assert.deepEqual(levels(), ['error', 'error'])
  await rmdir(path)
  await waitFor(
    () => levels().length === 3,
    () => 'the end of the trouble',
  )
  assert.deepEqual(levels(), ['error', 'error', 'info'])
  assert.deepEqual(await idsIn(path), [])
  await output.close()
})

test('what waits is bounded: more than that is lost, and counted', async (t) => {
  const { folder, clock, log, said } = await surroundings(t)
  const place = join(folder, 'logs', 'audit.log')
  await mkdir(join(folder, 'logs'))
  const output = await openAuditOutput({ kind: 'file', path: place }, { clock, log })
  await rename(join(folder, 'logs'), join(folder, 'elsewhere'))
  output.reopen()
  const many = Array.from({ length: 1_000 }, (_, i) => event(`event-${i}`))
  for (let i = 0; i < 100; i++) output.write(many)
  await waitFor(
    () => said.length > 0,
    () => 'a complaint',
  )
  await rename(join(folder, 'elsewhere'), join(folder, 'logs'))
  await waitFor(
    () => said.some(({ level }) => level === 'info'),
    () => 'the end of the trouble',
  )
  await output.close()
  const written = (await idsIn(place)).length
  const lost = said.find(({ level }) => level === 'info')?.lost ?? 0
  assert.equal(written + lost, 100_000)
  assert.ok(lost > 0)
  assert.ok((await stat(place)).size <= 8 * 1024 * 1024)
})

test('standard output that is closed or never read delays nothing', async (t) => {
  const { clock, log, said } = await surroundings(t)
  const written: string[] = []
  let isReading = true
  const waiting: (() => void)[] = []
  const stdout = new Writable({
    decodeStrings: false,
    write(chunk, _encoding, done) {
      written.push(chunk)
      if (isReading) done()
      else waiting.push(done)
    },
  })
  const output = await openAuditOutput({ kind: 'stdout' }, { clock, log, stdout })
  output.write([event('a')])
  assert.equal(written.length, 1)
  isReading = false
  const many = Array.from({ length: 1_000 }, (_, i) => event(`event-${i}`))
  for (let i = 0; i < 100; i++) output.write(many)
  assert.ok(stdout.writableLength <= 9 * 1024 * 1024)
  assert.equal(said.length, 1)
  stdout.destroy(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }))
  await sleep(10)
  output.write([event('z')])
  await output.close()
})

test('without an output nothing is written', async (t) => {
  const output = await openAuditOutput({ kind: 'none' }, await surroundings(t))
  output.write([event('a')])
  output.reopen()
  await output.close()
})
