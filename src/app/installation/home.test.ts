import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { readEnvironment } from '../../config/environment.ts'
import { ConfigProblems } from '../../config/problems.ts'
import { openHome } from './home.ts'

async function folderFor(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-home-'))
  t.after(() => rm(folder, { recursive: true }))
  return folder
}

const environment = (variables: Record<string, string> = {}) => readEnvironment(variables)

test('a missing home is made, with a configuration file and a folder for certificates', async (t) => {
  const home = join(await folderFor(t), 'new', 'home')
  const { config, adjustments } = await openHome({
    home,
    file: undefined,
    environment: environment(),
  })
  assert.deepEqual((await readdir(home)).sort(), ['controller.yml', 'pki'])
  assert.equal(config.home, home)
  assert.equal(config.listeners[0].bindPoints[0].address.port, 1280)
  assert.deepEqual(adjustments, [])
})

test('LATCHKEY_ADDRESS goes into a new file and is not read for an old one', async (t) => {
  const home = join(await folderFor(t), 'home')
  const open = async (address: string) => {
    const given = environment({ LATCHKEY_ADDRESS: address })
    const { config } = await openHome({ home, file: undefined, environment: given })
    return config.listeners[0].bindPoints[0].address.port
  }
  assert.equal(await open('localhost:2001'), 2001)
  assert.equal(await open('localhost:2002'), 2001)
  assert.equal(await open('not an address'), 2001)
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

test('a home that is there and empty may be used when it is private', async (t) => {
  const home = join(await folderFor(t), 'home')
  await mkdir(home, { mode: 0o755 })
  const open = () => openHome({ home, file: undefined, environment: environment() })
  await assert.rejects(open(), /chmod 700/)
  assert.deepEqual(await readdir(home), [])
  await chmod(home, 0o700)
  await open()
})
