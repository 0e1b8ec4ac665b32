/** Whether a large store makes operations dearer: a million identities with their sessions against a thousand. */
import { randomInt } from 'node:crypto'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Client } from 'pg'
import { prepareWorks } from '../generator/works.ts'
import { type CpuOperation, OPERATIONS } from '../operations.ts'
import { fillStatements } from '../servers/bulk.ts'
import { type Home, startLatchkey } from '../servers/latchkey.ts'
import { type Filled, fill } from '../servers/people.ts'
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

async function startWith(home: Home, rows: number): Promise<Filled> {
  // The first start creates the tables.
  await (await startLatchkey(home)).stop()
  await fillStore(home, fillStatements(rows, Date.now()))
  const latchkey = await startLatchkey(home)
  return fill(latchkey).catch(async (error) => {
    await latchkey.stop()
    throw error
  })
}

async function fillStore(home: Home, statements: readonly string[]): Promise<void> {
  if (home.database !== undefined) {
    const client = new Client({ connectionString: home.database.url })
    await client.connect()
    for (const statement of statements) await client.query(statement)
    // What the server would do by itself a little later, in the middle of the measurement.
    await client.query('vacuum analyze')
    return client.end()
  }
  const database = new DatabaseSync(join(home.folder, 'latchkey.db'))
  for (const statement of statements) database.exec(statement)
  database.close()
}

/** Every second identity has one, and every hundredth identity is disabled. */
function anyExternalId(rows: number): string {
  for (;;) {
    const n = 2 * randomInt(1, rows / 2)
    if (n % 100 !== 0) return `x${n}`
  }
}
