import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Secret } from '../../base/secrets/secret.ts'
import { createGeneratedPassword } from './generated-password.ts'

const PASSWORD = new Secret('drawn-password')

async function temporaryHome(t: TestContext) {
  const home = await mkdtemp(join(tmpdir(), 'latchkey-password-'))
  t.after(() => rm(home, { recursive: true }))
  return { home, file: join(home, 'admin-password') }
}

/** Sets the password as an installation does. */
async function setIt(store: () => Promise<void>) {
  await store()
  return 'admin'
}

async function handOver(t: TestContext, isTerminal: boolean) {
  const { home, file } = await temporaryHome(t)
  const lines: string[] = []
  const io = { out: (line: string) => lines.push(line), isTerminal }
  const { take, show } = createGeneratedPassword(io, home)
  await take(PASSWORD, setIt)
  show()
  return { home, file, lines }
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
  const { file, lines } = await handOver(t, false)
  assert.deepEqual(lines, [`The administrator is "admin"; the password is in ${file}`])
  assert.equal(await readFile(file, 'utf8'), 'drawn-password\n')
  assert.equal((await stat(file)).mode & 0o777, 0o600)
})

for (const isTerminal of [true, false]) {
  const where = isTerminal ? 'on a terminal' : 'without a terminal'
  test(`D-330: ${where}, the password is in the file before it is set`, async (t) => {
    const { home, file } = await temporaryHome(t)
    const { take, show } = createGeneratedPassword({ out: () => {}, isTerminal }, home)
    let stored = ''
    await take(PASSWORD, async (store) => {
      await store()
      stored = await readFile(file, 'utf8')
      return 'admin'
    })
    assert.equal(stored, 'drawn-password\n')
    assert.equal(await readFile(file, 'utf8'), stored, 'it is not shown yet')
    show()
    assert.deepEqual(await readdir(home), isTerminal ? [] : ['admin-password'])
  })

  test(`D-330: ${where}, an instance that installs too late leaves the file of the faster one`, async (t) => {
    const { home, file } = await temporaryHome(t)
    await writeFile(file, 'of the faster\n')
    const { take, show } = createGeneratedPassword({ out: assert.fail, isTerminal }, home)
    await take(PASSWORD, async () => undefined)
    show()
    assert.equal(await readFile(file, 'utf8'), 'of the faster\n')
  })

  test(`D-330: ${where}, a password is not announced if the commit fails`, async (t) => {
    const { home } = await temporaryHome(t)
    const { take, show } = createGeneratedPassword({ out: assert.fail, isTerminal }, home)
    const failing = take(PASSWORD, async (store) => {
      await store()
      throw new Error('the commit failed')
    })
    await assert.rejects(failing, { message: 'the commit failed' })
    show()
  })
}

test('D-330: a password that cannot be stored is not set', async (t) => {
  const { home, file } = await temporaryHome(t)
  await mkdir(file)
  const { take, show } = createGeneratedPassword({ out: assert.fail, isTerminal: false }, home)
  const taking = take(PASSWORD, async (store) => {
    await store()
    return assert.fail('it was set')
  })
  await assert.rejects(taking, {
    name: 'RefusedStart',
    message: `${file} cannot be written: it is a folder`,
  })
  show()
})

test('a terminal that shows the password at once needs no file, and deletes none', async (t) => {
  const { home, file } = await temporaryHome(t)
  await writeFile(file, 'of another administrator\n')
  let output = ''
  const out = (line: string) => {
    output += `${line}\n`
  }
  const { take, show } = createGeneratedPassword({ out, isTerminal: true }, home, 'shown')
  await take(PASSWORD, setIt)
  show()
  assert.match(output, /drawn-password/)
  assert.equal(await readFile(file, 'utf8'), 'of another administrator\n')
})

test('the password is shown when the start asks for it, and once', async (t) => {
  let output = ''
  const { home } = await temporaryHome(t)
  const out = (line: string) => {
    output += `${line}\n`
  }
  const { take, show } = createGeneratedPassword({ out, isTerminal: true }, home)
  show()
  await take(PASSWORD, setIt)
  assert.equal(output, '')
  show()
  show()
  assert.equal(output.split('drawn-password').length, 2)
})
