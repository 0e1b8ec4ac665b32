/**
 * The power goes off around refreshes, logouts and certificates, on SQLite: everything that was answered is on the disk,
 * so it holds after the next start. D-278, D-305, R114.
 */
import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { test } from 'node:test'
import { type Chance, chance } from '../support/chance/chance.ts'
import { rounds } from '../support/chance/rounds.ts'
import { assertOver, checkChain, workOnChains } from '../support/kills/chains.ts'
import { doomedHome } from '../support/kills/power-cut.ts'
import type { OfflineTokens } from '../support/login/refresh.ts'
import { fixPort, useWorkers } from '../support/process/child-home.ts'
import { preparedHome } from '../support/process/prepared-home.ts'

const ROUNDS = rounds(2)
/** The cut comes with this many answers, at most. */
const ANSWERS = 60
/** How many tokens of ended sessions each start is asked about. Each is refused with an event, so with a sync. */
const ASKED = 40

test('what was answered before a power cut holds after the next start', async (t) => {
  const seed = Number(process.env['KILL_SEED'] ?? randomInt(2 ** 32))
  const fate = chance(seed)
  t.diagnostic(`KILL_SEED=${seed}`)
  const home = await preparedHome(t)
  await fixPort(home)
  await useWorkers(home, 2)
  const doomed = doomedHome(t, home)

  const over: OfflineTokens[] = []
  let service = await doomed.start()
  for (let round = 0; round < ROUNDS; round++) {
    const chains = await workOnChains(service, 1 + fate.below(ANSWERS))
    await doomed.cutPower(fate.below(100) / 100)
    service = await doomed.start()
    for (const tokens of drawn(over, fate)) await assertOver(service, tokens)
    for (const chain of chains) over.push(...(await checkChain(service, chain)))
  }
  assert.equal((await service.stop()).code, 0)
})

/** All of them in a short run. */
function drawn<T>(all: readonly T[], fate: Chance): readonly T[] {
  if (all.length <= ASKED) return all
  const first = fate.below(all.length)
  return Array.from({ length: ASKED }, (_, i) => all[(first + i) % all.length] as T)
}
