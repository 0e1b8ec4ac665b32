/**
 * What a server process and all processes below it use, from /proc: the load generator beside it does not count, and
 * neither does anything else that runs on the machine. Linux.
 */
import { readdirSync, readFileSync } from 'node:fs'

/** `USER_HZ`, which Linux fixes for all programs. */
const TICKS_PER_SECOND = 100

/** CPU time so far in microseconds, including children that have ended. To a clock tick, 10 ms: for loads. */
export function cpuMicroseconds(pid: number): number {
  const stats = new Map(readStats())
  const ticks = familyOf(pid, stats).reduce((sum, one) => sum + (stats.get(one)?.ticks ?? 0), 0)
  return (ticks * 1e6) / TICKS_PER_SECOND
}

/** CPU time so far in microseconds, precise enough for an idle server. Threads that have ended do not count. */
export function preciseCpuMicroseconds(pid: number): number {
  return threadMicroseconds(pid, () => true)
}

/** The part of it that was used in the thread pool: hashes, signatures, syncs of the disk. */
export function threadPoolMicroseconds(pid: number): number {
  return threadMicroseconds(
    pid,
    (folder) => readFileSync(`${folder}/comm`, 'utf8').trim() === 'libuv-worker',
  )
}

function threadMicroseconds(pid: number, counts: (folder: string) => boolean): number {
  let nanoseconds = 0
  for (const one of familyOf(pid, new Map(readStats()))) {
    for (const thread of readdirSync(`/proc/${one}/task`)) {
      const folder = `/proc/${one}/task/${thread}`
      if (!counts(folder)) continue
      const text = readFileSync(`${folder}/schedstat`, 'utf8')
      nanoseconds += Number(text.split(' ')[0])
    }
  }
  return nanoseconds / 1000
}

/** Bytes of memory. A page that several processes share counts once, in equal parts (PSS). */
export function memoryBytes(pid: number): number {
  return familyOf(pid, new Map(readStats())).reduce((sum, one) => {
    const rollup = readFileSync(`/proc/${one}/smaps_rollup`, 'utf8')
    return sum + 1024 * Number(/^Pss:\s+(\d+) kB/m.exec(rollup)?.[1])
  }, 0)
}

/** The process and all below it. */
export function processCount(pid: number): number {
  return familyOf(pid, new Map(readStats())).length
}

interface Stat {
  readonly parent: number
  readonly ticks: number
}

function* readStats(): Generator<[number, Stat]> {
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const stat = readStat(name)
    if (stat !== undefined) yield [Number(name), stat]
  }
}

function readStat(pid: string): Stat | undefined {
  let text: string
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'latin1')
  } catch {
    // The process ended after the folder was read.
    return undefined
  }
  // The name is in parentheses and may contain anything: proc_pid_stat(5). utime, stime, cutime, cstime are 14 to 17.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0)
  return { parent: Number(fields[1]), ticks }
}

function familyOf(pid: number, stats: ReadonlyMap<number, Stat>): readonly number[] {
  const family = [pid]
  // The array grows while it is walked.
  for (const one of family) {
    for (const [child, { parent }] of stats) if (parent === one) family.push(child)
  }
  return family
}
