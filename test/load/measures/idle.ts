/** What Latchkey costs while nobody calls, and how fast it is there. */
import { setTimeout as pause } from 'node:timers/promises'
import { OPERATIONS } from '../operations.ts'
import { type Home, type Latchkey, startLatchkey } from '../servers/latchkey.ts'
import {
  cpuMicroseconds,
  memoryBytes,
  preciseCpuMicroseconds,
  processCount,
} from '../servers/processes.ts'
import { mean, median, spreadOf } from '../statistics.ts'
import { type Row, short } from '../table.ts'

/**
 * After a start, until compilation has settled, every process has given memory back, after ten quiet seconds (D-275), and
 * the certificates were looked at for the first time, after thirty; and until a write was reported, after a minute (D-364).
 */
const SETTLE_MILLISECONDS = 70_000
/** Some work is done once a minute: that is as long as three windows are together. */
const WINDOW_MILLISECONDS = 20_000
const MEBIBYTE = 2 ** 20

/** Of OpenZiti 1.8.0-pre5 on the machine of the first table: seconds, MiB. */
const START_SECONDS = 0.98
const IDLE_MEBIBYTES = 151

export interface Started {
  readonly rows: readonly Row[]
  /** The last one that was started, which is left alone from then on. */
  readonly latchkey: Latchkey
  readonly at: number
}

/** Starts a home that exists several times, and leaves the last one running. */
export async function measureStarts(home: Home, rounds: number): Promise<Started> {
  const starts: number[] = []
  const cpu: number[] = []
  for (;;) {
    const latchkey = await startLatchkey(home)
    starts.push(latchkey.startMilliseconds / 1000)
    cpu.push(preciseCpuMicroseconds(latchkey.pid))
    if (starts.length < rounds) {
      await latchkey.stop()
      continue
    }
    const row = {
      title: OPERATIONS.start.title,
      measured: spreadOf(starts),
      unit: 's',
      target: { atMost: START_SECONDS },
      cpu: spreadOf(cpu),
    }
    return { rows: [row], latchkey, at: performance.now() }
  }
}

/** Waits until it is idle, for which the machine need not be quiet. */
export async function measureIdle(
  { latchkey, at }: Started,
  rounds: number,
): Promise<readonly Row[]> {
  const { pid, home } = latchkey
  const memory: number[] = []
  const cpu: number[] = []
  const databaseCpu: number[] = []
  const database = home.database?.pid
  await pause(Math.max(0, at + SETTLE_MILLISECONDS - performance.now()))
  for (let window = 0; window < rounds; window++) {
    const before = preciseCpuMicroseconds(pid)
    const databaseBefore = database && cpuMicroseconds(database)
    const begun = performance.now()
    await pause(WINDOW_MILLISECONDS)
    // Microseconds in a millisecond are milliseconds in a second.
    const used = preciseCpuMicroseconds(pid) - before
    const elapsed = performance.now() - begun
    cpu.push(used / elapsed)
    if (database !== undefined && databaseBefore !== undefined) {
      databaseCpu.push((cpuMicroseconds(database) - databaseBefore) / elapsed)
    }
    memory.push(memoryBytes(pid) / MEBIBYTE)
  }
  const processes = processCount(pid)
  const note = processes === 1 ? 'one process' : `${processes} processes`
  return [
    {
      title: OPERATIONS.idle.title,
      // The mean: what is done once a minute is in one of the windows, and the middle one would leave it out.
      measured: { ...spreadOf(cpu), median: mean(cpu) },
      unit: 'ms/s',
      target: { atMost: 1 },
      note: database === undefined ? note : `${note}; database ${short(median(databaseCpu))} ms/s`,
    },
    {
      title: 'idle memory',
      measured: spreadOf(memory),
      unit: 'MiB',
      target: { atMost: IDLE_MEBIBYTES },
      note,
    },
  ]
}
