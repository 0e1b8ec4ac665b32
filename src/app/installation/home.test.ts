import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import net, { type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { freePort } from '../../../test/support/ports.ts'
import { readEnvironment } from '../../config/environment.ts'
import { ConfigProblems } from '../../config/problems.ts'
import { UnusablePlace } from '../listen-places.ts'
import { openHome } from './home.ts'
import { UnusableHome, usingHome } from './unusable-home.ts'

async function folderFor(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-home-'))
  t.after(() => rm(folder, { recursive: true }))
  return folder
}

const environment = (variables: Record<string, string> = {}) => readEnvironment(variables)

test('a missing home is made, with a configuration file and a folder for certificates', async (t) => {
  const home = join(await folderFor(t), 'new', 'home')
  const { config, adjustments, isNew } = await openHome({
    home,
    file: undefined,
    environment: environment(),
    purpose: 'prepare', // the default port may be taken here
  })
  assert.equal(isNew, true)
  assert.deepEqual((await readdir(home)).sort(), ['controller.yml', 'pki'])
  assert.equal(config.home, home)
  assert.equal(config.listeners[0].bindPoints[0].address.port, 1280)
  assert.deepEqual(adjustments, [])
})

test('D-337: LATCHKEY_ADDRESS goes into a new file, and overrides an old one for one run', async (t) => {
  const home = join(await folderFor(t), 'home')
  const open = async (address: string, more: { port?: number; purpose?: 'prepare' } = {}) => {
    const given = environment({ LATCHKEY_ADDRESS: address })
    const opened = await openHome({ home, file: undefined, environment: given, ...more })
    const { config, override, unusedAddress } = opened
    return [config.listeners[0].bindPoints[0].address.port, override?.to, unusedAddress?.to]
  }
  const first = await freePort()
  assert.deepEqual(await open(`localhost:${first}`), [first, undefined, undefined])
  assert.deepEqual(await open(`127.0.0.1:${first}`), [first, undefined, undefined], 'it has it')
  assert.deepEqual(await open('localhost:2002'), [2002, 'localhost:2002', undefined])
  assert.deepEqual(await open('localhost:2002', { port: 7 }), [7, 'localhost:7', undefined])
  // `init` listens nowhere and must not issue a certificate for another name.
  const unused = await open('localhost:2002', { purpose: 'prepare' })
  assert.deepEqual(unused, [first, undefined, 'localhost:2002'])
  await assert.rejects(open('not an address'), ConfigProblems)
})

test('D-337: a first start on a taken port creates nothing', async (t) => {
  const home = join(await folderFor(t), 'home')
  const server = net.createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const open = (purpose: 'run' | 'prepare') =>
    openHome({ home, file: undefined, environment: environment(), port, purpose })
  await assert.rejects(open('run'), (error) => {
    assert.ok(error instanceof UnusablePlace)
    assert.equal(
      error.message,
      `127.0.0.1:${port} is already in use; is the service already running?`,
    )
    return true
  })
  assert.equal(existsSync(home), false)
  assert.equal((await open('prepare')).config.listeners[0].bindPoints[0].address.port, port)
})

test('an address that cannot be used makes no home', async (t) => {
  const home = join(await folderFor(t), 'home')
  const given = environment({ LATCHKEY_ADDRESS: 'nowhere' })
  await assert.rejects(openHome({ home, file: undefined, environment: given }), ConfigProblems)
  assert.equal(existsSync(home), false)
})

test('a file somewhere else is read as it is, and none is made in the home', async (t) => {
  const folder = await folderFor(t)
  const first = await openHome({
    home: join(folder, 'a'),
    file: undefined,
    environment: environment(),
    purpose: 'prepare',
  })
  const file = join(folder, 'elsewhere.yml')
  await writeFile(file, await readFile(join(folder, 'a', 'controller.yml')), { mode: 0o600 })
  const home = join(folder, 'b')
  const second = await openHome({ home, file, environment: environment() })
  assert.deepEqual(second.config.listeners, first.config.listeners)
  assert.deepEqual(await readdir(home), ['pki'])

  await chmod(file, 0o644)
  await assert.rejects(
    openHome({ home, file, environment: environment() }),
    /chmod 600 .*elsewhere/,
  )
})

test('D-43: problems of the configuration come before the modes of its file and folder', async (t) => {
  const folder = await folderFor(t)
  const home = join(folder, 'home')
  const file = join(home, 'controller.yml')
  await mkdir(home)
  await writeFile(file, 'v: 1\nnonsense: 1\nedge: { oidc: { accessTokenDuration: soon } }\n')
  await chmod(home, 0o755)
  await chmod(file, 0o644)
  for (const named of [undefined, file]) {
    const refused = openHome({ home, file: named, environment: environment() })
    await assert.rejects(refused, (thrown) => {
      assert.ok(thrown instanceof ConfigProblems)
      assert.match(thrown.message, /nonsense/)
      assert.match(thrown.message, /accessTokenDuration/)
      return true
    })
  }
})

test('a home that is there and empty may be used when it is private', async (t) => {
  const home = join(await folderFor(t), 'home')
  await mkdir(home, { mode: 0o755 })
  const open = () =>
    openHome({ home, file: undefined, environment: environment(), purpose: 'prepare' })
  await assert.rejects(open(), /chmod 700/)
  assert.deepEqual(await readdir(home), [])
  await chmod(home, 0o700)
  await open()
})

for (const [code, why] of [
  ['EACCES', 'this user may not write there'],
  ['EPERM', 'this user may not write there'],
  ['EROFS', 'the file system is read-only'],
  ['ENOSPC', 'the disk is full'],
  ['ENOTDIR', 'a part of the path is not a folder'],
  ['EIO', 'EIO: broken'],
] as const) {
  test(`D-255: a home that fails with ${code} is refused with a sentence`, async () => {
    const error = Object.assign(new Error(`${code}: broken`), { code, syscall: 'mkdir' })
    const refused = usingHome('/srv/home', () => Promise.reject(error))
    await assert.rejects(refused, (thrown) => {
      assert.ok(thrown instanceof UnusableHome)
      assert.equal(
        thrown.message,
        `the home /srv/home cannot be used: ${why}; name another one with --home`,
      )
      return true
    })
  })
}

test('D-255: a home of another user is refused with what to do', async () => {
  const closed = { code: 'EACCES', syscall: 'stat', path: '/srv/home/controller.yml' }
  const error = Object.assign(new Error('EACCES: permission denied, stat'), closed)
  await assert.rejects(
    usingHome('/srv/home', () => Promise.reject(error)),
    {
      name: 'UnusableHome',
      message:
        'the home /srv/home cannot be used: this user may not enter it; run the command as its user, or name another one with --home',
    },
  )
})

test('D-255: a user without the right to write gets that sentence', {
  skip: process.getuid?.() === 0 && 'root may write everywhere',
}, async (t) => {
  const folder = await folderFor(t)
  await chmod(folder, 0o500)
  const home = join(folder, 'home')
  const open = openHome({ home, file: undefined, environment: environment(), purpose: 'prepare' })
  await assert.rejects(open, UnusableHome)
})
