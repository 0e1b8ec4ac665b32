/**
 * A token is verified once (D-279), and everything that can change is still checked at every call: its key, its time,
 * its issuer, its session and its policy. Each test first makes a call that is accepted, so that the token is known.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock, NOON } from '../../../test/support/clocks/manual-clock.ts'
import { fakePorts } from '../../../test/support/fake-ports.ts'
import { aPolicy, refusalOf, rulesOf } from '../../../test/support/people.ts'
import { systemRandom } from '../../base/secrets/random.ts'
import { Secret } from '../../base/secrets/secret.ts'
import { createVault, INSTALLATION_SECRET_BYTES } from '../../base/secrets/vault.ts'
import { days, minutes, seconds } from '../../base/time/duration.ts'
import { epochSeconds } from '../../base/time/instant.ts'
import type { Issuer } from '../../protocol/oidc.ts'
import type { AuthPolicy } from '../policies/auth-policy.ts'
import type { StoredSigningKey } from '../tokens/keys/signing-key.ts'
import { createSigningKeys, type SigningKeys } from '../tokens/keys/signing-keys.ts'
import { createVerifiedTokens } from '../tokens/keys/verified-tokens.ts'
import { authenticateCall } from './authenticate-call.ts'
import type { CallPorts } from './ports.ts'

const ISSUER = 'https://localhost:1280/oidc' as Issuer

async function world(most?: number) {
  const clock = new ManualClock()
  const stored: StoredSigningKey[] = []
  const withdrawn = new Set<string>()
  const ended = new Set<string>()
  const state = { issuers: [ISSUER], policies: [aPolicy()] as AuthPolicy[], isStale: false }
  const signingKeys = createSigningKeys({
    store: {
      list: async () => stored,
      insert: async (key) => stored.push(key) > 0,
      raiseTokenLife: async () => {},
      remove: async () => false,
    },
    vault: createVault(systemRandom.bytes(INSTALLATION_SECRET_BYTES), systemRandom),
    clock,
    algorithms: { access: 'ES256', id: 'ES256' },
    rotation: days(90),
    tokenLife: minutes(30),
    isWithdrawn: (kid) => withdrawn.has(kid),
  })
  await signingKeys.rotate()
  let verifications = 0
  const verify: SigningKeys['verify'] = (kind, token, options) => {
    verifications += 1
    return signingKeys.verify(kind, token, options)
  }
  const ports = fakePorts<CallPorts>({
    brand: 'service',
    clock,
    issuers: () => state.issuers,
    signingKeys: { verify, isPublished: signingKeys.isPublished },
    verifiedTokens: createVerifiedTokens(most),
    endedSessions: { has: (subject) => ended.has(subject), isStale: () => state.isStale },
    rules: {
      policy: (id) => rulesOf({ policies: state.policies }).policy(id),
      demands: (id) => rulesOf({ policies: state.policies }).demands(id),
      isStale: () => false,
    },
  })
  const sign = async (changes: Readonly<Record<string, unknown>> = {}) => {
    const iat = epochSeconds(clock.now())
    const claims = {
      iss: ISSUER,
      sub: 'identity-1',
      aud: ['service'],
      iat,
      exp: iat + 1_800,
      z_asid: 'session-1',
      z_ia: false,
      z_ct: [],
      z_t: 'a',
      z_ap: 'policy-1',
      jti: 'token-1',
      client_id: 'service',
      auth_time: 1_800_000_000,
      scope: 'openid',
      amr: ['pwd'],
      ...changes,
    }
    return signingKeys.sign('access', () => claims)
  }
  const call = (...tokens: string[]) => {
    const bearers = tokens.map((token) => new Secret(token))
    const certificate = () => undefined
    return authenticateCall(ports, { bearers, ztSession: undefined, certificate }, 'full')
  }
  return {
    clock,
    stored,
    withdrawn,
    ended,
    state,
    signingKeys,
    sign,
    call,
    verifications: () => verifications,
    /** The word of the challenge. */
    refusal: async (...tokens: string[]) => {
      const { code, challenges } = await refusalOf(call(...tokens))
      return [code, ...(challenges ?? []).map(({ error }) => error)].join(' ')
    },
  }
}

test('verifies the signature of a token once, however many calls it makes', async () => {
  const { sign, call, verifications } = await world()
  const token = await sign()
  const first = await call(token)
  for (let i = 0; i < 5; i++) assert.deepEqual(await call(token), first)
  assert.equal(verifications(), 1)
  await call(await sign({ jti: 'token-2' }))
  assert.equal(verifications(), 2)
})

test('rejects a tampered token whose beginning is that of a known one', async () => {
  const { sign, call, refusal, verifications } = await world()
  const token = await sign()
  await call(token)
  const [header = '', claims = '', signature = ''] = token.split('.')
  const admin = { ...JSON.parse(Buffer.from(claims, 'base64url').toString()), z_ia: true }
  const forged = Buffer.from(JSON.stringify(admin)).toString('base64url')
  const flipped = `${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`
  for (const attack of [
    `${header}.${forged}.${signature}`,
    `${header}.${claims}.${flipped}`,
    `${header}.${claims}.`,
    `${token}A`,
    token.slice(0, -1),
  ]) {
    assert.equal(await refusal(attack), 'UNAUTHORIZED invalid')
  }
  assert.ok(verifications() > 1)
  await call(token)
})

test('rejects a known token from the moment it expires', async () => {
  const { clock, sign, call, refusal } = await world()
  const token = await sign()
  clock.pass(seconds(1_799))
  await call(token)
  clock.pass(seconds(1))
  assert.equal(await refusal(token), 'UNAUTHORIZED expired')
})

test('D-135: rejects a known token whose key is withdrawn, even before the key is gone from the copy', async () => {
  const { stored, withdrawn, signingKeys, sign, call, refusal } = await world()
  const token = await sign()
  await call(token)
  const [key] = stored
  assert.ok(key)
  withdrawn.add(key.kid)
  assert.equal(await refusal(token), 'UNAUTHORIZED invalid')
  withdrawn.clear()
  await call(token)
  // Another instance removed the key.
  stored.splice(0)
  await signingKeys.refresh()
  assert.equal(await refusal(token), 'UNAUTHORIZED invalid')
})

test('rejects a known token whose session has ended, or that was revoked itself', async () => {
  for (const subject of ['session-1', 'token-1']) {
    const { ended, sign, call, refusal } = await world()
    const token = await sign()
    await call(token)
    ended.add(subject)
    assert.equal(await refusal(token), 'UNAUTHORIZED invalid')
  }
})

test('rejects a known token while the copy of ended sessions is too old', async () => {
  const { state, sign, call, refusal } = await world()
  const token = await sign()
  await call(token)
  state.isStale = true
  assert.equal(await refusal(token), 'NOT_READY')
})

test('D-52: rejects a known token when its policy demands more, or is gone', async () => {
  const { state, sign, call, refusal } = await world()
  const token = await sign()
  await call(token)
  state.policies = [aPolicy({ secondary: { requireTotp: true } })]
  const more = 'UNAUTHORIZED invalid insufficient_user_authentication'
  assert.equal(await refusal(token), more)
  state.policies = []
  assert.equal(await refusal(token), 'UNAUTHORIZED invalid')
})

test('rejects a known token whose issuer is not ours any more, and two tokens of our own', async () => {
  const { state, sign, call, refusal } = await world()
  const [one, other] = [await sign(), await sign({ jti: 'token-2' })]
  await call(one)
  await call(other)
  assert.equal(await refusal(one, other), 'UNAUTHORIZED invalid')
  state.issuers = []
  assert.match(await refusal(one), /^UNAUTHORIZED missing/)
})

test('remembers a bounded number of tokens, and never one that was refused', async () => {
  const { sign, call, refusal, verifications } = await world(2)
  const tokens = await Promise.all(['1', '2', '3'].map((jti) => sign({ jti })))
  for (const token of tokens) await call(token)
  const [first = ''] = tokens
  await call(first)
  assert.equal(verifications(), 4, 'the first of three had to make room')

  const wrong = await sign({ aud: ['another service'] })
  for (let i = 0; i < 2; i++) assert.equal(await refusal(wrong), 'UNAUTHORIZED invalid')
  const early = await sign({ nbf: epochSeconds(NOON) })
  for (let i = 0; i < 2; i++) await call(early)
  assert.equal(verifications(), 8)
})
