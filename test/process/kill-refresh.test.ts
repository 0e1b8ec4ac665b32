/**
 * kill -9 around refreshes, logouts and certificates, again and again: after the next start nothing that was ended works,
 * and nothing that was answered is lost. D-27, D-41, D-322, R038, R042, R114.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { rounds } from '../support/chance/rounds.ts'
import { moveToPostgres } from '../support/homes/postgres-home.ts'
import { assertOver, checkChain, workUntilKilled } from '../support/kills/chains.ts'
import type { OfflineTokens } from '../support/login/refresh.ts'
import { fixPort, useWorkers } from '../support/process/child-home.ts'
import { startChild } from '../support/process/child-service.ts'
import { preparedHome } from '../support/process/prepared-home.ts'
import { startPostgres } from '../support/stores/postgres.ts'

/** The kill comes with this many answers of the round; every worker is then somewhere. */
const ANSWERS = [40, 7, 1, 13, 20, 64]

test('what was answered before a kill -9 holds after the next start: refreshes, logouts and certificates', async (t) => {
  await killRounds(t, rounds(2), async () => {})
})

test('the same on PostgreSQL', async (t) => {
  const postgres = await startPostgres()
  t.after(() => postgres.stop())
  await killRounds(t, rounds(1), async (home) => void (await moveToPostgres(home)))
})

async function killRounds(
  t: TestContext,
  count: number,
  prepare: (home: string) => Promise<void>,
): Promise<void> {
  const home = await preparedHome(t)
  await prepare(home)
  await fixPort(home)
  await useWorkers(home, 2)
  const over: OfflineTokens[] = []
  let service = await startChild(t, { home })
  for (let round = 0; round < count; round++) {
    const chains = await workUntilKilled(service, ANSWERS[round % ANSWERS.length] ?? 1)
    // A home may go from one process to several and back.
    await useWorkers(home, 1 + (round % 2))
    service = await startChild(t, { home })
    // Also what was over rounds ago: an ending outlives every start.
    for (const tokens of over) await assertOver(service, tokens)
    for (const chain of chains) over.push(...(await checkChain(service, chain)))
  }
  assert.ok(over.length > count)
  assert.equal((await service.stop()).code, 0)
}
