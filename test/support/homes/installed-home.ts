/**
 * A home as the first start leaves it, with the administrator of the tests. Making one takes longer than all the rest of
 * a short test (keys, certificates, every migration), so that each test process makes it once and tests get copies.
 */
import { copyFileSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openHome } from '../../../src/app/installation/home.ts'
import { startInstance } from '../../../src/app/instance.ts'
import { createLog } from '../../../src/app/logging.ts'
import { systemRandom } from '../../../src/base/secrets/random.ts'
import { Secret } from '../../../src/base/secrets/secret.ts'
import { systemClock } from '../../../src/base/time/clock.ts'
import { readEnvironment } from '../../../src/config/environment.ts'
import { CHEAP } from '../login/cheap-hashing.ts'

export const ADMIN = { username: 'admin', password: 'correct horse battery' } as const

/** Each another installation, made when it is first asked for. */
const made: Promise<string>[] = []

/**
 * A copy at this path, in which nothing runs. It listens at any free port, on SQLite. Copies of the same `installation`
 * have the same keys and secret.
 */
export async function copyInstalledHome(home: string, installation = 0): Promise<void> {
  made[installation] ??= makeOnce()
  copyFolder(await made[installation], home)
}

/** Like fs.cp, which takes ten times as long for so few files. */
export function copyFolder(from: string, to: string): void {
  mkdirSync(to, { recursive: true, mode: 0o700 })
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)]
    if (entry.isDirectory()) copyFolder(source, target)
    else copyFileSync(source, target)
  }
}

async function makeOnce(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-prepared-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const home = join(folder, 'home')
  await startOnce(home)
  return home
}

/** How many processes answer requests from the next start on. The comments of the file stay. */
export async function useWorkers(home: string, workers: number): Promise<void> {
  const path = join(home, 'controller.yml')
  const text = await readFile(path, 'utf8')
  await writeFile(path, `${text.replace(/^workers: .*\n/m, '')}workers: ${workers}\n`)
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
