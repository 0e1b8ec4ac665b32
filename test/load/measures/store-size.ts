/** Whether a large store makes operations dearer: a million identities with their sessions against a thousand. */
import { randomInt } from 'node:crypto'
import { join } from 'node:path'
import { prepareWorks } from '../generator/works.ts'
import { type CpuOperation, OPERATIONS } from '../operations.ts'
import { fillPostgres, fillSqlite } from '../servers/bulk.ts'
import type { Home } from '../servers/latchkey.ts'
import { type Filled, startChanged } from '../servers/people.ts'
import { spreadOf } from '../statistics.ts'
import type { Row } from '../table.ts'
import { type CpuOptions, measure } from './cpu.ts'

const SMALL = 1000
const BIG = 1_000_000
const MEASURED: readonly CpuOperation[] = ['current-identity', 'refresh', 'login-ext-jwt']

export async function measureStoreSize(
  home: (name: string) => Promise<Home>,
  { rounds, milliseconds, say }: CpuOptions,
): Promise<readonly Row[]> {
  const running: Filled[] = []
  try {
    for (const rows of [SMALL, BIG]) {
      say(`a store with ${rows} identities`)
      running.push(await startWith(await home(`store-${rows}`), rows))
    }
    const [small, big] = running
    if (small === undefined || big === undefined) throw new Error('both must run')
    const cpuOf = async (latchkey: Filled, operation: CpuOperation, rows: number) => {
      // Whoever logs in is anywhere in the store, so that no page of it is always at hand.
      const externalId = () => anyExternalId(rows)
      const works = await prepareWorks(latchkey, operation, { externalId })
      return (await measure(latchkey, works, milliseconds)).cpu
    }
    const results: Row[] = []
    for (const operation of MEASURED) {
      say(`${operation} in both stores`)
      const ratios: number[] = []
      const cpus: number[] = []
      for (let round = 0; round <= rounds; round++) {
        const least = await cpuOf(small, operation, SMALL)
        const most = await cpuOf(big, operation, BIG)
        // The first round only warms up.
        if (round === 0) continue
        ratios.push(most / least)
        cpus.push(most)
      }
      results.push({
        title: `${OPERATIONS['store-size'].title}: ${operation}`,
        measured: spreadOf(ratios),
        unit: '×',
        target: { atMost: 1.2 },
        cpu: spreadOf(cpus),
      })
    }
    return results
  } finally {
    for (const one of running) await one.stop()
  }
}

function startWith(home: Home, rows: number): Promise<Filled> {
  const { database, folder } = home
  return startChanged(home, async () => {
    if (database !== undefined) await fillPostgres(database.url, rows, Date.now())
    else fillSqlite(join(folder, 'latchkey.db'), rows, Date.now())
  })
}

/** Every second identity has one, and every hundredth identity is disabled. */
function anyExternalId(rows: number): string {
  for (;;) {
    const n = 2 * randomInt(1, rows / 2)
    if (n % 100 !== 0) return `x${n}`
  }
}
