/**
 * Making and using signing keys, on the real store in memory: instances that share it agree on who signs.
 * D-23. How keys look to the world is tested through the service.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { decodeProtectedHeader, importJWK, SignJWT } from 'jose'
import { systemRandom } from '../../../base/secrets/random.ts'
import { createVault, INSTALLATION_SECRET_BYTES } from '../../../base/secrets/vault.ts'
import type { Clock } from '../../../base/time/clock.ts'
import { type Duration, days, hours, milliseconds, minutes } from '../../../base/time/duration.ts'
import { instant, plus } from '../../../base/time/instant.ts'
import type { Issuer } from '../../../protocol/oidc.ts'
import { openStore } from '../../../store/open.ts'
import type { SigningKeyStore } from '../stores.ts'
import { PUBLISH_LEAD } from './key-schedule.ts'
import type { SigningAlgorithm, StoredSigningKey, TokenKind } from './signing-key.ts'
import { createSigningKeys, type SigningKeys } from './signing-keys.ts'

const NOON = instant(1_800_000_000_000)
const ISSUER = 'https://localhost:1280/oidc' as Issuer
const EXPECTED = { audience: 'service', issuers: [ISSUER] }

async function world(t: TestContext) {
  const store = await openStore({ kind: 'sqlite', path: ':memory:' })
  t.after(() => store.close())
  const secret = systemRandom.bytes(INSTALLATION_SECRET_BYTES)
  let now = NOON
  const clock: Clock = { now: () => now, uptime: () => minutes(0) }
  return {
    vault: createVault(secret, systemRandom),
    stored: store.signingKeys,
    now: () => now,
    pass: (time: Duration) => {
      now = plus(now, time)
    },
    instance: (
      given: {
        algorithm?: SigningAlgorithm
        idAlgorithm?: SigningAlgorithm
        tokenLife?: Duration
        secret?: Uint8Array
        store?: SigningKeyStore
        isWithdrawn?: (kid: string) => boolean
      } = {},
    ): SigningKeys =>
      createSigningKeys({
        store: given.store ?? store.signingKeys,
        vault: createVault(given.secret ?? secret, systemRandom),
        clock,
        algorithms: { access: given.algorithm ?? 'ES256', id: given.idAlgorithm ?? 'ES256' },
        rotation: days(90),
        tokenLife: given.tokenLife ?? minutes(30),
        ...(given.isWithdrawn === undefined ? {} : { isWithdrawn: given.isWithdrawn }),
      }),
  }
}

const claims = (now: number) => {
  const iat = Math.floor(now / 1_000)
  return { iss: ISSUER, aud: ['service'], sub: 'somebody', iat, exp: iat + 1_800 }
}

async function signedBy(
  keys: SigningKeys,
  now: number,
  kind: TokenKind = 'access',
): Promise<string | undefined> {
  return decodeProtectedHeader(await keys.sign(kind, () => claims(now))).kid
}

/** The keys for access tokens: those for ID tokens follow the same rules. */
const accessKeys = (keys: readonly StoredSigningKey[]) =>
  keys.filter(({ purpose }) => purpose === 'access')

test('D-23: of instances that start at the same moment one makes the keys, and all sign with them', async (t) => {
  const { instance, stored, now } = await world(t)
  const all = [instance(), instance(), instance()]
  const made = await Promise.all(all.map((keys) => keys.rotateIfDue()))
  assert.equal(made.filter((keys) => keys.length > 0).length, 1)
  const [access, id, ...others] = await stored.list()
  assert.deepEqual(others, [])
  assert.ok(access && id)
  assert.deepEqual([access.purpose, id.purpose], ['access', 'id'])
  for (const [kind, { kid }] of [
    ['access', access],
    ['id', id],
  ] as const) {
    const kids = await Promise.all(all.map((keys) => signedBy(keys, now(), kind)))
    assert.deepEqual(kids, [kid, kid, kid])
  }
})

test('D-23: an instance that found rotation due makes no second key when another was faster', async (t) => {
  const { instance, stored } = await world(t)
  const fast = instance()
  // The other instance comes in after every read of the keys, as close to the insert as it can.
  const raced: SigningKeyStore = {
    ...stored,
    async list() {
      const found = await stored.list()
      await fast.rotateIfDue()
      return found
    },
  }
  assert.deepEqual(await instance({ store: raced }).rotateIfDue(), [])
  assert.equal((await stored.list()).length, 2)
})

test('D-23: a key that another instance made is taken up by a refresh', async (t) => {
  const { instance, now, pass } = await world(t)
  const [one, other] = [instance(), instance()]
  const [first] = await one.rotateIfDue()
  await other.rotateIfDue()
  const second = (await one.rotate())?.access
  assert.ok(first && second)
  assert.equal(second.activeFrom, plus(now(), PUBLISH_LEAD))
  await other.refresh()
  const published = other.keySet(['access']).keys.map(({ kid }) => kid)
  assert.deepEqual(published, [first.kid, second.kid])
  assert.equal(await signedBy(other, now()), first.kid)
  pass(PUBLISH_LEAD)
  assert.equal(await signedBy(other, now()), second.kid)
})

test('D-23: nothing is made while the newest key is young and of the wanted algorithm', async (t) => {
  const { instance, stored, pass } = await world(t)
  const keys = instance()
  await keys.rotateIfDue()
  pass(days(89))
  assert.deepEqual(await keys.rotateIfDue(), [])
  pass(days(1))
  assert.equal((await keys.rotateIfDue()).length, 2)
  assert.deepEqual(await keys.rotateIfDue(), [])
  assert.equal((await stored.list()).length, 4)
})

test('D-23: another configured algorithm makes a new key, and both are listed until the old one is gone', async (t) => {
  const { instance, now, pass } = await world(t)
  await instance({ algorithm: 'ES256' }).rotateIfDue()
  const changed = instance({ algorithm: 'EdDSA' })
  assert.deepEqual(
    (await changed.rotateIfDue()).map(({ purpose, algorithm }) => [purpose, algorithm]),
    [['access', 'EdDSA']],
    'the key for ID tokens has the configured algorithm already',
  )
  assert.deepEqual(await changed.rotateIfDue(), [])
  assert.deepEqual(changed.algorithms('access'), ['ES256', 'EdDSA'])
  assert.deepEqual(changed.algorithms('id'), ['ES256'])
  const algorithmOf = async () =>
    decodeProtectedHeader(await changed.sign('access', () => claims(now()))).alg
  assert.equal(await algorithmOf(), 'ES256')
  pass(PUBLISH_LEAD)
  assert.equal(await algorithmOf(), 'EdDSA')
  pass(minutes(30))
  assert.deepEqual(changed.algorithms('access'), ['EdDSA'])
})

test('D-23: instances with different algorithms make no more than one key in the time of the lead', async (t) => {
  const { instance, stored, pass } = await world(t)
  const [old, changed] = [instance({ algorithm: 'ES256' }), instance({ algorithm: 'EdDSA' })]
  await old.rotateIfDue()
  for (let minute = 0; minute < 9; minute++) {
    await changed.rotateIfDue()
    await old.rotateIfDue()
    pass(minutes(1))
  }
  assert.deepEqual(
    accessKeys(await stored.list()).map(({ algorithm }) => algorithm),
    ['ES256', 'EdDSA'],
  )
})

test('R061: a longer configured life keeps keys that sign such tokens published for it', async (t) => {
  const { instance, pass } = await world(t)
  await instance({ tokenLife: minutes(30) }).rotateIfDue()
  const longer = instance({ tokenLife: hours(8) })
  await longer.rotateIfDue()
  await longer.rotate()
  pass(PUBLISH_LEAD)
  pass(hours(7))
  assert.equal(longer.keySet(['access']).keys.length, 2)
  pass(hours(1))
  assert.equal(longer.keySet(['access']).keys.length, 1)
})

test('R061: a shorter configured life takes no key away from tokens that live longer', async (t) => {
  const { instance, pass } = await world(t)
  await instance({ tokenLife: hours(8) }).rotateIfDue()
  const shorter = instance({ tokenLife: minutes(1) })
  await shorter.rotateIfDue()
  await shorter.rotate()
  pass(PUBLISH_LEAD)
  pass(hours(7))
  assert.equal(shorter.keySet(['access']).keys.length, 2)
})

test('R062: a token of a retired key is good until it expires, and its key is then removed from the store', async (t) => {
  const { instance, stored, now, pass } = await world(t)
  const keys = instance()
  const [old] = await keys.rotateIfDue()
  await keys.rotate()
  assert.ok(old)
  pass(milliseconds(PUBLISH_LEAD - 1))
  const token = await keys.sign('access', () => claims(now()))
  assert.equal(decodeProtectedHeader(token).kid, old.kid)
  pass(minutes(29))
  assert.equal((await keys.verify('access', token, EXPECTED)).outcome, 'good')
  assert.equal(await keys.removeGone(now()), 0)
  pass(minutes(1))
  assert.equal((await keys.verify('access', token, EXPECTED)).outcome, 'expired')
  pass(milliseconds(1))
  assert.equal(await keys.removeGone(now()), 2)
  assert.equal(
    (await stored.list()).some(({ kid }) => kid === old.kid),
    false,
  )
})

test('R062: a token of a retired key turns invalid when the key is gone', async (t) => {
  const { instance, now, pass } = await world(t)
  const keys = instance()
  await keys.rotateIfDue()
  const forEver = { ...claims(now()), exp: claims(now()).exp + 10 * 365 * 86_400 }
  const token = await keys.sign('access', () => forEver)
  await keys.rotate()
  pass(PUBLISH_LEAD)
  pass(minutes(29))
  assert.equal((await keys.verify('access', token, EXPECTED)).outcome, 'good')
  pass(minutes(1))
  assert.equal((await keys.verify('access', token, EXPECTED)).outcome, 'invalid')
})

test('R110: a private key does not open with another installation secret', async (t) => {
  const { instance, now } = await world(t)
  await instance().rotateIfDue()
  const thief = instance({ secret: systemRandom.bytes(INSTALLATION_SECRET_BYTES) })
  await thief.refresh()
  await assert.rejects(
    () => thief.sign('access', () => claims(now())),
    /does not open with this installation secret/,
  )
})

test('R110: the stored private key is encrypted, and bound to its kid', async (t) => {
  const { instance, stored, vault } = await world(t)
  await instance().rotate()
  const [key] = await stored.list()
  assert.ok(key)
  assert.doesNotMatch(Buffer.from(key.sealedPrivateJwk, 'base64url').toString('latin1'), /"d"|kty/)
  assert.notEqual(vault.open('signing-key', key.sealedPrivateJwk, key.kid), undefined)
  assert.equal(vault.open('signing-key', key.sealedPrivateJwk, 'another kid'), undefined)
})

test('nothing is signed before there is a key', async (t) => {
  const { instance, now } = await world(t)
  for (const kind of ['access', 'id'] as const) {
    const signed = instance().sign(kind, () => claims(now()))
    await assert.rejects(signed, new RegExp(`there is no key that signs ${kind} tokens`))
  }
})

test('a key is usable when it is there and opens with the installation secret', async (t) => {
  const { instance } = await world(t)
  const ours = instance()
  assert.equal(await ours.isUsable(), false)
  await ours.rotateIfDue()
  assert.equal(await ours.isUsable(), true)
  const thief = instance({ secret: systemRandom.bytes(INSTALLATION_SECRET_BYTES) })
  await thief.refresh()
  assert.equal(await thief.isUsable(), false)
})

test('D-135: an instance that has heard of a withdrawal, and not of the next key, does not sign with the withdrawn one', async (t) => {
  const { instance, stored, now } = await world(t)
  const withdrawn = new Set<string>()
  const other = instance()
  const [first] = await other.rotateIfDue()
  assert.ok(first)
  const keys = instance({ isWithdrawn: (kid) => withdrawn.has(kid) })
  await keys.refresh()
  assert.equal(await signedBy(keys, now()), first.kid)

  const next = await other.rotateAtOnce(async (made) => {
    await stored.remove(first.kid)
    for (const key of made) await stored.insert(key)
    return true
  })
  assert.ok(next)
  withdrawn.add(first.kid)
  assert.equal(await signedBy(keys, now()), next.access.kid)
})

test('D-320, R053: a key for one kind of token verifies no token of the other, whatever its header says', async (t) => {
  // Attack: an attacker has the key for ID tokens, and signs access tokens with it; or the other way round.
  const { instance, stored, vault, now } = await world(t)
  const keys = instance({ idAlgorithm: 'RS256' })
  await keys.rotateIfDue()
  for (const [stolen, kind, typ] of [
    ['id', 'access', 'at+jwt'],
    ['access', 'id', 'JWT'],
  ] as const) {
    const key = (await stored.list()).find(({ purpose }) => purpose === stolen)
    assert.ok(key)
    const opened = vault.open('signing-key', key.sealedPrivateJwk, key.kid)
    const privateJwk = JSON.parse(Buffer.from(opened ?? []).toString())
    const header = { alg: key.algorithm, kid: key.kid, typ }
    const forged = await new SignJWT(claims(now()))
      .setProtectedHeader(header)
      .sign(await importJWK(privateJwk, key.algorithm))
    assert.equal((await keys.verify(kind, forged, EXPECTED)).outcome, 'invalid')
    const own = await keys.sign(kind, () => claims(now()))
    assert.equal((await keys.verify(kind, own, EXPECTED)).outcome, 'good')
    assert.equal((await keys.verify(stolen, own, EXPECTED)).outcome, 'invalid')
  }
})

test('D-320: a key from before goes on with both kinds until the next one of each signs', async (t) => {
  const { instance, stored, now, pass } = await world(t)
  await instance().rotateIfDue()
  const [first, second] = await stored.list()
  assert.ok(first && second)
  await stored.remove(first.kid)
  await stored.remove(second.kid)
  await stored.insert({ ...first, purpose: 'any' })
  const keys = instance({ idAlgorithm: 'RS256' })
  const made = await keys.rotateIfDue()
  assert.deepEqual(
    made.map(({ purpose, algorithm }) => [purpose, algorithm]),
    [['id', 'RS256']],
  )
  const early = await keys.sign('id', () => claims(now()))
  assert.equal(decodeProtectedHeader(early).kid, first.kid)
  assert.deepEqual(keys.algorithms('id'), ['ES256', 'RS256'])
  pass(PUBLISH_LEAD)
  assert.equal(await signedBy(keys, now(), 'id'), made[0]?.kid)
  assert.equal(await signedBy(keys, now(), 'access'), first.kid)
  assert.equal((await keys.verify('id', early, EXPECTED)).outcome, 'good')
})
