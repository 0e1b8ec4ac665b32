/**
 * Password hashing and its queue: API 4.2, D-22, R073, R076, R081. What runs when is seen from the
 * order in which long and short work ends, never from a clock.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemRandom } from '../../../base/secrets/random.ts'
import { Secret } from '../../../base/secrets/secret.ts'
import { Failure } from '../../../errors/catalogue.ts'
import { createTurns } from '../guessing/turns.ts'
import { createPasswordHashing, type PasswordHashing } from './hashing.ts'

const PASSWORD = new Secret('correct horse battery')

/** The network of the caller. */
const HERE = '192.0.2.1'

const SALT = 'c2FsdHNhbHRzYWx0c2FsdA'
const DIGEST = 'A'.repeat(43)
/** A record whose password is unknown, and that takes this much work to check. */
const record = (m: number, t: number, p = 1) =>
  `$argon2id$v=19$m=${m},t=${t},p=${p}$${SALT}$${DIGEST}`

/** Thousands of times the work of the short one. */
const LONG = record(77_824, 2)
const SHORT = record(8, 1)

const hashingWith = (concurrency: number, queue: number) =>
  createPasswordHashing({
    random: systemRandom,
    turns: createTurns({ purpose: 'password hashing', concurrency, queue }),
  })

/** Starts every piece of work at once; answers the names in the order in which they ended. */
async function orderOfEnds(work: Readonly<Record<string, Promise<unknown>>>): Promise<string[]> {
  const ended: string[] = []
  await Promise.all(
    Object.entries(work).map(async ([name, one]) => {
      await one
      ended.push(name)
    }),
  )
  return ended
}

const isBusy = (error: unknown) => {
  assert.ok(error instanceof Failure)
  assert.equal(error.code, 'SERVER_TOO_BUSY')
  assert.equal(error.retryAfterSeconds, 1)
  return true
}

test('R076: a hash is argon2id of the minimum strength, with a salt of its own', async () => {
  const hashing = hashingWith(2, 10)
  const [one, other] = await Promise.all([hashing.hash(PASSWORD), hashing.hash(PASSWORD)])
  assert.match(one, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/)
  assert.notEqual(one, other)
  assert.equal(hashing.isWeak(one), false)
  assert.equal(await hashing.verify(one, PASSWORD, HERE), true)
  assert.equal(await hashing.verify(other, new Secret('correct horse batterz'), HERE), false)
})

test('R073: all of a password counts, and nothing is trimmed', async () => {
  const hashing = hashingWith(2, 20)
  const long = 'x'.repeat(127)
  const different: readonly [string, string][] = [
    [`${long}a`, `${long}b`],
    ['password', 'password '],
    ['password', ' password'],
    ['password', 'Password'],
    ['pass\0word', 'pass\0more'],
    ['pass\0word', 'pass'],
  ]
  for (const [set, tried] of different) {
    const stored = await hashing.hash(new Secret(set))
    assert.equal(await hashing.verify(stored, new Secret(set), HERE), true, JSON.stringify(set))
    assert.equal(
      await hashing.verify(stored, new Secret(tried), HERE),
      false,
      JSON.stringify(tried),
    )
  }
})

test('R073: passwords are compared after NFKC', async () => {
  const hashing = hashingWith(2, 10)
  const stored = await hashing.hash(new Secret('Ｃafé ﬁve'))
  assert.equal(await hashing.verify(stored, new Secret('Cafe\u0301 five'), HERE), true)
})

test('a place at a time: with one place, short work waits for long work', async () => {
  const hashing = hashingWith(1, 10)
  const ended = await orderOfEnds({
    long: hashing.verify(LONG, PASSWORD, HERE),
    first: hashing.verify(SHORT, PASSWORD, HERE),
    second: hashing.verify(SHORT, PASSWORD, HERE),
    third: hashing.verify(SHORT, PASSWORD, HERE),
  })
  assert.deepEqual(ended, ['long', 'first', 'second', 'third'])
})

test('with two places, short work passes long work by, in the order in which it came', async () => {
  const hashing = hashingWith(2, 10)
  const ended = await orderOfEnds({
    long: hashing.verify(LONG, PASSWORD, HERE),
    first: hashing.verify(SHORT, PASSWORD, HERE),
    second: hashing.verify(SHORT, PASSWORD, HERE),
    third: hashing.verify(SHORT, PASSWORD, HERE),
  })
  assert.deepEqual(ended, ['first', 'second', 'third', 'long'])
})

test('D-22: a full queue refuses at once, and says when to come back', async () => {
  const hashing = hashingWith(2, 3)
  const accepted = Array.from({ length: 5 }, () => hashing.verify(SHORT, PASSWORD, HERE))
  const refusals = [hashing.verify(SHORT, PASSWORD, HERE), hashing.verifyNothing(PASSWORD, HERE)]
  for (const refusal of refusals) await assert.rejects(refusal, isBusy)
  assert.deepEqual(await Promise.all(accepted), [false, false, false, false, false])
})

test('the load of the hashing can be read, and rejected calls are counted', async () => {
  const hashing = hashingWith(2, 3)
  assert.deepEqual(hashing.load(), { running: 0, queued: 0, refused: 0 })
  const accepted = Array.from({ length: 5 }, () => hashing.verifyNothing(PASSWORD, HERE))
  await assert.rejects(hashing.verifyNothing(PASSWORD, HERE), isBusy)
  assert.deepEqual(hashing.load(), { running: 2, queued: 3, refused: 1 })
  await Promise.all(accepted)
  assert.deepEqual(hashing.load(), { running: 0, queued: 0, refused: 1 })
})

test('a queue that was full takes work again, as much as before', async () => {
  const hashing = hashingWith(1, 1)
  for (let round = 0; round < 3; round += 1) {
    const accepted = [hashing.verify(SHORT, PASSWORD, HERE), hashing.verify(SHORT, PASSWORD, HERE)]
    await assert.rejects(hashing.verify(SHORT, PASSWORD, HERE), isBusy)
    await Promise.all(accepted)
  }
})

test('work that fails frees its place', async () => {
  const hashing = hashingWith(1, 1)
  // Within the bounds, but argon2 itself refuses it: less memory than 8 KiB a lane.
  const broken = record(1, 1)
  for (let round = 0; round < 3; round += 1) {
    const failing = [hashing.verify(broken, PASSWORD, HERE), hashing.verify(broken, PASSWORD, HERE)]
    await assert.rejects(hashing.verify(SHORT, PASSWORD, HERE), isBusy)
    const outcomes = await Promise.allSettled(failing)
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['rejected', 'rejected'],
    )
  }
  assert.equal(await hashing.verify(SHORT, PASSWORD, HERE), false)
})

const POISONED: Readonly<Record<string, string>> = {
  'too much memory': record(77_825, 2),
  'all the memory there is': record(999_999_999, 2),
  'too many passes': record(19_456, 9),
  'too many lanes': record(19_456, 2, 5),
  'a number of ten digits': record(1_000_000_000, 2),
  'another algorithm of the family': LONG.replace('argon2id', 'argon2i'),
  'another version': LONG.replace('v=19', 'v=16'),
  'no version': LONG.replace('v=19$', ''),
  'a further parameter': LONG.replace('p=1', 'p=1,keyid=aGk'),
  'parameters in another order': '$argon2id$v=19$t=2,m=19456,p=1$c2FsdA$aGFzaA',
  'another kind of hash': '$2b$10$C6UzMDM.H6dfI/f/IKcEeO7ZkGfXr7jH5nO0N3xvWb7dAo5aP5K1W',
  nothing: '',
}

test('R076: a stored hash out of bounds is refused, and no work is done for it', async () => {
  // Attack: an attacker who can write one record makes every guess at that name cost gigabytes.
  const hashing = hashingWith(1, 0)
  // The only place is taken, so that asking for one would be refused in another way.
  const running = hashing.verify(LONG, PASSWORD, HERE)
  for (const [what, poisoned] of Object.entries(POISONED)) {
    const message = 'a stored password hash is not argon2id within the allowed strength'
    await assert.rejects(hashing.verify(poisoned, PASSWORD, HERE), { name: 'Error', message }, what)
  }
  await running
})

test('R077: a name that does not exist costs the work of one that does', async () => {
  const hashing = hashingWith(2, 10)
  const orders: string[] = []
  // A busy machine may hold back the thread of the short one, but not every time.
  while (orders.length < 5 && orders.at(-1) !== 'short, nothing') {
    const ended = await orderOfEnds({
      nothing: hashing.verifyNothing(PASSWORD, HERE),
      short: hashing.verify(SHORT, PASSWORD, HERE),
    })
    orders.push(ended.join(', '))
  }
  assert.equal(orders.at(-1), 'short, nothing')
  assert.equal(await hashing.verifyNothing(PASSWORD, HERE), undefined)
})

test('R077: it takes a place like any other, so that it waits like any other', async () => {
  const hashing = hashingWith(1, 0)
  const nothing = hashing.verifyNothing(PASSWORD, HERE)
  await assert.rejects(hashing.verify(SHORT, PASSWORD, HERE), isBusy)
  await nothing
})

const WEAK: readonly [string, boolean, string][] = [
  ['of the strength of today', false, record(19_456, 2)],
  ['with more memory', false, record(77_824, 2)],
  ['with more passes', false, record(19_456, 8)],
  ['with less memory', true, record(19_455, 2)],
  ['with fewer passes', true, record(19_456, 1)],
  ['with more memory and fewer passes', true, record(77_824, 1)],
  ['of another kind', true, '$2b$10$C6UzMDM.H6dfI/f/IKcEeO7ZkGfXr7jH5nO0N3xvWb7dAo5aP5K1W'],
]

for (const [what, isWeak, stored] of WEAK) {
  test(`R076: a hash ${what} is ${isWeak ? 'weak' : 'not weak'}`, () => {
    const hashing: Pick<PasswordHashing, 'isWeak'> = hashingWith(1, 1)
    assert.equal(hashing.isWeak(stored), isWeak)
  })
}
