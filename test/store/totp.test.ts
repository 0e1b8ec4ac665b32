/**
 * TOTP enrollments, recovery codes and the count of guesses on every database: what is spent is spent once, what is
 * counted is counted exactly, also through two connections (R085, R086, R087, R090).
 */
import assert from 'node:assert/strict'
import { after as afterAll, suite, type TestContext, test } from 'node:test'
import type { IdentityId, TotpEnrollmentId } from '../../src/base/ids.ts'
import type { Instant } from '../../src/base/time/instant.ts'
import type { FactorOwner } from '../../src/domain/factors/factor-owner.ts'
import type { Store } from '../../src/domain/stores.ts'
import { startPostgres } from '../support/stores/postgres.ts'
import { ALL, openTwo } from './databases.ts'
import { after, anEnrollment, anIdentity, hash, NOON } from './samples.ts'
import { insertIdentity } from './seed.ts'

afterAll(async () => (await startPostgres()).stop())

const TIMES = Array.from({ length: 20 }, (_, i) => i)
const HUNDRED = Array.from({ length: 100 }, (_, i) => i)
const CODES = TIMES.map((i) => hash(`recovery-${i}`))
const me = anIdentity().id
const OWNER = 'owner-1' as FactorOwner
const OTHER = 'owner-2' as FactorOwner
const VERIFIED = anEnrollment({ isVerified: true, owner: undefined })
const other = anIdentity({ id: 'identity-2' as IdentityId, name: 'other', externalId: undefined })

for (const database of ALL) {
  suite(database.name, () => {
    const openTwoFilled = async (t: TestContext): Promise<readonly [Store, Store]> => {
      const stores = await openTwo(await database.create(t))
      await insertIdentity(stores[0])
      await stores[0].identities.insert(other)
      return stores
    }
    const openPending = async (t: TestContext): Promise<readonly [Store, Store]> => {
      const stores = await openTwoFilled(t)
      assert.equal(await stores[0].totpEnrollments.replacePending(anEnrollment(), CODES), true)
      return stores
    }
    const openVerified = async (t: TestContext): Promise<readonly [Store, Store]> => {
      const stores = await openPending(t)
      assert.equal(await stores[0].totpEnrollments.markVerified(anEnrollment(), NOON), true)
      return stores
    }

    test('an identity has a second factor once an enrollment is verified', async (t) => {
      const [{ identities, totpEnrollments }] = await openPending(t)
      const isEnabled = async () => (await identities.findWithFactors(me))?.isMfaEnabled
      assert.equal(await isEnabled(), false)
      assert.equal(await totpEnrollments.markVerified(anEnrollment(), NOON), true)
      assert.equal(await isEnabled(), true)
      assert.equal((await identities.findWithFactors(other.id))?.isMfaEnabled, false)
      assert.equal(await identities.findWithFactors('nobody' as IdentityId), undefined)
    })

    test('an enrollment is pending, then verified', async (t) => {
      const [{ totpEnrollments, recoveryCodes }] = await openPending(t)
      assert.deepEqual(await totpEnrollments.find(me), anEnrollment())
      assert.equal(await recoveryCodes.count(me), 0, 'not good yet')
      assert.equal(await totpEnrollments.markVerified(anEnrollment(), NOON), true)
      assert.equal(await recoveryCodes.count(me), 20)
      assert.deepEqual(await totpEnrollments.find(me), VERIFIED)
      assert.equal(await totpEnrollments.find(other.id), undefined)
      assert.equal(await recoveryCodes.count(other.id), 0)
    })

    test('a pending enrollment is replaced with its recovery codes', async (t) => {
      const [{ totpEnrollments, recoveryCodes }] = await openPending(t)
      const next = anEnrollment({
        id: 'enrollment-2' as TotpEnrollmentId,
        sealedSecret: 'another',
        createdAt: after(5),
      })
      assert.equal(await totpEnrollments.replacePending(next, [hash('new')]), true)
      assert.deepEqual(await totpEnrollments.find(me), next)

      // A code that was made for the replaced secret proves nothing about this one.
      assert.equal(await totpEnrollments.markVerified(anEnrollment(), NOON), false)
      assert.equal(await totpEnrollments.markVerified(next, NOON), true)
      assert.equal(await recoveryCodes.count(me), 1)
      assert.equal(await recoveryCodes.take(me, CODES[0] ?? hash('')), false)
      assert.equal(await recoveryCodes.take(me, hash('new')), true)
    })

    test('a verified enrollment is never replaced, and its codes stay (R090)', async (t) => {
      // Attack: somebody with the password alone enrolls an authenticator of their own.
      const [{ totpEnrollments, recoveryCodes }] = await openVerified(t)
      const theirs = anEnrollment({ id: 'enrollment-2' as TotpEnrollmentId, sealedSecret: 'evil' })
      assert.equal(await totpEnrollments.replacePending(theirs, [hash('evil')]), false)
      assert.deepEqual(await totpEnrollments.find(me), VERIFIED)
      assert.equal(await recoveryCodes.count(me), 20)
      assert.equal(await recoveryCodes.take(me, hash('evil')), false)
      assert.equal(await totpEnrollments.markVerified(theirs, NOON), false)
    })

    test('of twenty verifications at once, one counts', async (t) => {
      const stores = await openPending(t)
      const verified = await Promise.all(
        TIMES.map((i) => stores[i % 2 ? 0 : 1].totpEnrollments.markVerified(anEnrollment(), NOON)),
      )
      assert.equal(verified.filter(Boolean).length, 1)
    })

    test('of starts and a verification at once, what is verified is what was proven', async (t) => {
      const stores = await openPending(t)
      const starts = TIMES.map((i) => {
        const id = `enrollment-new-${i}` as TotpEnrollmentId
        const codes = [hash(`${i}-a`), hash(`${i}-b`)]
        return stores[i % 2 ? 0 : 1].totpEnrollments.replacePending(anEnrollment({ id }), codes)
      })
      const verifying = stores[1].totpEnrollments.markVerified(anEnrollment(), NOON)
      const isVerified = await verifying
      await Promise.all(starts)
      const found = await stores[0].totpEnrollments.find(me)
      assert.equal(found?.isVerified, isVerified)
      assert.equal(found?.id === anEnrollment().id, isVerified)
      const count = await stores[0].recoveryCodes.count(me)
      assert.equal(count, isVerified ? 20 : 0)
    })

    test('only its owner can verify and remove a pending enrollment (D-240)', async (t) => {
      const [{ totpEnrollments }] = await openPending(t)
      for (const owner of [OTHER, undefined]) {
        assert.equal(await totpEnrollments.markVerified(anEnrollment({ owner }), NOON), false)
      }
      assert.equal(await totpEnrollments.removePending(me, OTHER), false)
      assert.deepEqual(await totpEnrollments.find(me), anEnrollment())

      // Replaced under the same id: the owner is checked nevertheless.
      await totpEnrollments.replacePending(anEnrollment({ owner: OTHER }), CODES)
      assert.equal(await totpEnrollments.markVerified(anEnrollment(), NOON), false)
      assert.equal(await totpEnrollments.removePending(me, OWNER), false)
      assert.deepEqual(await totpEnrollments.find(me), anEnrollment({ owner: OTHER }))
    })

    test('a pending enrollment without an owner is void until it is replaced (D-240)', async (t) => {
      const [{ totpEnrollments }] = await openTwoFilled(t)
      const before = anEnrollment({ owner: undefined })
      assert.equal(await totpEnrollments.replacePending(before, CODES), true)
      assert.deepEqual(await totpEnrollments.find(me), before)
      assert.equal(await totpEnrollments.markVerified(before, NOON), false)
      assert.equal(await totpEnrollments.markVerified(anEnrollment(), NOON), false)
      assert.equal(await totpEnrollments.removePending(me, OWNER), false)
      assert.equal(await totpEnrollments.replacePending(anEnrollment(), CODES), true)
      assert.equal(await totpEnrollments.markVerified(anEnrollment(), NOON), true)
    })

    test('of verifications by two owners at once, only those of the owner count (D-240)', async (t) => {
      const stores = await openPending(t)
      const verified = await Promise.all(
        TIMES.map(async (i) => {
          const owner = i % 4 < 2 ? OTHER : OWNER
          const { totpEnrollments } = stores[i % 2 ? 0 : 1]
          return (await totpEnrollments.markVerified(anEnrollment({ owner }), NOON)) && owner
        }),
      )
      assert.deepEqual(verified.filter(Boolean), [OWNER])
    })

    test('of a start by another owner and a verification at once, one counts (D-240)', async (t) => {
      // Attack: a login with only the password starts its own enrollment at the moment when the owner verifies.
      const stores = await openTwoFilled(t)
      for (const i of TIMES) {
        await stores[0].totpEnrollments.remove(me)
        await stores[0].totpEnrollments.replacePending(anEnrollment(), CODES)
        const theirs = anEnrollment({ id: `theirs-${i}` as TotpEnrollmentId, owner: OTHER })
        const [isVerified, isReplaced, isRemoved] = await Promise.all([
          stores[i % 2 ? 0 : 1].totpEnrollments.markVerified(anEnrollment(), NOON),
          stores[i % 2 ? 1 : 0].totpEnrollments.replacePending(theirs, [hash('theirs')]),
          stores[i % 2 ? 1 : 0].totpEnrollments.removePending(me, OWNER),
        ])
        const left = await stores[0].totpEnrollments.find(me)
        if (isVerified) {
          assert.deepEqual([isReplaced, isRemoved, left], [false, false, VERIFIED])
        } else {
          assert.deepEqual([isReplaced, left], [true, theirs])
        }
      }
    })

    test('removing a pending enrollment leaves a verified one alone', async (t) => {
      const [{ totpEnrollments, recoveryCodes }] = await openPending(t)
      assert.equal(await totpEnrollments.removePending(me, OWNER), true)
      assert.equal(await totpEnrollments.removePending(me, OWNER), false)
      assert.equal(await totpEnrollments.find(me), undefined)
      assert.equal(await recoveryCodes.count(me), 0)

      await totpEnrollments.replacePending(anEnrollment(), CODES)
      await totpEnrollments.markVerified(anEnrollment(), NOON)
      assert.equal(await totpEnrollments.removePending(me, OWNER), false)
      assert.deepEqual(await totpEnrollments.find(me), VERIFIED)
    })

    test('an enrollment is removed with its codes, verified or not', async (t) => {
      const [{ totpEnrollments, recoveryCodes }] = await openVerified(t)
      assert.equal(await totpEnrollments.remove(me), true)
      assert.equal(await totpEnrollments.remove(me), false)
      assert.equal(await recoveryCodes.count(me), 0)
      assert.equal(await totpEnrollments.takeStep(anEnrollment(), 9), false)
      await totpEnrollments.replacePending(anEnrollment(), CODES)
      assert.equal(await totpEnrollments.remove(me), true)
      assert.equal(await totpEnrollments.find(me), undefined)
    })

    test('a time step is taken once, and none before it afterwards (R085)', async (t) => {
      const [{ totpEnrollments }] = await openVerified(t)
      const step = 60_000_000 // of the year 2027
      const answers = []
      for (const next of [step, step, step - 1, step + 2, step + 1, step + 3]) {
        answers.push(await totpEnrollments.takeStep(anEnrollment(), next))
      }
      assert.deepEqual(answers, [true, false, false, true, false, true])
      const ofAnother = { ...anEnrollment(), identityId: other.id }
      assert.equal(await totpEnrollments.takeStep(ofAnother, step + 4), false)
      const former = { ...anEnrollment(), id: 'former' as TotpEnrollmentId }
      assert.equal(await totpEnrollments.takeStep(former, step + 4), false)
      assert.equal(await totpEnrollments.takeStep(anEnrollment(), step + 4), true)
    })

    test('the very first time step can be taken', async (t) => {
      const [{ totpEnrollments }] = await openVerified(t)
      assert.equal(await totpEnrollments.takeStep(anEnrollment(), 0), true)
      assert.equal(await totpEnrollments.takeStep(anEnrollment(), 0), false)
    })

    test('a pending enrollment opens nothing', async (t) => {
      const [{ totpEnrollments, recoveryCodes }] = await openPending(t)
      assert.equal(await totpEnrollments.takeStep(anEnrollment(), 9), false)
      assert.equal(await recoveryCodes.take(me, hash('recovery-1')), false)
      await recoveryCodes.replace(me, [hash('evil')])

      // And nothing was burnt.
      await totpEnrollments.markVerified(anEnrollment(), NOON)
      assert.equal(await recoveryCodes.count(me), 20)
      assert.equal(await totpEnrollments.takeStep(anEnrollment(), 9), true)
    })

    test('of twenty uses of one time step at once, one wins (R085)', async (t) => {
      const stores = await openVerified(t)
      const taken = await Promise.all(
        TIMES.map((i) =>
          stores[i % 2 ? 0 : 1].totpEnrollments.takeStep(anEnrollment(), 60_000_000),
        ),
      )
      assert.equal(taken.filter(Boolean).length, 1)
    })

    test('a recovery code is good once (R087)', async (t) => {
      const [{ recoveryCodes }] = await openVerified(t)
      assert.equal(await recoveryCodes.take(other.id, hash('recovery-1')), false)
      assert.equal(await recoveryCodes.take(me, hash('another')), false)
      assert.equal(await recoveryCodes.take(me, hash('recovery-1')), true)
      assert.equal(await recoveryCodes.take(me, hash('recovery-1')), false)
      assert.equal(await recoveryCodes.take(me, hash('recovery-2')), true)
      assert.equal(await recoveryCodes.count(me), 18)
    })

    test('of twenty uses of one recovery code at once, one wins (R087)', async (t) => {
      const stores = await openVerified(t)
      const taken = await Promise.all(
        TIMES.map((i) => stores[i % 2 ? 0 : 1].recoveryCodes.take(me, hash('recovery-1'))),
      )
      assert.equal(taken.filter(Boolean).length, 1)
      assert.equal(await stores[0].recoveryCodes.count(me), 19)
    })

    test('two identities may have the same recovery code', async (t) => {
      const [{ totpEnrollments, recoveryCodes }] = await openVerified(t)
      const theirs = anEnrollment({ identityId: other.id, id: 'enrollment-2' as TotpEnrollmentId })
      await totpEnrollments.replacePending(theirs, CODES)
      await totpEnrollments.markVerified(theirs, NOON)
      assert.equal(await recoveryCodes.take(me, hash('recovery-1')), true)
      assert.equal(await recoveryCodes.take(other.id, hash('recovery-1')), true)
    })

    test('new recovery codes take the place of all that are left', async (t) => {
      const [{ recoveryCodes }] = await openVerified(t)
      await recoveryCodes.replace(me, [hash('a'), hash('b'), hash('b')])
      assert.equal(await recoveryCodes.count(me), 2)
      assert.equal(await recoveryCodes.take(me, hash('recovery-1')), false)
      assert.equal(await recoveryCodes.take(me, hash('b')), true)
      await recoveryCodes.replace(me, [])
      assert.equal(await recoveryCodes.count(me), 0)
    })

    test('of twenty renewals at once, the codes of one are left', async (t) => {
      const stores = await openVerified(t)
      await Promise.all(
        TIMES.map((i) => {
          const codes = CODES.map((code) => hash(`${i}-${code}`))
          return stores[i % 2 ? 0 : 1].recoveryCodes.replace(me, codes)
        }),
      )
      assert.equal(await stores[0].recoveryCodes.count(me), 20)
    })

    /** The tenth blocks for 100 ms, the eleventh for 200, and so on. */
    const growing = (now: Instant) => (guesses: number) =>
      guesses < 10 ? undefined : after(now - NOON + (guesses - 9) * 100)

    test('guesses are counted until one is right', async (t) => {
      const [{ codeGuesses }] = await openTwoFilled(t)
      const take = (id = me) => codeGuesses.take(id, NOON, growing(NOON))
      assert.deepEqual(await take(), { guesses: 1 })
      assert.deepEqual(await take(), { guesses: 2 })
      assert.deepEqual(await take(other.id), { guesses: 1 })
      await codeGuesses.clear(me)
      assert.deepEqual(await take(), { guesses: 1 })
      assert.deepEqual(await take(other.id), { guesses: 2 })
    })

    test('the tenth guess is judged, those after it wait, and waits grow (D-18)', async (t) => {
      const [{ codeGuesses }] = await openTwoFilled(t)
      const take = (now: Instant) => codeGuesses.take(me, now, growing(now))
      for (let i = 1; i <= 10; i++) assert.deepEqual(await take(NOON), { guesses: i })
      assert.deepEqual(await take(NOON), { blockedUntil: after(100) })
      assert.deepEqual(await take(after(99)), { blockedUntil: after(100) })
      // What was refused did not count.
      assert.deepEqual(await take(after(100)), { guesses: 11 })
      assert.deepEqual(await take(after(101)), { blockedUntil: after(300) })
      assert.deepEqual(await take(after(300)), { guesses: 12 })
      assert.deepEqual(await take(after(300)), { blockedUntil: after(600) })
      await codeGuesses.clear(me)
      assert.deepEqual(await take(after(300)), { guesses: 1 })
    })

    test('guesses at a deleted identity are not counted', async (t) => {
      const [{ codeGuesses }] = await openTwoFilled(t)
      const gone = 'another' as IdentityId
      for (let i = 0; i < 3; i++) {
        assert.deepEqual(await codeGuesses.take(gone, NOON, growing(NOON)), { guesses: 1 })
      }
      await codeGuesses.clear(gone)
    })

    test('a hundred guesses at once count as a hundred (R086)', async (t) => {
      const stores = await openTwoFilled(t)
      const answers = await Promise.all(
        HUNDRED.map((i) => stores[i % 2 ? 0 : 1].codeGuesses.take(me, NOON, () => undefined)),
      )
      const counts = answers.map((answer) => ('guesses' in answer ? answer.guesses : 0))
      assert.deepEqual(
        counts.sort((a, b) => a - b),
        HUNDRED.map((i) => i + 1),
      )
    })

    test('of a hundred guesses at once ten are judged (R086)', async (t) => {
      // Attack: guesses sent at the same moment, over any number of logins, so that each finds the count of before.
      const stores = await openTwoFilled(t)
      const answers = await Promise.all(
        HUNDRED.map((i) => stores[i % 2 ? 0 : 1].codeGuesses.take(me, NOON, growing(NOON))),
      )
      const judged = answers.flatMap((answer) => ('guesses' in answer ? [answer.guesses] : []))
      assert.deepEqual(
        judged.sort((a, b) => a - b),
        [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
      )
      const blocked = answers.filter((answer) => 'blockedUntil' in answer)
      assert.deepEqual(blocked, Array(90).fill({ blockedUntil: after(100) }))
    })

    test('a guess in a transaction is counted with it', async (t) => {
      const [store] = await openTwoFilled(t)
      await store.transaction((tx) => tx.codeGuesses.take(me, NOON, () => after(100)))
      const answer = await store.codeGuesses.take(me, NOON, () => undefined)
      assert.deepEqual(answer, { blockedUntil: after(100) })
    })
  })
}
