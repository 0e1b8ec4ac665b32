/** When the keys of a signer are fetched, how long they count, and for whom: API 4.5, R105, R107. */
import assert from 'node:assert/strict'
import type { KeyObject } from 'node:crypto'
import { test } from 'node:test'
import type { JWK } from 'jose'
import { ManualClock, NOON } from '../../../test/support/clocks/manual-clock.ts'
import {
  ExternalIdp,
  externalSigner,
  type IdpKey,
  newIdpKey,
} from '../../../test/support/idp/external-idp.ts'
import type { ExternalJwtSignerId } from '../../base/ids.ts'
import { hours, milliseconds, minutes, seconds } from '../../base/time/duration.ts'
import { plus } from '../../base/time/instant.ts'
import { createFetchJson } from '../../outbound/fetch-json.ts'
import { createSignerKeys, type FetchJson, type SignerKeyCache } from './signer-keys.ts'

const ONE = await newIdpKey('one')
const TWO = await newIdpKey('two')
const UNKNOWN = 'no key of the signer matches the token'
const SEVERAL = 'several keys of the signer match the token'
const DOWN = `${UNKNOWN}; the latest fetch failed: it is down`

const SIGNER = externalSigner()

/** A signer whose set and health the test decides, and that counts how often it is asked. */
function world(...keys: readonly IdpKey[]) {
  const clock = new ManualClock()
  const warnings: unknown[] = []
  const idp = { document: { keys: jwks(...keys) } as unknown, isDown: false, asked: [] as string[] }
  const fetchJson: FetchJson = async (url) => {
    idp.asked.push(url)
    if (idp.isDown) throw new Error('it is down')
    return idp.document
  }
  const log = {
    info: (_fields: object, message: string) => warnings.push(message),
    warn: (fields: object) => warnings.push(fields),
  }
  return { clock, idp, warnings, cache: createSignerKeys({ fetchJson, clock, log }) }
}

function jwks(...keys: readonly IdpKey[]): JWK[] {
  return keys.map(({ jwk }) => jwk)
}

/** The coordinate of the key that is found, or why there is none. */
async function find(
  cache: SignerKeyCache,
  kid: string | undefined,
  signer = SIGNER,
  alg: Parameters<SignerKeyCache['keyFor']>[1]['alg'] = 'ES256',
): Promise<unknown> {
  const found = await cache.keyFor(signer, { kid, alg })
  return 'why' in found ? found.why : pointOf(found.key)
}

function pointOf(key: KeyObject): unknown {
  return key.export({ format: 'jwk' }).x
}

test('the set is fetched when the first token needs it, and kept', async () => {
  const { cache, idp, clock } = world(ONE, TWO)
  assert.equal(await cache.status(SIGNER), undefined)
  assert.equal(await find(cache, 'one'), ONE.jwk.x)
  assert.equal(await find(cache, 'two'), TWO.jwk.x)
  clock.pass(minutes(4))
  assert.equal(await find(cache, 'one'), ONE.jwk.x)
  assert.deepEqual(idp.asked, ['https://idp.example/jwks'])
})

test('R105: equal kids at two signers never cross', async () => {
  // Attack: a signer publishes its own key under the kid of another signer's.
  const theirs = await newIdpKey('one')
  const clock = new ManualClock()
  const sets: Record<string, JWK[]> = { 'https://a/': jwks(ONE), 'https://b/': jwks(theirs) }
  const cache = createSignerKeys({ fetchJson: async (url) => ({ keys: sets[url] }), clock })
  const [a, b] = ['a', 'b'].map((name) =>
    externalSigner({
      id: name as ExternalJwtSignerId,
      keys: { kind: 'jwks', jwksEndpoint: `https://${name}/` },
    }),
  )
  for (const round of [1, 2]) {
    assert.equal(await find(cache, 'one', a), ONE.jwk.x, `round ${round}`)
    assert.equal(await find(cache, 'one', b), theirs.jwk.x, `round ${round}`)
  }
})

test('R107: an unknown kid leads to one fetch, and to another no sooner than a second later', async () => {
  // Attack: a flood of tokens with invented kids is turned into a flood at the signer.
  const { cache, idp, clock } = world(ONE)
  assert.equal(await find(cache, 'one'), ONE.jwk.x)
  clock.pass(milliseconds(999))
  for (let i = 0; i < 50; i++) assert.equal(await find(cache, `invented-${i}`), UNKNOWN)
  assert.equal(idp.asked.length, 1)
  clock.pass(milliseconds(1))
  for (let i = 0; i < 50; i++) assert.equal(await find(cache, `invented-${i}`), UNKNOWN)
  assert.equal(idp.asked.length, 2)
})

test('R107: a key that the signer has just begun to use is found at once', async () => {
  const { cache, idp, clock } = world(ONE)
  await find(cache, 'one')
  clock.pass(minutes(1))
  idp.document = { keys: jwks(ONE, TWO) }
  assert.equal(await find(cache, 'two'), TWO.jwk.x)
  assert.equal(idp.asked.length, 2)
})

test('R107: all waiting callers share one fetch', async () => {
  const { cache, idp } = world(ONE)
  const found = await Promise.all(Array.from({ length: 100 }, () => find(cache, 'one')))
  assert.deepEqual(new Set(found), new Set([ONE.jwk.x]))
  assert.equal(idp.asked.length, 1)
})

test('a set is fetched again in the background after five minutes, while the old one is used', async () => {
  const { clock } = world()
  const answers: ((document: unknown) => void)[] = []
  const cache = createSignerKeys({
    fetchJson: () => new Promise((resolve) => answers.push(resolve)),
    clock,
  })
  const first = find(cache, 'one')
  answers[0]?.({ keys: jwks(ONE) })
  assert.equal(await first, ONE.jwk.x)
  clock.pass(minutes(5))
  assert.equal(await find(cache, 'one'), ONE.jwk.x)
  assert.equal(await find(cache, 'one'), ONE.jwk.x)
  assert.equal(answers.length, 2)
  answers[1]?.({ keys: jwks(TWO) })
  assert.equal(await find(cache, 'two'), TWO.jwk.x)
  assert.equal(answers.length, 2)
})

test('a withdrawn key is refused after ten minutes, even if it was not used in between', async () => {
  const { cache, idp, clock } = world(ONE, TWO)
  assert.equal(await find(cache, 'one'), ONE.jwk.x)
  idp.document = { keys: jwks(TWO) }
  clock.pass(minutes(10))
  assert.equal(await find(cache, 'one'), UNKNOWN)
  assert.equal(idp.asked.length, 2)
})

test('a signer that has taken all its keys back has none', async () => {
  const { cache, idp, clock } = world(ONE)
  await find(cache, 'one')
  idp.document = { keys: [] }
  clock.pass(minutes(10))
  assert.equal(await find(cache, 'one'), UNKNOWN)
})

test('R107: the last good set serves through an outage for a day, and not longer', async () => {
  const { cache, idp, clock } = world(ONE)
  await find(cache, 'one')
  idp.isDown = true
  for (let passed = 0; passed < 23; passed++) {
    clock.pass(hours(1))
    assert.equal(await find(cache, 'one'), ONE.jwk.x)
  }
  clock.pass(minutes(59))
  assert.equal(await find(cache, 'one'), ONE.jwk.x)
  clock.pass(minutes(1))
  assert.equal(await find(cache, 'one'), DOWN)
})

test('R107: during an outage the signer is asked every half minute, and no caller waits for it', async () => {
  const { clock } = world()
  let asked = 0
  const answers = [() => Promise.resolve({ keys: jwks(ONE) }), () => Promise.reject(new Error('x'))]
  const cache = createSignerKeys({
    fetchJson: () => {
      asked += 1
      return answers.shift()?.() ?? new Promise(() => undefined)
    },
    clock,
  })
  await find(cache, 'one')
  clock.pass(minutes(10))
  assert.equal(await find(cache, 'one'), ONE.jwk.x)
  assert.equal(asked, 2)
  clock.pass(seconds(29))
  assert.equal(await find(cache, 'one'), ONE.jwk.x)
  assert.equal(asked, 2)
  clock.pass(seconds(1))
  // This fetch never ends.
  assert.equal(await find(cache, 'one'), ONE.jwk.x)
  assert.equal(await find(cache, 'one'), ONE.jwk.x)
  assert.equal(asked, 3)
})

test('a signer that was never reached is asked again after a second, and found when it is back', async () => {
  const { cache, idp, clock, warnings } = world(ONE)
  idp.isDown = true
  assert.equal(await find(cache, 'one'), DOWN)
  assert.equal(await find(cache, 'one'), DOWN)
  assert.equal(idp.asked.length, 1)
  idp.isDown = false
  clock.pass(seconds(1))
  assert.equal(await find(cache, 'one'), ONE.jwk.x)
  assert.deepEqual(warnings, [
    { signerId: SIGNER.id, reason: 'it is down' },
    'the keys of a signer can be fetched again',
  ])
})

test('an outage is logged once, however many ask', async () => {
  const { cache, idp, clock, warnings } = world(ONE)
  idp.isDown = true
  for (let i = 0; i < 10; i++) {
    clock.pass(seconds(1))
    await find(cache, 'one')
  }
  assert.equal(idp.asked.length, 10)
  assert.equal(warnings.length, 1)
})

const NO_SET: readonly [what: string, document: unknown, reason: string][] = [
  ['null', null, 'the answer is not a JWK set'],
  ['a list', [ONE.jwk], 'the answer is not a JWK set'],
  ['an object without keys', {}, 'the answer is not a JWK set'],
  ['keys that are not a list', { keys: { one: ONE.jwk } }, 'the answer is not a JWK set'],
  ['65 keys', { keys: Array(65).fill(ONE.jwk) }, 'the set has more than 64 keys'],
]

for (const [what, document, reason] of NO_SET) {
  test(`R107: ${what} is not a key set, and the last valid one stays`, async () => {
    const { cache, idp, clock } = world(ONE)
    await find(cache, 'one')
    idp.document = document
    clock.pass(minutes(10))
    assert.equal(await find(cache, 'one'), ONE.jwk.x)
    assert.equal((await cache.status(SIGNER))?.lastError, reason)
  })
}

test('keys that cannot be used are passed over, and the others of the set count', async () => {
  const { cache, idp } = world()
  idp.document = { keys: [null, 7, { kty: 'oct', kid: 'one', k: 'AA' }, ONE.jwk] }
  assert.equal(await find(cache, 'one'), ONE.jwk.x)
  assert.equal((await cache.status(SIGNER))?.keys.length, 1)
})

test('R053: a key is found only for an algorithm of its type', async () => {
  const { cache } = world(ONE)
  assert.equal(await find(cache, 'one', SIGNER, 'ES384'), UNKNOWN)
  assert.equal(await find(cache, 'one', SIGNER, 'RS256'), UNKNOWN)
  assert.equal(await find(cache, 'one', SIGNER, 'EdDSA'), UNKNOWN)
})

test('a token without a kid gets a key only when exactly one fits its algorithm', async () => {
  const other = await newIdpKey('ed', 'EdDSA')
  assert.equal(await find(world(ONE, other).cache, undefined), ONE.jwk.x)
  assert.equal(await find(world(ONE, TWO).cache, undefined), SEVERAL)
  assert.equal(await find(world(other).cache, undefined), UNKNOWN)
})

test('a kid that two matching keys of a set share selects none', async () => {
  const twin = await newIdpKey('one')
  assert.equal(await find(world(ONE, twin).cache, 'one'), SEVERAL)
})

test('a kid is compared exactly', async () => {
  const { cache } = world(ONE)
  for (const kid of ['ONE', 'one ', '', 'on', '__proto__']) {
    assert.equal(await find(cache, kid), UNKNOWN, kid)
  }
})

test('another endpoint starts again, without a key of the old one', async () => {
  const { cache, idp } = world(ONE)
  await find(cache, 'one')
  idp.document = { keys: jwks(TWO) }
  const moved = externalSigner({ keys: { kind: 'jwks', jwksEndpoint: 'https://idp.example/new' } })
  assert.equal(await find(cache, 'one', moved), UNKNOWN)
  assert.equal(await find(cache, 'two', moved), TWO.jwk.x)
  assert.deepEqual(idp.asked, ['https://idp.example/jwks', 'https://idp.example/new'])
})

test('the status tells what is known and what went wrong', async () => {
  const { cache, idp, clock } = world(ONE)
  await find(cache, 'one')
  idp.isDown = true
  clock.pass(hours(1))
  await find(cache, 'one')
  const keys = [{ kid: 'one', algorithms: ['ES256'] }]
  const broken = { lastFetchedAt: NOON, lastError: 'it is down', keys }
  assert.deepEqual(await cache.status(SIGNER), broken)
  idp.isDown = false
  clock.pass(hours(1))
  await find(cache, 'one')
  const good = { lastFetchedAt: plus(NOON, hours(2)), lastError: undefined, keys }
  assert.deepEqual(await cache.status(SIGNER), good)
})

test('a deleted signer is forgotten, and starts again when it is back', async () => {
  const { cache, idp } = world(ONE)
  const other = externalSigner({ id: 'other' as ExternalJwtSignerId })
  await find(cache, 'one')
  await find(cache, 'one', other)
  cache.forgetOthers([other.id])
  assert.equal(await cache.status(SIGNER), undefined)
  assert.notEqual(await cache.status(other), undefined)
  await find(cache, 'one')
  assert.equal(idp.asked.length, 3)
})

test('R107: over the wire: keys rotate, are taken back, and outlive an outage', async (t) => {
  const idp = await ExternalIdp.start(t, ONE)
  const clock = new ManualClock()
  const fetchJson = createFetchJson({
    allowHttp: false,
    blockPrivateAddresses: false,
    allowed: [],
    denied: [],
  })
  const cache = createSignerKeys({ fetchJson, clock })
  const signer = externalSigner({ keys: { kind: 'jwks', jwksEndpoint: idp.jwksEndpoint } })
  assert.equal(await find(cache, 'one', signer), ONE.jwk.x)

  idp.keys = jwks(ONE, TWO)
  clock.pass(seconds(1))
  assert.equal(await find(cache, 'two', signer), TWO.jwk.x)

  idp.keys = jwks(TWO)
  clock.pass(minutes(10))
  assert.equal(await find(cache, 'one', signer), UNKNOWN)

  idp.isDown = true
  clock.pass(minutes(10))
  assert.equal(await find(cache, 'two', signer), TWO.jwk.x)
  assert.equal((await cache.status(signer))?.lastError, 'the answer has the status 503')
  assert.equal(idp.fetches, 4)
})

test('every fetch is reported with its outcome; a response that is not a key set has failed', async () => {
  const clock = new ManualClock()
  const outcomes: string[] = []
  const answers: unknown[] = [{ keys: jwks(ONE) }, 'no key set', new Error('it is down')]
  const cache = createSignerKeys({
    clock,
    fetchJson: async () => {
      const answer = answers.shift()
      if (answer instanceof Error) throw answer
      return answer
    },
    onFetch: (outcome) => outcomes.push(outcome),
  })
  for (const kid of ['one', 'unknown', 'unknown']) {
    await find(cache, kid)
    clock.pass(seconds(1))
  }
  assert.deepEqual(outcomes, ['succeeded', 'failed', 'failed'])
})
