/**
 * A home as the first start leaves it, with the administrator of the other tests. Making one takes as long as all the
 * rest of a short test, so that each test process makes it once and every test gets a copy.
 */
import { rmSync } from 'node:fs'
import { cp, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { openHome } from '../../../src/app/installation/home.ts'
import { startInstance } from '../../../src/app/instance.ts'
import { createLog } from '../../../src/app/logging.ts'
import { systemRandom } from '../../../src/base/secrets/random.ts'
import { Secret } from '../../../src/base/secrets/secret.ts'
import { systemClock } from '../../../src/base/time/clock.ts'
import { readEnvironment } from '../../../src/config/environment.ts'
import { CHEAP } from '../login/cheap-hashing.ts'
import { ADMIN, temporaryFolder } from '../service.ts'
import { useWorkers } from './child-home.ts'

let made: Promise<string> | undefined

/** A copy, in which nothing runs. It listens at any free port, on SQLite. */
export async function preparedHome(t: TestContext): Promise<string> {
  const home = join(await temporaryFolder(t), 'home')
  await copyPreparedHome(home)
  return home
}

/** A copy at this path, which must not exist. */
export async function copyPreparedHome(home: string): Promise<void> {
  made ??= makeOnce()
  await cp(await made, home, { recursive: true })
}

async function makeOnce(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-prepared-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const home = join(folder, 'home')
  await startOnce(home)
  return home
}

/**
 * The first start in this home, which makes the home and the installation in its database, and a stop. Later starts have
 * one process, which starts faster.
 */
export async function startOnce(home: string): Promise<void> {
  const environment = readEnvironment({ LATCHKEY_ADDRESS: 'localhost:0' })
  const { config } = await openHome({ home, file: undefined, environment })
  await useWorkers(home, 1)
  const instance = await startInstance({
    config,
    adminPassword: new Secret(ADMIN.password),
    clock: systemClock,
    random: systemRandom,
    log: createLog({ level: 'silent', format: 'json' }),
    handOver: async () => {},
    hashStrength: CHEAP,
  })
  await instance.stop()
}
