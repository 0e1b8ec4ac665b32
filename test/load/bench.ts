/**
 * `npm run bench`: what Latchkey costs, beside node-oidc-provider on the same machine in the same minutes. Times differ
 * from machine to machine and from minute to minute; ratios hardly do (D-303).
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type BenchOptions, readArguments, USAGE } from './arguments.ts'
import { printSlowestPages } from './lists.ts'
import { measureCpu } from './measures/cpu.ts'
import { measureDelay } from './measures/delay.ts'
import { type IdleRows, measureIdle } from './measures/idle.ts'
import { measureStoreSize } from './measures/store-size.ts'
import { measureWorkers } from './measures/workers.ts'
import { isCpuOperation, type OperationName } from './operations.ts'
import { writeProfile } from './profile.ts'
import { describeMachine, savePage } from './report.ts'
import { newHome, startLatchkey } from './servers/latchkey.ts'
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
    try {
      if (options.profile !== undefined) await writeProfile(folder, options.profile, options)
      else await printTable(folder, options)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }
}

async function printTable(folder: string, options: BenchOptions): Promise<void> {
  const machine = describeMachine()
  const rows = await measureAll(folder, options)
  console.log(`${machine.map((line) => `${line}\n`).join('')}\n${textTable(rows)}`)
  if (options.isSaved) say(`wrote ${await savePage(machine, rows)}`)
}

async function measureAll(folder: string, options: BenchOptions): Promise<readonly Row[]> {
  const { operations } = options
  const isAsked = (...names: readonly OperationName[]) =>
    operations.some((name) => names.includes(name))
  const rows: Row[] = []
  const cpuOperations = operations.filter(isCpuOperation)
  if (cpuOperations.length > 0 || isAsked('delay')) {
    const provider = await startProvider(PROVIDER_SESSIONS)
    try {
      await withLatchkey(folder, async (latchkey) => {
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
  if (isAsked('workers')) rows.push(...(await measureWorkers(folder, { ...options, say })))
  if (isAsked('store-size')) rows.push(...(await measureStoreSize(folder, { ...options, say })))
  if (isAsked('idle', 'start')) {
    say('start and idle')
    const { start, idle } = await idleRows(folder, options.rounds)
    if (isAsked('idle')) rows.push(...idle)
    if (isAsked('start')) rows.push(...start)
  }
  return rows
}

async function withLatchkey(folder: string, use: (one: Filled) => Promise<void>): Promise<void> {
  const latchkey = await startLatchkey(await newHome(folder, 'home'))
  try {
    await use(await fill(latchkey))
  } finally {
    await latchkey.stop()
  }
}

/** In a home that an earlier start has created. */
async function idleRows(folder: string, rounds: number): Promise<IdleRows> {
  const home = await newHome(folder, 'idle')
  await (await startLatchkey(home)).stop()
  return measureIdle(home, rounds)
}
