/** Server CPU per operation, in units of one refresh at node-oidc-provider. */
import { type LoadResult, runLoad } from '../generator/load.ts'
import { type PreparedWorks, prepareUnit, prepareWorks } from '../generator/works.ts'
import { CPU_TARGETS, type CpuOperation, OPERATIONS } from '../operations.ts'
import type { Filled } from '../servers/people.ts'
import { cpuMicroseconds, processCount } from '../servers/processes.ts'
import type { OtherProvider } from '../servers/provider.ts'
import { mean, median, spreadOf } from '../statistics.ts'
import { type Row, short } from '../table.ts'
import { hashMicroseconds } from './hash.ts'

/**
 * For each process, before anything counts: a server that has just started is not yet compiled, one that is in use has long
 * been. Each process compiles for itself, and two workers share the load, so they need twice the time of one.
 */
const WARM_UP_MILLISECONDS = 3000

export interface CpuOptions {
  readonly rounds: number
  readonly milliseconds: number
  readonly say: (progress: string) => void
}

export interface Measured extends LoadResult {
  /** Microseconds of server CPU per operation. */
  readonly cpu: number
  /** The same of its database server, if it has one. */
  readonly databaseCpu: number | undefined
}

/** A process that is measured, and the one of its database server. */
export interface MeasuredServer {
  readonly pid: number
  readonly home?: { readonly database?: { readonly pid: number } | undefined }
}

/** Runs prepared work against the server and closes its connections. */
export async function measure(
  { pid, home }: MeasuredServer,
  prepared: PreparedWorks,
  milliseconds: number,
): Promise<Measured> {
  try {
    const database = home?.database?.pid
    const cpu = () => [cpuMicroseconds(pid), database === undefined ? 0 : cpuMicroseconds(database)]
    const [before = 0, databaseBefore = 0] = cpu()
    const load = await runLoad(prepared.works, milliseconds)
    const [after = 0, databaseAfter = 0] = cpu()
    return {
      ...load,
      cpu: (after - before) / load.count,
      databaseCpu: database && (databaseAfter - databaseBefore) / load.count,
    }
  } finally {
    prepared.close()
  }
}

/**
 * One row for each operation. The unit is measured twice in each round, and a round is compared with its own unit: a machine
 * changes its speed from minute to minute.
 */
export async function measureCpu(
  servers: { readonly latchkey: Filled; readonly provider: OtherProvider },
  operations: readonly CpuOperation[],
  { rounds, milliseconds, say }: CpuOptions,
): Promise<readonly Row[]> {
  const { latchkey, provider } = servers
  const tokens = [...provider.refreshTokens]
  const unit = async () =>
    (await measure(provider, await prepareUnit(provider, tokens), milliseconds)).cpu
  say('warming up')
  await warmUp(provider, await prepareUnit(provider, tokens))
  for (const name of operations) await warmUp(latchkey, await prepareWorks(latchkey, name))
  const units: number[] = []
  const hashes: number[] = []
  const results = new Map<CpuOperation, Result[]>(operations.map((name) => [name, []]))
  for (let round = 1; round <= rounds; round++) {
    say(`round ${round} of ${rounds}`)
    const measured: [CpuOperation, Measured][] = []
    const unitBefore = await unit()
    for (const name of operations) {
      const works = await prepareWorks(latchkey, name)
      measured.push([name, await measure(latchkey, works, milliseconds)])
    }
    const unitOfRound = mean([unitBefore, await unit()])
    const hash = operations.includes('login-password')
      ? await hashMicroseconds(latchkey, milliseconds)
      : 0
    units.push(unitOfRound)
    hashes.push(hash)
    for (const [name, one] of measured) {
      const cpu = name === 'login-password' ? one.cpu - hash : one.cpu
      results.get(name)?.push({ ...one, cpu, ratio: cpu / unitOfRound })
    }
  }
  say(`1 npop = ${Math.round(median(units))} µs of server CPU`)
  return operations.map((name) => rowOf(name, results.get(name) ?? [], median(hashes)))
}

/** The same time for each process that answers requests, on both sides. */
export async function warmUp({ pid }: MeasuredServer, prepared: PreparedWorks): Promise<void> {
  // The supervisor of several workers answers none.
  const processes = Math.max(1, processCount(pid) - 1)
  try {
    await runLoad(prepared.works, WARM_UP_MILLISECONDS * processes)
  } finally {
    prepared.close()
  }
}

interface Result extends Measured {
  readonly ratio: number
}

function rowOf(name: CpuOperation, results: readonly Result[], hash: number): Row {
  const perSecond = median(results.map((one) => one.perSecond))
  const p50 = median(results.map((one) => one.p50))
  const load = `${short(perSecond)}/s, p50 ${short(p50)} ms${databaseNote(results)}`
  return {
    title: OPERATIONS[name].title,
    measured: spreadOf(results.map(({ ratio }) => ratio)),
    unit: 'npop',
    target: { atMost: CPU_TARGETS[name] },
    cpu: spreadOf(results.map(({ cpu }) => cpu)),
    note: name === 'login-password' ? `${load}; one hash ${Math.round(hash)} µs` : load,
  }
}

/** CPU of the database server per operation, to be added to a note; empty on SQLite. */
export function databaseNote(...runs: readonly (readonly Measured[])[]): string {
  const cpus = runs.map((run) => run.flatMap(({ databaseCpu = [] }) => databaseCpu))
  if (cpus.some((run) => run.length === 0)) return ''
  return `; database ${cpus.map((run) => `${Math.round(median(run))} µs`).join(' and ')}`
}
