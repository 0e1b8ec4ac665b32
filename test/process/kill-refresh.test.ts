/**
 * kill -9 around refreshes, logouts and certificates, again and again: after the next start nothing that was ended works,
 * and nothing that was answered is lost. D-27, D-41, D-322, R038, R042, R114.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertOver, type Chain, checkChain, workOnChains } from '../support/kills/chains.ts'
import { killOnPostgres, killOnSqlite, type Rounds } from '../support/kills/rounds.ts'
import type { OfflineTokens } from '../support/login/refresh.ts'

/** The kill comes with this many answers of the round; every worker is then somewhere. */
const ANSWERS = [40, 7, 1, 13, 20, 64]

test('what was answered before a kill -9 holds after the next start: refreshes, logouts and certificates', (t) =>
  killOnSqlite(t, refreshes()))

test('the same on PostgreSQL', (t) => killOnPostgres(t, refreshes()))

function refreshes(): Rounds<readonly Chain[]> {
  const over: OfflineTokens[] = []
  return {
    kills: { sqlite: 2, postgres: 1 },
    work: (service, round) => workOnChains(service, ANSWERS[round % ANSWERS.length] ?? 1),
    async check(service, chains) {
      // Also what was over rounds ago: an ending outlives every start.
      for (const tokens of over) await assertOver(service, tokens)
      for (const chain of chains) over.push(...(await checkChain(service, chain)))
    },
    checkAll: (kills) => assert.ok(over.length > kills),
  }
}
