import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Secret } from '../../base/secrets/secret.ts'
import { createFirstPassword, passwordTo } from './first-password.ts'

async function handOver(t: TestContext, isTerminal: boolean) {
  const home = await mkdtemp(join(tmpdir(), 'latchkey-password-'))
  t.after(() => rm(home, { recursive: true }))
  const lines: string[] = []
  const io = { out: (line: string) => lines.push(line), err: assert.fail, isTerminal }
  await passwordTo(io, home)(new Secret('drawn-password'))
  return { home, lines }
}

test('D-49: on a terminal the password is printed and no file has it', async (t) => {
  const { home, lines } = await handOver(t, true)
  assert.deepEqual(lines, [
    '',
    '  ┌────────────────────────────────────┐',
    '  │  Username   admin                  │',
    '  │  Password   drawn-password         │',
    '  │                                    │',
    '  │  The password is shown only once.  │',
    '  └────────────────────────────────────┘',
  ])
  assert.deepEqual(await readdir(home), [])
})

test('D-49: without a terminal the password is in a 0600 file and the output says where', async (t) => {
  const { home, lines } = await handOver(t, false)
  const file = join(home, 'admin-password')
  assert.deepEqual(lines, [`The administrator is "admin"; the password is in ${file}`])
  assert.equal(await readFile(file, 'utf8'), 'drawn-password\n')
  assert.equal((await stat(file)).mode & 0o777, 0o600)
})

test('a password that cannot be stored is set already, so the error says how to get another', async (t) => {
  const home = await mkdtemp(join(tmpdir(), 'latchkey-password-'))
  t.after(() => rm(home, { recursive: true }))
  const file = join(home, 'admin-password')
  await mkdir(file)
  const io = { out: assert.fail, isTerminal: false }
  await assert.rejects(passwordTo(io, home, 'ada')(new Secret('drawn-password')), {
    name: 'RefusedStart',
    message: `the new password of "ada" is lost: ${file} cannot be used: it is a folder; correct that, and run: latchkey admin recover`,
  })
})

for (const isTerminal of [true, false]) {
  const where = isTerminal ? 'on a terminal' : 'without a terminal'
  test(`D-330: ${where}, the password is in the file before it is set`, async (t) => {
    const home = await mkdtemp(join(tmpdir(), 'latchkey-password-'))
    t.after(() => rm(home, { recursive: true }))
    const file = join(home, 'admin-password')
    const { take, show } = createFirstPassword({ out: () => {}, isTerminal }, home)
    let stored = ''
    await take(new Secret('drawn-password'), async () => {
      stored = await readFile(file, 'utf8')
      return true
    })
    assert.equal(stored, 'drawn-password\n')
    assert.equal(await readFile(file, 'utf8'), stored, 'it is not shown yet')
    show()
    assert.deepEqual(await readdir(home), isTerminal ? [] : ['admin-password'])
  })

  test(`D-330: ${where}, nothing is left of a password that another instance was faster than`, async (t) => {
    const home = await mkdtemp(join(tmpdir(), 'latchkey-password-'))
    t.after(() => rm(home, { recursive: true }))
    const { take, show } = createFirstPassword({ out: assert.fail, isTerminal }, home)
    await take(new Secret('drawn-password'), async () => false)
    show()
    assert.deepEqual(await readdir(home), [])
  })
}

test('D-330: a password that cannot be stored is not set', async (t) => {
  const home = await mkdtemp(join(tmpdir(), 'latchkey-password-'))
  t.after(() => rm(home, { recursive: true }))
  const file = join(home, 'admin-password')
  await mkdir(file)
  const { take } = createFirstPassword({ out: assert.fail, isTerminal: false }, home)
  await assert.rejects(take(new Secret('drawn-password'), assert.fail), {
    name: 'RefusedStart',
    message: `${file} cannot be written: it is a folder`,
  })
})

test('D-330: of two instances in one home, the file has the password that was set', async (t) => {
  const home = await mkdtemp(join(tmpdir(), 'latchkey-password-'))
  t.after(() => rm(home, { recursive: true }))
  const slower = createFirstPassword({ out: assert.fail, isTerminal: false }, home)
  const faster = createFirstPassword({ out: assert.fail, isTerminal: false }, home)
  await faster.take(new Secret('of the faster'), async () => {
    await slower.take(new Secret('of the slower'), async () => false)
    return true
  })
  assert.equal(await readFile(join(home, 'admin-password'), 'utf8'), 'of the faster\n')
})

test('D-330: an instance that is too late gives back the file that the other one has announced', async (t) => {
  const home = await mkdtemp(join(tmpdir(), 'latchkey-password-'))
  t.after(() => rm(home, { recursive: true }))
  const faster = createFirstPassword({ out: assert.fail, isTerminal: false }, home)
  const slower = createFirstPassword({ out: assert.fail, isTerminal: false }, home)
  await faster.take(new Secret('of the faster'), async () => true)
  await slower.take(new Secret('of the slower'), async () => false)
  const file = join(home, 'admin-password')
  assert.equal(await readFile(file, 'utf8'), 'of the faster\n')
  assert.equal((await stat(file)).mode & 0o777, 0o600)
})

test('the password is shown when the start asks for it, and once', async (t) => {
  let output = ''
  const home = await mkdtemp(join(tmpdir(), 'latchkey-password-'))
  t.after(() => rm(home, { recursive: true }))
  const out = (line: string) => {
    output += `${line}\n`
  }
  const io = { out, isTerminal: true }
  const { take, show } = createFirstPassword(io, home)
  show()
  await take(new Secret('drawn-password'))
  assert.equal(output, '')
  show()
  show()
  assert.equal(output.split('drawn-password').length, 2)
})
