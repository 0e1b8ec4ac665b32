/**
 * Consecutive wrong passwords on every database: D-22, D-216; R078 – R080. Each network and each known device has its
 * own count in addition to the total; races between instances are counted exactly.
 */
import assert from 'node:assert/strict'
import { after as afterAll, suite, type TestContext, test } from 'node:test'
import type { AuthenticatorId, IdentityId } from '../../src/base/ids.ts'
import { milliseconds } from '../../src/base/time/duration.ts'
import type { Instant } from '../../src/base/time/instant.ts'
import type { GuessOrigin, LockRule } from '../../src/domain/factors/stores.ts'
import type { Store } from '../../src/domain/stores.ts'
import { MOST_ORIGINS } from '../../src/store/identities/password-failures.ts'
import { startPostgres } from '../support/stores/postgres.ts'
import { ALL, openTwo } from './databases.ts'
import { after, anAuthenticator, anIdentity, NOON } from './samples.ts'
import { insertIdentity } from './seed.ts'

afterAll(async () => (await startPostgres()).stop())

const HUNDRED = Array.from({ length: 100 }, (_, i) => i)
const { id } = anAuthenticator()
const gone = 'another' as AuthenticatorId

const from = (network: string, device?: string): GuessOrigin => ({ network, device })
const HERE = from('192.0.2.1')
const THERE = from('192.0.2.2')

/** Three failures lock for 100 ms, then 200, 300 …; the ceiling is too high to matter. */
const ruleAt = (now: Instant, changes: Partial<LockRule> = {}): LockRule => ({
  maxAttempts: 3,
  ceiling: 1_000,
  lockUntil: (nth) => (now + 100 * nth) as Instant,
  keepNetwork: milliseconds(1_000),
  keepDevice: milliseconds(5_000),
  ...changes,
})

for (const database of ALL) {
  suite(database.name, () => {
    const openFilled = async (t: TestContext): Promise<readonly [Store, Store]> => {
      const stores = await openTwo(await database.create(t))
      await insertIdentity(stores[0])
      await stores[0].authenticators.insert(anAuthenticator())
      return stores
    }
    const open = async (t: TestContext) => {
      const [store] = await openFilled(t)
      const { passwordFailures, authenticators } = store
      const fail = async (origin: GuessOrigin, times = 1, now = NOON, changes = {}) => {
        const locks: (Instant | undefined)[] = []
        for (let i = 0; i < times; i++) {
          const rule = ruleAt(now, changes)
          locks.push((await passwordFailures.add(id, origin, rule, now)).lockedUntil)
        }
        return locks
      }
      const isOpen = (origin: GuessOrigin, now = NOON) => passwordFailures.clear(id, origin, now)
      const lockedUntil = async () => (await authenticators.findUpdb('zoë'))?.lockedUntil
      return { ...store, fail, isOpen, lockedUntil }
    }

    test('the last allowed consecutive failure locks its network, and no earlier one does', async (t) => {
      const { fail, lockedUntil } = await open(t)
      const none = undefined
      assert.deepEqual(await fail(HERE, 5), [none, none, after(100), none, none])
      // Failures during a lock neither count nor extend the lock.
      assert.deepEqual(await fail(HERE, 1, after(99)), [none])
      assert.equal(await lockedUntil(), after(100))
    })

    test('R080: locking one network out leaves every other one open', async (t) => {
      const { fail, isOpen, lockedUntil } = await open(t)
      await fail(HERE, 3)
      assert.equal(await isOpen(THERE), true)
      assert.equal(await isOpen(HERE), false)
      assert.equal(await lockedUntil(), after(100), 'and the lock is still there')
    })

    test('a correct password is refused until the lock has expired', async (t) => {
      // Attack: the correct one of many parallel guesses arrives just after the lock.
      const { fail, isOpen, authenticators, passwordFailures } = await open(t)
      await fail(HERE, 3)
      for (const now of [NOON, after(99)]) assert.equal(await isOpen(HERE, now), false)
      assert.equal(await isOpen(HERE, after(100)), true)
      assert.deepEqual(await authenticators.find(id), anAuthenticator())
      assert.equal(await passwordFailures.clear(gone, HERE, NOON), false)
    })

    test('a correct password resets the count', async (t) => {
      const { fail, isOpen } = await open(t)
      await fail(HERE, 2)
      assert.equal(await isOpen(HERE), true)
      assert.deepEqual(await fail(HERE, 3), [undefined, undefined, after(100)])
    })

    test('each further lock of a network is longer, until a correct password', async (t) => {
      const { fail, isOpen } = await open(t)
      await fail(HERE, 3)
      assert.deepEqual((await fail(HERE, 3, after(100))).at(-1), after(300))
      assert.deepEqual((await fail(HERE, 3, after(300))).at(-1), after(600))
      assert.equal(await isOpen(HERE, after(600)), true)
      assert.deepEqual((await fail(HERE, 3, after(600))).at(-1), after(700))
    })

    test('the count of a network starts again after a long enough pause', async (t) => {
      const { fail } = await open(t)
      await fail(HERE, 3)
      // The lock ends after 100, and is remembered for another 1000.
      assert.deepEqual((await fail(HERE, 3, after(1_099))).at(-1), after(1_299))
      await fail(THERE, 2)
      assert.deepEqual(await fail(THERE, 1, after(1_000)), [undefined])
    })

    test('R078: the ceiling locks every network at once, and its count starts again afterwards', async (t) => {
      const { fail, isOpen, lockedUntil } = await open(t)
      const low = { ceiling: 5 }
      for (let i = 1; i <= 4; i++) await fail(from(`198.51.100.${i}`), 1, NOON, low)
      assert.equal(await lockedUntil(), undefined)
      assert.deepEqual(await fail(from('198.51.100.5'), 1, NOON, low), [after(100)])
      assert.equal(await isOpen(HERE), false)
      assert.equal(await lockedUntil(), after(100))
      assert.deepEqual(await fail(HERE, 1, after(100), low), [undefined])
      assert.equal(await isOpen(HERE, after(100)), true)
    })

    test('R080: a network that is shut out cannot shut the others out by guessing on', async (t) => {
      // Attack: one stranger sends as many guesses as the ceiling has, and more, from one address.
      const { fail, isOpen, lockedUntil } = await open(t)
      const low = { ceiling: 5 }
      const [, , locked, ...others] = await fail(HERE, 20, NOON, low)
      assert.equal(locked, after(100))
      assert.deepEqual(new Set(others), new Set([undefined]))
      assert.equal(await lockedUntil(), after(100))
      // What may still be right counts: of another network, and of a known device in this one.
      await fail(from(HERE.network, 'phone'), 1, NOON, low)
      assert.equal(await isOpen(THERE), true)
      await fail(HERE, 3, after(100), low)
      await fail(from(HERE.network, 'phone'), 1, after(100), low)
      assert.deepEqual(await fail(THERE, 1, after(100), low), [after(200)])
      assert.equal(await isOpen(from('192.0.2.3'), after(100)), false)
    })

    test('R080: a known device passes the locks of others, and leaves them as they are', async (t) => {
      const { fail, isOpen, lockedUntil } = await open(t)
      const known = from(HERE.network, 'phone')
      await fail(HERE, 3)
      assert.equal(await isOpen(known), true)
      assert.equal(await isOpen(HERE), false)
      for (let i = 1; i <= 4; i++) await fail(from(`198.51.100.${i}`), 1, NOON, { ceiling: 4 })
      assert.equal(await isOpen(THERE), false)
      assert.equal(await isOpen(known), true)
      assert.equal(await isOpen(THERE), false, 'and does not open them for strangers')
      assert.equal(await lockedUntil(), after(100))
    })

    test('R080: a known device that guesses too often is no longer trusted, and its network is locked out too', async (t) => {
      // Attack: a stolen device cookie is used to guess without limit.
      const { fail, isOpen, passwordFailures } = await open(t)
      const stolen = from(HERE.network, 'stolen')
      await fail(stolen, 2)
      assert.equal(await passwordFailures.isTrusted(id, 'stolen'), true)
      await fail(stolen, 1)
      assert.equal(await passwordFailures.isTrusted(id, 'stolen'), false)
      assert.equal(await isOpen(stolen), false)
      assert.equal(await isOpen(from(HERE.network, 'phone')), true, 'another device is another')
      // Long after the lock of the network the device is still not trusted: the locks of others apply to it.
      assert.equal(await passwordFailures.isTrusted(id, 'stolen'), false)
      assert.equal(await isOpen(stolen, after(4_000)), true, 'no lock holds there any more')
      assert.equal(await passwordFailures.isTrusted(id, 'stolen'), true, 'and it was right')
    })

    test('counts failures of a known device while everything else is locked', async (t) => {
      const { fail, passwordFailures } = await open(t)
      await fail(HERE, 1, NOON, { ceiling: 1 })
      await fail(from(THERE.network, 'stolen'), 3)
      assert.equal(await passwordFailures.isTrusted(id, 'stolen'), false)
    })

    test('a policy without a limit of attempts never locks', async (t) => {
      const { fail, isOpen, passwordFailures } = await open(t)
      const never = { maxAttempts: 0, ceiling: 5 }
      const locks = await fail(from(HERE.network, 'phone'), 20, NOON, never)
      assert.ok(locks.every((lock) => lock === undefined))
      assert.equal(await passwordFailures.isTrusted(id, 'phone'), true)
      assert.equal(await isOpen(HERE), true)
    })

    test('an administrator unlocks every network and device, and resets the counts', async (t) => {
      const { fail, isOpen, authenticators, passwordFailures } = await open(t)
      await fail(from(HERE.network, 'phone'), 3, NOON, { ceiling: 3 })
      assert.equal(await isOpen(HERE), false)
      assert.equal(await authenticators.unlock(id), true)
      assert.deepEqual(await authenticators.find(id), anAuthenticator())
      assert.equal(await passwordFailures.isTrusted(id, 'phone'), true)
      assert.equal(await isOpen(HERE), true)
      assert.deepEqual(await fail(HERE, 1), [undefined])
      assert.equal(await authenticators.unlock(gone), false)
    })

    test('does not count a failure of a password that does not exist', async (t) => {
      const { passwordFailures } = await open(t)
      for (const none of [gone, '' as AuthenticatorId]) {
        const rule = ruleAt(NOON, { maxAttempts: 1, ceiling: 1 })
        const answer = await passwordFailures.add(none, from('192.0.2.1', 'phone'), rule, NOON)
        assert.deepEqual(answer, { lockedUntil: undefined })
        assert.equal(await passwordFailures.isTrusted(none, 'phone'), true)
      }
    })

    test('deletes the failures together with their password', async (t) => {
      const { fail, authenticators, identities, passwordFailures } = await open(t)
      await fail(from(HERE.network, 'phone'), 3)
      await authenticators.remove(id)
      assert.equal(await passwordFailures.isTrusted(id, 'phone'), true)
      assert.equal(await identities.remove(anIdentity().id as IdentityId), true)
    })

    test('bounds the rows of one password, and deletes those that expire first', async (t) => {
      // Attack: one failure from each of very many networks, to fill the database.
      const { fail, passwordFailures, isOpen } = await open(t)
      await fail(HERE, 2)
      for (let i = 0; i < MOST_ORIGINS; i++) await fail(from(`10.0.0.${i}`), 1, after(1))
      assert.equal(await passwordFailures.removeExpired(after(100_000), 1_000), MOST_ORIGINS)
      await fail(HERE, 2)
      assert.equal(await isOpen(HERE), true)
    })

    test('deletes expired rows in small batches', async (t) => {
      const { fail, passwordFailures } = await open(t)
      for (let i = 0; i < 5; i++) await fail(from(`10.0.0.${i}`, `device-${i}`), 1, after(i))
      assert.equal(await passwordFailures.removeExpired(after(1_000), 10), 0)
      assert.equal(await passwordFailures.removeExpired(after(1_003), 2), 2)
      assert.equal(await passwordFailures.removeExpired(after(1_003), 10), 1)
      assert.equal(await passwordFailures.removeExpired(after(100_000), 10), 7)
    })

    test('R079: a hundred failures at once count as a hundred, on two instances', async (t) => {
      // Attack: many parallel guesses, so that each reads the count from before the others.
      const stores = await openFilled(t)
      const fail = (changes: Partial<LockRule>, origin: (i: number) => GuessOrigin) =>
        Promise.all(
          HUNDRED.map((i) =>
            stores[i % 2 ? 0 : 1].passwordFailures.add(id, origin(i), ruleAt(NOON, changes), NOON),
          ),
        )
      const locksOf = (answers: readonly { readonly lockedUntil: Instant | undefined }[]) =>
        answers.filter(({ lockedUntil }) => lockedUntil !== undefined).length

      assert.equal(locksOf(await fail({ maxAttempts: 101 }, () => HERE)), 0)
      const last = await stores[0].passwordFailures.add(
        id,
        HERE,
        ruleAt(NOON, { maxAttempts: 101 }),
        NOON,
      )
      assert.equal(last.lockedUntil, after(100))
      await stores[0].authenticators.unlock(id)
      assert.equal(locksOf(await fail({ maxAttempts: 10 }, () => HERE)), 1)

      await stores[0].authenticators.unlock(id)
      const spread = (i: number) => from(`10.0.0.${i}`)
      assert.equal(locksOf(await fail({ ceiling: 101 }, spread)), 0)
      await stores[0].authenticators.unlock(id)
      assert.equal(locksOf(await fail({ ceiling: 100 }, spread)), 1)
    })

    test('R079: a correct password in parallel with the last failure either comes first or sees the lock', async (t) => {
      const stores = await openFilled(t)
      for (let round = 0; round < 10; round++) {
        await stores[0].authenticators.unlock(id)
        const rule = ruleAt(NOON, { maxAttempts: 1 })
        const [{ lockedUntil }] = await Promise.all([
          stores[0].passwordFailures.add(id, HERE, rule, NOON),
          stores[1].passwordFailures.clear(id, HERE, NOON),
        ])
        assert.equal(lockedUntil, after(100))
        assert.equal(await stores[1].passwordFailures.clear(id, HERE, NOON), false)
      }
    })
  })
}
