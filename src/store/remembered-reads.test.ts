/** D-306: what is followed is read again when any process has committed, and only then. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { StatementSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { ManualClock, NOON } from '../../test/support/clocks/manual-clock.ts'
import { anOidcSession, aPolicy } from '../../test/support/people.ts'
import { seconds } from '../base/time/duration.ts'
import { plus } from '../base/time/instant.ts'
import { createRules } from '../domain/policies/rules.ts'
import { createEndedSessions } from '../domain/sessions/ending/ended-sessions.ts'
import { openStore } from './open.ts'
import { remembered } from './remembered-reads.ts'

const { id: SESSION } = anOidcSession()
const ENDING = { subject: SESSION, at: NOON, keepUntil: plus(NOON, seconds(3600)) }

/** A file, and two stores on it as two processes would have them. */
async function twoStores(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-version-'))
  const path = join(folder, 'latchkey.db')
  const one = await openStore({ kind: 'sqlite', path })
  const other = await openStore({ kind: 'sqlite', path })
  t.after(async () => {
    await Promise.all([one.close(), other.close()])
    await rm(folder, { recursive: true })
  })
  return { one, other }
}

/** Every statement that reaches SQLite, but the look at the version. */
function countStatements(t: TestContext): () => number {
  let count = 0
  for (const method of ['run', 'all', 'get', 'iterate'] as const) {
    const original = StatementSync.prototype[method] as (...args: unknown[]) => unknown
    t.mock.method(
      StatementSync.prototype,
      method,
      function (this: StatementSync, ...args: unknown[]) {
        if (this.sourceSQL !== 'pragma data_version') count += 1
        return Reflect.apply(original, this, args)
      },
    )
  }
  return () => count
}

test('an idle hour of following costs no statement, and no copy grows stale', async (t) => {
  const { one } = await twoStores(t)
  const clock = new ManualClock()
  const rules = createRules({ ...one.aside, clock })
  const ended = createEndedSessions({ ...one.aside, clock })
  const { installation, signingKeys, authorities } = one.aside
  const round = () =>
    Promise.all([
      rules.refresh(),
      ended.refresh(),
      installation.find(),
      signingKeys.list(),
      authorities.list(),
    ])
  await round()
  const statements = countStatements(t)
  for (let i = 0; i < 3600; i++) {
    clock.pass(seconds(1))
    await round()
    assert.equal(rules.isStale() || ended.isStale(), false)
  }
  assert.equal(statements(), 0)
})

test('a commit of this store and one of another are both seen by the next read', async (t) => {
  const { one, other } = await twoStores(t)
  const { sessionEndings, ruleVersions } = one.aside
  assert.deepEqual(await sessionEndings.listAfter(0), [])
  const before = await ruleVersions.current()
  await other.sessionEndings.insert(ENDING)
  assert.equal((await sessionEndings.listAfter(0)).length, 1)
  assert.equal((await sessionEndings.listAfter(0)).length, 1)
  await one.transaction(async (tx) => {
    await tx.authPolicies.insert(aPolicy())
    await tx.ruleVersions.raise()
  })
  assert.equal(await ruleVersions.current(), before + 1)
})

test('a transaction that was rolled back changes nothing that is remembered', async (t) => {
  const { one } = await twoStores(t)
  assert.deepEqual(await one.aside.sessionEndings.listAfter(0), [])
  await assert.rejects(
    one.transaction(async (tx) => {
      await tx.sessionEndings.insert(ENDING)
      throw new Error('no')
    }),
  )
  assert.deepEqual(await one.aside.sessionEndings.listAfter(0), [])
})

test('a read with another argument, or without a known version, is never answered from memory', async () => {
  let version: number | undefined = 1
  const reads: number[] = []
  const read = remembered(
    async (after: number) => {
      reads.push(after)
      return after
    },
    () => version,
  )
  await read(1)
  await read(1)
  await read(2)
  assert.deepEqual(reads, [1, 2])
  version = undefined
  await read(2)
  await read(2)
  assert.deepEqual(reads, [1, 2, 2, 2])
})

test('what was committed while a read ran is read the next time', async () => {
  let version = 1
  let stored = 'old'
  const read = remembered(
    async () => {
      const result = stored
      // Another process commits after the rows were read.
      stored = 'new'
      version = 2
      return result
    },
    () => version,
  )
  assert.equal(await read(), 'old')
  assert.equal(await read(), 'new')
})

test('a read that failed is not remembered', async () => {
  let calls = 0
  const read = remembered(
    async () => {
      calls += 1
      if (calls === 1) throw new Error('busy')
      return calls
    },
    () => 1,
  )
  await assert.rejects(read(), /busy/)
  assert.equal(await read(), 2)
  assert.equal(await read(), 2)
})
