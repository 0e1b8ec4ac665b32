/**
 * Making and using signing keys, on the real store in memory: instances that share it agree on who signs.
 * D-23. How keys look to the world is tested through the service.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { decodeProtectedHeader } from 'jose'
import { systemRandom } from '../../../base/secrets/random.ts'
import { createVault, INSTALLATION_SECRET_BYTES } from '../../../base/secrets/vault.ts'
import type { Clock } from '../../../base/time/clock.ts'
import { type Duration, days, hours, milliseconds, minutes } from '../../../base/time/duration.ts'
import { instant, plus } from '../../../base/time/instant.ts'
import type { Issuer } from '../../../protocol/oidc.ts'
import { openStore } from '../../../store/open.ts'
import type { SigningKeyStore } from '../stores.ts'
import { PUBLISH_LEAD } from './key-schedule.ts'
import type { SigningAlgorithm } from './signing-key.ts'
import { createSigningKeys, type SigningKeys } from './signing-keys.ts'

const NOON = instant(1_800_000_000_000)
const ISSUER = 'https://localhost:1280/oidc' as Issuer
const EXPECTED = { typ: 'at+jwt', audience: 'service', issuers: [ISSUER] }

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
        algorithm: given.algorithm ?? 'ES256',
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

async function signedBy(keys: SigningKeys, now: number): Promise<string | undefined> {
  const { token } = await keys.sign('at+jwt', claims(now))
  return decodeProtectedHeader(token).kid
}

test('D-23: of instances that start at the same moment one makes the key, and all sign with it', async (t) => {
  const { instance, stored, now } = await world(t)
  const all = [instance(), instance(), instance()]
  const made = await Promise.all(all.map((keys) => keys.rotateIfDue()))
  assert.equal(made.filter((key) => key !== undefined).length, 1)
  const [key, ...others] = await stored.list()
  assert.deepEqual(others, [])
  assert.ok(key)
  const kids = await Promise.all(all.map((keys) => signedBy(keys, now())))
  assert.deepEqual(kids, [key.kid, key.kid, key.kid])
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
  assert.equal(await instance({ store: raced }).rotateIfDue(), undefined)
  assert.equal((await stored.list()).length, 1)
})

test('D-23: a key that another instance made is taken up by a refresh', async (t) => {
  const { instance, now, pass } = await world(t)
  const [one, other] = [instance(), instance()]
  const first = await one.rotateIfDue()
  await other.rotateIfDue()
  const second = await one.rotate()
  assert.ok(first && second)
  assert.equal(second.activeFrom, plus(now(), PUBLISH_LEAD))
  await other.refresh()
  const published = other.keySet().keys.map(({ kid }) => kid)
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
  assert.equal(await keys.rotateIfDue(), undefined)
  pass(days(1))
  assert.notEqual(await keys.rotateIfDue(), undefined)
  assert.equal(await keys.rotateIfDue(), undefined)
  assert.equal((await stored.list()).length, 2)
})

test('D-23: another configured algorithm makes a new key, and both are listed until the old one is gone', async (t) => {
  const { instance, now, pass } = await world(t)
  await instance({ algorithm: 'ES256' }).rotateIfDue()
  const changed = instance({ algorithm: 'EdDSA' })
  assert.equal((await changed.rotateIfDue())?.algorithm, 'EdDSA')
  assert.equal(await changed.rotateIfDue(), undefined)
  assert.deepEqual(changed.algorithms(), ['ES256', 'EdDSA'])
  const early = await changed.sign('at+jwt', claims(now()))
  assert.equal(early.algorithm, 'ES256')
  pass(PUBLISH_LEAD)
  const late = await changed.sign('at+jwt', claims(now()))
  assert.equal(late.algorithm, 'EdDSA')
  pass(minutes(30))
  assert.deepEqual(changed.algorithms(), ['EdDSA'])
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
    (await stored.list()).map(({ algorithm }) => algorithm),
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
  assert.equal(longer.keySet().keys.length, 2)
  pass(hours(1))
  assert.equal(longer.keySet().keys.length, 1)
})

test('R061: a shorter configured life takes no key away from tokens that live longer', async (t) => {
  const { instance, pass } = await world(t)
  await instance({ tokenLife: hours(8) }).rotateIfDue()
  const shorter = instance({ tokenLife: minutes(1) })
  await shorter.rotateIfDue()
  await shorter.rotate()
  pass(PUBLISH_LEAD)
  pass(hours(7))
  assert.equal(shorter.keySet().keys.length, 2)
})

test('R062: a token of a retired key is good until it expires, and its key is then removed from the store', async (t) => {
  const { instance, stored, now, pass } = await world(t)
  const keys = instance()
  const old = await keys.rotateIfDue()
  await keys.rotate()
  assert.ok(old)
  pass(milliseconds(PUBLISH_LEAD - 1))
  const { token } = await keys.sign('at+jwt', claims(now()))
  assert.equal(decodeProtectedHeader(token).kid, old.kid)
  pass(minutes(29))
  assert.equal((await keys.verify(token, EXPECTED)).outcome, 'good')
  assert.equal(await keys.removeGone(now()), 0)
  pass(minutes(1))
  assert.equal((await keys.verify(token, EXPECTED)).outcome, 'expired')
  pass(milliseconds(1))
  assert.equal(await keys.removeGone(now()), 1)
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
  const { token } = await keys.sign('at+jwt', forEver)
  await keys.rotate()
  pass(PUBLISH_LEAD)
  pass(minutes(29))
  assert.equal((await keys.verify(token, EXPECTED)).outcome, 'good')
  pass(minutes(1))
  assert.equal((await keys.verify(token, EXPECTED)).outcome, 'invalid')
})

test('R110: a private key does not open with another installation secret', async (t) => {
  const { instance, now } = await world(t)
  await instance().rotateIfDue()
  const thief = instance({ secret: systemRandom.bytes(INSTALLATION_SECRET_BYTES) })
  await thief.refresh()
  await assert.rejects(
    () => thief.sign('at+jwt', claims(now())),
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
  await assert.rejects(() => instance().sign('at+jwt', claims(now())), /there is no signing key/)
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
  const first = await other.rotateIfDue()
  assert.ok(first)
  const keys = instance({ isWithdrawn: (kid) => withdrawn.has(kid) })
  await keys.refresh()
  assert.equal(await signedBy(keys, now()), first.kid)

  const next = await other.rotateAtOnce(async (key) => {
    await stored.remove(first.kid)
    return stored.insert(key)
  })
  assert.ok(next)
  withdrawn.add(first.kid)
  assert.equal(await signedBy(keys, now()), next.kid)
})
