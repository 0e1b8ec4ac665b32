import assert from 'node:assert/strict'
import { createHash, createHmac } from 'node:crypto'
import { test } from 'node:test'
import { ManualClock, NOON } from '../../test/support/clocks/manual-clock.ts'
import { type IdpKey, newIdpKey, signJwt } from '../../test/support/idp/external-idp.ts'
import { jwtPart } from '../../test/support/jwt-part.ts'
import { minutes, seconds } from '../base/time/duration.ts'
import { epochSeconds } from '../base/time/instant.ts'
import { UnexpectedAnswer } from './errors.ts'
import { createIdTokens, type ExpectedIdToken } from './id-token.ts'

const ISSUER = 'https://server.example/oidc'
const ACCESS_TOKEN = 'the.access.token'
const EXPECTED: ExpectedIdToken = { accessToken: ACCESS_TOKEN, nonce: 'a-nonce', before: undefined }

/** A server with these keys, and how often they were asked for. */
function serverWith(...published: readonly IdpKey[]) {
  const clock = new ManualClock()
  let keys: readonly object[] = published.map(({ jwk }) => jwk)
  let fetches = 0
  const idTokens = createIdTokens({
    wire: {
      async send() {
        fetches += 1
        return { status: 200, headers: new Headers(), body: Buffer.from(JSON.stringify({ keys })) }
      },
    },
    provider: { issuer: ISSUER, keys: new URL(`${ISSUER}/keys`) },
    clientId: 'service',
    clock,
  })
  return {
    ...idTokens,
    clock,
    fetches: () => fetches,
    publish: (...more: readonly object[]) => {
      keys = more
    },
  }
}

function hashOf(accessToken: string, hash = 'sha256'): string {
  const digest = createHash(hash).update(accessToken).digest()
  return digest.subarray(0, digest.length / 2).toString('base64url')
}

const claims = (changes: object = {}) => {
  const iat = epochSeconds(NOON)
  const usual = { iss: ISSUER, aud: 'service', azp: 'service', sub: 'alice', sid: 'session-1' }
  const all = { ...usual, iat, exp: iat + 600, nonce: 'a-nonce', at_hash: hashOf(ACCESS_TOKEN) }
  return Object.fromEntries(
    Object.entries({ ...all, ...changes }).filter(([, value]) => value !== undefined),
  )
}

test('a good ID token is read, and the keys are fetched once', async () => {
  const key = await newIdpKey('key-1')
  const server = serverWith(key)
  for (let i = 0; i < 3; i++) {
    const read = await server.verify(await signJwt(key, claims()), EXPECTED)
    assert.deepEqual([read.sub, read.sid], ['alice', 'session-1'])
  }
  assert.equal(server.fetches(), 1)
})

test('EdDSA takes the half of SHA-512 for its at_hash', async () => {
  const key = await newIdpKey('key-1', 'EdDSA')
  const { verify } = serverWith(key)
  const good = claims({ at_hash: hashOf(ACCESS_TOKEN, 'sha512') })
  assert.equal((await verify(await signJwt(key, good), EXPECTED)).sub, 'alice')
  await assert.rejects(verify(await signJwt(key, claims()), EXPECTED), UnexpectedAnswer)
})

const WRONG: Readonly<Record<string, object>> = {
  'another issuer': { iss: 'https://evil.example/oidc' },
  'issuers in a list': { iss: [ISSUER] },
  'another audience': { aud: 'somebody' },
  'several audiences without azp': { aud: ['service', 'somebody'], azp: undefined },
  'another azp': { azp: 'somebody' },
  'no subject': { sub: undefined },
  'an empty subject': { sub: '' },
  'no session': { sid: undefined },
  'a session that is not text': { sid: 7 },
  'no expiry': { exp: undefined },
  'another nonce': { nonce: 'another' },
  'no nonce': { nonce: undefined },
  'the hash of another access token': { at_hash: hashOf('another') },
  'no hash': { at_hash: undefined },
}
for (const [what, change] of Object.entries(WRONG)) {
  test(`R057: an ID token with ${what} is not believed`, async () => {
    const key = await newIdpKey('key-1')
    const { verify } = serverWith(key)
    await assert.rejects(verify(await signJwt(key, claims(change)), EXPECTED), UnexpectedAnswer)
  })
}

test('R056: an expired ID token is not believed, a minute of another clock aside', async () => {
  const key = await newIdpKey('key-1')
  const { verify, clock } = serverWith(key)
  const token = await signJwt(key, claims())
  clock.pass(minutes(10))
  clock.pass(seconds(59))
  assert.equal((await verify(token, EXPECTED)).sub, 'alice')
  clock.pass(seconds(2))
  await assert.rejects(verify(token, EXPECTED), /clock of this machine/)
})

test('a key that is not known is looked for once, which is how keys rotate', async () => {
  const [first, second] = [await newIdpKey('key-1'), await newIdpKey('key-2')]
  const server = serverWith(first)
  await server.verify(await signJwt(first, claims()), EXPECTED)
  let hasKept = false
  const beforeFetch = async () => {
    hasKept = true
    assert.equal(server.fetches(), 1)
    server.publish(first.jwk, second.jwk)
  }
  await server.verify(await signJwt(second, claims()), { ...EXPECTED, beforeFetch })
  assert.equal(hasKept, true)
  assert.equal(server.fetches(), 2)
  const unknown = await newIdpKey('key-3')
  await assert.rejects(server.verify(await signJwt(unknown, claims()), EXPECTED), UnexpectedAnswer)
  assert.equal(server.fetches(), 3)
})

test('R053: each key serves its own algorithm, and no symmetric one', async () => {
  // Attack: the public key, which any caller knows, as the secret of an HMAC; or no signature at all.
  const key = await newIdpKey('key-1')
  const { verify } = serverWith(key)
  const forge = (alg: string) => `${jwtPart({ alg, kid: 'key-1' })}.${jwtPart(claims())}`
  const secret = JSON.stringify(key.jwk)
  const mac = createHmac('sha256', secret).update(forge('HS256')).digest('base64url')
  for (const token of [
    `${forge('HS256')}.${mac}`,
    `${forge('none')}.`,
    `${forge('ES256')}.${mac}`,
  ]) {
    await assert.rejects(verify(token, EXPECTED), UnexpectedAnswer)
  }
  const impostor = await newIdpKey('key-1')
  await assert.rejects(verify(await signJwt(impostor, claims()), EXPECTED), UnexpectedAnswer)
})

test('the ID token of a refresh needs no nonce, and the same subject and session', async () => {
  const key = await newIdpKey('key-1')
  const { verify } = serverWith(key)
  const before = { sub: 'alice', sid: 'session-1' }
  const refreshed = { ...EXPECTED, nonce: undefined, before }
  const token = (changes: object) => signJwt(key, claims({ nonce: undefined, ...changes }))
  assert.equal((await verify(await token({}), refreshed)).sub, 'alice')
  for (const change of [{ sub: 'mallory' }, { sid: 'session-2' }]) {
    await assert.rejects(verify(await token(change), refreshed), UnexpectedAnswer)
  }
})
