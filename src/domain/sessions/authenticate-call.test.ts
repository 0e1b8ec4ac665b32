/**
 * Which answer a credential gets: D-34, D-35, D-36, with real keys and a copy of ended sessions that a test can
 * age. Everything about forged tokens is tested through the service.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { days, minutes } from '../../base/duration.ts'
import type { ApiSessionId } from '../../base/ids.ts'
import { epochSeconds, instant } from '../../base/instant.ts'
import { systemRandom } from '../../base/random.ts'
import { Secret } from '../../base/secret.ts'
import { createVault, INSTALLATION_SECRET_BYTES } from '../../base/vault.ts'
import { Failure } from '../../errors/catalogue.ts'
import type { Issuer } from '../../protocol/oidc.ts'
import type { StoredSigningKey } from '../tokens/signing-key.ts'
import { createSigningKeys } from '../tokens/signing-keys.ts'
import { type CallCredentials, createAuthenticateCall } from './authenticate-call.ts'

const NOON = instant(1_800_000_000_000)
const ISSUER = 'https://localhost:1280/oidc' as Issuer

const CLAIMS = {
  iss: ISSUER,
  sub: 'identity-1',
  aud: ['service'],
  iat: epochSeconds(NOON),
  exp: epochSeconds(NOON) + 1_800,
  z_asid: 'session-1',
  z_ia: false,
  z_ct: [],
  z_t: 'a',
  z_ice: false,
  z_ap: 'default',
}

async function world(copy: { readonly isStale?: boolean; readonly ended?: string } = {}) {
  const stored: StoredSigningKey[] = []
  const signingKeys = createSigningKeys({
    store: {
      list: async () => stored,
      insert: async (key) => stored.push(key) > 0,
      raiseTokenLife: async () => {},
      remove: async () => false,
    },
    vault: createVault(systemRandom.bytes(INSTALLATION_SECRET_BYTES), systemRandom),
    clock: { now: () => NOON, uptime: () => minutes(0) },
    algorithm: 'ES256',
    rotation: days(90),
    tokenLife: minutes(30),
  })
  await signingKeys.rotate()
  const authenticate = createAuthenticateCall({
    brand: 'service',
    issuers: () => [ISSUER],
    signingKeys,
    endedSessions: {
      has: (id: ApiSessionId) => id === copy.ended,
      isStale: () => copy.isStale ?? false,
    },
  })
  return {
    async token(changes: Readonly<Record<string, unknown>> = {}) {
      return new Secret((await signingKeys.sign('at+jwt', { ...CLAIMS, ...changes })).token)
    },
    call: (given: Partial<CallCredentials>) =>
      authenticate({ bearers: [], ztSession: undefined, ...given }),
  }
}

const word = async (call: Promise<unknown>): Promise<string> => {
  const failure = await call.then(
    () => assert.fail('the call is refused'),
    (error: unknown) => error,
  )
  assert.ok(failure instanceof Failure)
  const words = failure.challenges?.map(({ scheme, error }) => `${scheme} ${error}`) ?? []
  return [failure.code, ...words].join(', ')
}

test('D-35: a good token names its session', async () => {
  const { token, call } = await world()
  const session = await call({ bearers: [await token()] })
  assert.equal(session.sessionId, 'session-1')
  assert.equal(session.expiresAt, 1_800_001_800_000)
})

test('D-34: a good token is refused with NOT_READY while the copy of ended sessions is stale', async () => {
  const { token, call } = await world({ isStale: true })
  const bearers = [await token()]
  await assert.rejects(
    () => call({ bearers }),
    (error) =>
      error instanceof Failure && error.code === 'NOT_READY' && error.retryAfterSeconds === 1,
  )
})

test('D-34: a bad token is refused as such also while the copy is stale', async () => {
  const { token, call } = await world({ isStale: true })
  const missing = 'UNAUTHORIZED, zt-session missing, Bearer missing'
  assert.equal(await word(call({})), missing)
  const expired = await token({ exp: epochSeconds(NOON) })
  assert.equal(await word(call({ bearers: [expired] })), 'UNAUTHORIZED, Bearer expired')
})

test('D-35: the token of an ended session is invalid', async () => {
  const { token, call } = await world({ ended: 'session-1' })
  assert.equal(await word(call({ bearers: [await token()] })), 'UNAUTHORIZED, Bearer invalid')
  const other = await call({ bearers: [await token({ z_asid: 'session-2' })] })
  assert.equal(other.sessionId, 'session-2')
})

test('D-35: a token of ours is found among those of others, and two of ours are one too many', async () => {
  const { token, call } = await world()
  const ours = await token()
  const theirs = await token({ iss: 'https://idp.example/' })
  assert.equal((await call({ bearers: [theirs, ours] })).sessionId, 'session-1')
  assert.equal((await call({ bearers: [ours, theirs, theirs] })).sessionId, 'session-1')
  assert.equal(await word(call({ bearers: [ours, ours] })), 'UNAUTHORIZED, Bearer invalid')
})

test('D-14: more than three bearer tokens are refused', async () => {
  const { token, call } = await world()
  const theirs = await token({ iss: 'https://idp.example/' })
  const bearers = [await token(), theirs, theirs, theirs]
  assert.equal(await word(call({ bearers })), 'UNAUTHORIZED, Bearer invalid')
})

test('R065: a text that is no JWT is called invalid, and never missing, also beside a JWT of others', async () => {
  const { token, call } = await world()
  const junk = new Secret('junk')
  const theirs = await token({ iss: 'https://idp.example/' })
  const missing = 'UNAUTHORIZED, zt-session missing, Bearer missing'
  assert.equal(await word(call({ bearers: [theirs] })), missing)
  assert.equal(await word(call({ bearers: [theirs, junk] })), 'UNAUTHORIZED, Bearer invalid')
  assert.equal(await word(call({ bearers: [new Secret('')] })), 'UNAUTHORIZED, Bearer invalid')
})

test('D-36: beside a zt-session a good bearer token is no credential', async () => {
  const { token, call } = await world()
  const ztSession = new Secret('unknown')
  assert.equal(
    await word(call({ bearers: [await token()], ztSession })),
    'UNAUTHORIZED, zt-session invalid',
  )
})
