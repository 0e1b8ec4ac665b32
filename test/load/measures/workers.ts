/** What a second worker process adds: throughput with two against one, both on this machine with the load generator. */
import { availableParallelism } from 'node:os'
import { useWorkers } from '../../support/process/child-home.ts'
import { prepareWorks } from '../generator/works.ts'
import { type CpuOperation, OPERATIONS } from '../operations.ts'
import type { Home } from '../servers/latchkey.ts'
import { type Filled, startChanged } from '../servers/people.ts'
import { median, spreadOf } from '../statistics.ts'
import { type Row, short } from '../table.ts'
import { type CpuOptions, databaseNote, type Measured, measure, warmUp } from './cpu.ts'

const MEASURED: readonly CpuOperation[] = ['current-identity', 'refresh']
/** More than in the other measurements, so that each worker always has something to do. */
const CONNECTIONS = 16

export async function measureWorkers(
  home: (name: string) => Promise<Home>,
  { rounds, milliseconds, say }: CpuOptions,
): Promise<readonly Row[]> {
  const running: Filled[] = []
  try {
    for (const workers of [1, 2]) {
      say(`${workers} of two workers`)
      const own = await home(`workers-${workers}`)
      running.push(await startChanged(own, () => useWorkers(own.folder, workers)))
    }
    const [single, double] = running
    if (single === undefined || double === undefined) throw new Error('both must run')
    const works = (latchkey: Filled, operation: CpuOperation) =>
      prepareWorks(latchkey, operation, { connections: CONNECTIONS })
    const run = async (latchkey: Filled, operation: CpuOperation) =>
      measure(latchkey, await works(latchkey, operation), milliseconds)
    const rows: Row[] = []
    for (const operation of MEASURED) {
      const alone: Measured[] = []
      const together: Measured[] = []
      for (const one of running) await warmUp(one, await works(one, operation))
      for (let round = 0; round < rounds; round++) {
        alone.push(await run(single, operation))
        together.push(await run(double, operation))
      }
      const perSecond = (runs: readonly Measured[]) => runs.map((one) => one.perSecond)
      const cpu = (runs: readonly Measured[]) => Math.round(median(runs.map((one) => one.cpu)))
      rows.push({
        title: `${OPERATIONS.workers.title}: ${operation}`,
        measured: spreadOf(together.map((one, i) => one.perSecond / (alone[i]?.perSecond ?? 0))),
        unit: '×',
        target: { atLeast: 1.4 },
        note:
          `${short(median(perSecond(alone)))}/s and ${short(median(perSecond(together)))}/s on ` +
          `${availableParallelism()} cores; ${cpu(alone)} µs and ${cpu(together)} µs of CPU each` +
          databaseNote(alone, together),
      })
    }
    return rows
  } finally {
    for (const latchkey of running) await latchkey.stop()
  }
}
