/**
 * `npm run bench`: what Latchkey costs, beside node-oidc-provider on the same machine in the same minutes. Times differ
 * from machine to machine and from minute to minute; ratios hardly do (D-303).
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { changeConfig, installAnewIn } from '../support/process/child-home.ts'
import { type BenchOptions, readArguments, USAGE } from './arguments.ts'
import { printSlowestPages } from './lists.ts'
import { measureCpu } from './measures/cpu.ts'
import { measureDelay } from './measures/delay.ts'
import { measureIdle, measureStarts, type Started } from './measures/idle.ts'
import { measureStoreSize } from './measures/store-size.ts'
import { measureWorkers } from './measures/workers.ts'
import { isCpuOperation, OPERATIONS, type OperationName } from './operations.ts'
import { writeProfile } from './profile.ts'
import { describeMachine, savePage } from './report.ts'
import { type Home, newHome, startDatabaseServer, startLatchkey } from './servers/latchkey.ts'
import { type Filled, fill } from './servers/people.ts'
import { startProvider } from './servers/provider.ts'
import { type Row, textTable } from './table.ts'

/** sysexits.h */
const EX_USAGE = 64
const PROVIDER_SESSIONS = 200

const say = (progress: string) => console.error(`bench: ${progress}`)

await main()

async function main(): Promise<void> {
  let options: BenchOptions
  try {
    options = readArguments(process.argv.slice(2))
  } catch (error) {
    console.error(`bench: ${(error as Error).message}\n\n${USAGE}`)
    process.exitCode = EX_USAGE
    return
  }
  if (options.isHelp) console.log(USAGE)
  else if (options.isLists) await printSlowestPages()
  else {
    const folder = await mkdtemp(join(tmpdir(), 'latchkey-bench-'))
    const server = options.isPostgres ? await startDatabaseServer() : undefined
    const home: MakeHome = (name) => newHome(folder, name, server)
    try {
      if (options.profile !== undefined) {
        await writeProfile(await home('home'), options.profile, options)
      } else await printTable(home, options)
    } finally {
      await server?.stop()
      await rm(folder, { recursive: true, force: true })
    }
  }
}

type MakeHome = (name: string) => Promise<Home>

async function printTable(home: MakeHome, options: BenchOptions): Promise<void> {
  const machine = describeMachine()
  const rows = await measureAll(home, options)
  console.log(`${machine.map((line) => `${line}\n`).join('')}\n${textTable(rows)}`)
  if (options.isSaved) say(`wrote ${await savePage(machine, rows)}`)
}

async function measureAll(home: MakeHome, options: BenchOptions): Promise<readonly Row[]> {
  const { operations } = options
  const isAsked = (...names: readonly OperationName[]) =>
    operations.some((name) => names.includes(name))
  // First, so that it has long been idle when its time comes.
  const started = isAsked('idle', 'start') ? await startIdle(home, options.rounds) : undefined
  try {
    const rows = await measureOthers(home, options, isAsked)
    if (started === undefined) return rows
    if (isAsked('idle')) {
      say('idle')
      rows.push(...(await measureIdle(started, options.rounds)))
    }
    return isAsked('start') ? [...rows, ...started.rows] : rows
  } finally {
    await started?.latchkey.stop()
  }
}

async function measureOthers(
  home: MakeHome,
  options: BenchOptions,
  isAsked: (...names: readonly OperationName[]) => boolean,
): Promise<Row[]> {
  const { operations } = options
  const rows: Row[] = []
  const cpuOperations = operations.filter(isCpuOperation)
  if (cpuOperations.length > 0 || isAsked('delay')) {
    const provider = await startProvider(PROVIDER_SESSIONS)
    try {
      await withLatchkey(home, async (latchkey) => {
        const servers = { latchkey, provider }
        if (cpuOperations.length > 0) {
          rows.push(...(await measureCpu(servers, cpuOperations, { ...options, say })))
        }
        if (isAsked('delay')) {
          say('one caller while others refresh')
          rows.push(...(await measureDelay(latchkey, options)))
        }
      })
    } finally {
      await provider.stop()
    }
  }
  if (isAsked('refresh-es256')) rows.push(...(await measureEs256(home, options)))
  if (isAsked('workers')) rows.push(...(await measureWorkers(home, { ...options, say })))
  if (isAsked('store-size')) rows.push(...(await measureStoreSize(home, { ...options, say })))
  return rows
}

async function withLatchkey(home: MakeHome, use: (one: Filled) => Promise<void>): Promise<void> {
  const latchkey = await startLatchkey(await home('home'))
  try {
    await use(await fill(latchkey))
  } finally {
    await latchkey.stop()
  }
}

/** The unit signs all its tokens with ES256; ID tokens of a new home have RS256 (D-320). */
async function measureEs256(makeHome: MakeHome, options: BenchOptions): Promise<readonly Row[]> {
  say('ID tokens with ES256')
  const home = await makeHome('es256')
  await (await startLatchkey(home)).stop()
  await changeConfig(home.folder, (config) => {
    config.edge = { ...config.edge, oidc: { ...config.edge?.oidc, idTokenAlgorithm: 'ES256' } }
  })
  if (home.database === undefined) await installAnewIn(home.folder, 'es256.db')
  else await installAnewIn(home.folder, home.database.url)
  const provider = await startProvider(PROVIDER_SESSIONS)
  const latchkey = await startLatchkey(home)
  try {
    const servers = { latchkey: await fill(latchkey), provider }
    const rows = await measureCpu(servers, ['refresh'], { ...options, say: () => {} })
    return rows.map((row) => ({ ...row, title: OPERATIONS['refresh-es256'].title }))
  } finally {
    await latchkey.stop()
    await provider.stop()
  }
}

/** In a home that an earlier start has created. */
async function startIdle(home: MakeHome, rounds: number): Promise<Started> {
  say('start')
  const idle = await home('idle')
  await (await startLatchkey(idle)).stop()
  return measureStarts(idle, rounds)
}
