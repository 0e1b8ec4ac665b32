/**
 * Which answer a credential gets: D-34, D-35, D-36, D-52, with real keys, and copies of ended sessions and policies that
 * a test can change and age. Everything about forged tokens is tested through the service.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fakePorts } from '../../../test/support/fake-ports.ts'
import { externalSigner, newIdpKey, signJwt } from '../../../test/support/idp/external-idp.ts'
import {
  aLegacySession,
  anIdentity,
  aPolicy,
  refusalOf,
  rulesOf,
  wordsOf,
} from '../../../test/support/people.ts'
import { systemRandom } from '../../base/secrets/random.ts'
import { Secret } from '../../base/secrets/secret.ts'
import {
  createVault,
  INSTALLATION_SECRET_BYTES,
  type SecretHash,
} from '../../base/secrets/vault.ts'
import { days, minutes } from '../../base/time/duration.ts'
import { epochSeconds, instant } from '../../base/time/instant.ts'
import type { Issuer } from '../../protocol/oidc.ts'
import { createSignerKeys } from '../ext-jwt/signer-keys.ts'
import type { AuthPolicy } from '../policies/auth-policy.ts'
import type { CallNeeds } from '../sessions/call-session.ts'
import { createLegacySessionCache } from '../sessions/legacy-session-cache.ts'
import { certificateThumbprint } from '../tokens/access-token.ts'
import type { StoredSigningKey } from '../tokens/keys/signing-key.ts'
import { createSigningKeys } from '../tokens/keys/signing-keys.ts'
import { createVerifiedTokens } from '../tokens/keys/verified-tokens.ts'
import { authenticateCall, type CallCredentials } from './authenticate-call.ts'
import type { CallPorts } from './ports.ts'

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
  z_ap: 'policy-1',
  jti: 'token-1',
  client_id: 'service',
  auth_time: 1_800_000_000,
  scope: 'openid',
  amr: ['pwd'],
  z_eid: 'zoe@example.org',
}

const LEGACY_TOKEN = 'a legacy token'
const SIGNER = externalSigner()
const IDP_KEY = await newIdpKey('key-1')
const idpToken = async (claims: object = {}) =>
  new Secret(
    await signJwt(IDP_KEY, {
      iss: SIGNER.issuer,
      aud: SIGNER.audience,
      sub: 'zoe@example.org',
      exp: epochSeconds(NOON) + 300,
      ...claims,
    }),
  )

interface Copies {
  readonly isStale?: boolean
  readonly areRulesStale?: boolean
  readonly ended?: string
  readonly policies?: readonly AuthPolicy[]
}

async function world(copy: Copies = {}) {
  const clock = { now: () => NOON, uptime: () => minutes(0) }
  const rules = {
    ...rulesOf({ policies: copy.policies ?? [aPolicy()], signers: [SIGNER] }),
    isStale: () => copy.areRulesStale ?? false,
  }
  const signerKeys = createSignerKeys({ clock, fetchJson: async () => ({ keys: [IDP_KEY.jwk] }) })
  const vault = createVault(systemRandom.bytes(INSTALLATION_SECRET_BYTES), systemRandom)
  /** The hashes of the `zt-session` tokens that were looked up. */
  const legacyCalls: SecretHash[] = []
  const stored: StoredSigningKey[] = []
  const signingKeys = createSigningKeys({
    store: {
      list: async () => stored,
      insert: async (key) => stored.push(key) > 0,
      raiseTokenLife: async () => {},
      remove: async () => false,
    },
    vault,
    clock,
    algorithms: { access: 'ES256', id: 'ES256' },
    rotation: days(90),
    tokenLife: minutes(30),
  })
  await signingKeys.rotate()
  const ports = fakePorts<CallPorts>({
    brand: 'service',
    vault,
    clock,
    issuers: () => [ISSUER],
    signingKeys,
    verifiedTokens: createVerifiedTokens(),
    signerKeys,
    endedSessions: {
      has: (id) => id === copy.ended,
      isStale: () => copy.isStale ?? false,
    },
    rules,
    apiSessions: {
      findLegacy: async (tokenHash) => {
        legacyCalls.push(tokenHash)
        const isKnown = tokenHash === vault.hash('session-token', LEGACY_TOKEN)
        return isKnown ? aLegacySession({ tokenHash }) : undefined
      },
    },
    identities: { find: async () => anIdentity() },
    legacySessionCache: createLegacySessionCache({ clock }),
    sessionTimeout: minutes(30),
  })
  return {
    async token(changes: Readonly<Record<string, unknown>> = {}) {
      return new Secret(await signingKeys.sign('access', () => ({ ...CLAIMS, ...changes })))
    },
    call: (given: Partial<CallCredentials>, needs: CallNeeds = 'full') => {
      const certificate = () => undefined
      return authenticateCall(
        ports,
        { bearers: [], ztSession: undefined, certificate, ...given },
        needs,
      )
    },
    legacyCalls,
    hashOf: (token: Secret) => vault.hash('session-token', token.reveal()),
  }
}

const word = async (call: Promise<unknown>): Promise<string> => {
  const { code, challenges } = await refusalOf(call)
  const words = challenges?.map(({ scheme, error }) => `${scheme} ${error}`) ?? []
  return [code, ...words].join(', ')
}

test('D-35: a good token names its session', async () => {
  const { token, call } = await world()
  for (const needs of ['full', 'partial', 'logout'] as const) {
    assert.deepEqual(await call({ bearers: [await token()] }, needs), {
      kind: 'oidc',
      sessionId: 'session-1',
      identityId: 'identity-1',
      isAdmin: false,
      authPolicyId: 'policy-1',
      configTypes: [],
      expiresAt: 1_800_001_800_000,
      isPartial: undefined,
    })
  }
})

for (const copies of [{ isStale: true }, { areRulesStale: true }] satisfies Copies[]) {
  const [what] = Object.keys(copies)
  test(`D-34: a good token is refused with NOT_READY while ${what}`, async () => {
    const { token, call, legacyCalls } = await world(copies)
    for (const credentials of [
      { bearers: [await token()] },
      { ztSession: new Secret('legacy') },
    ] satisfies Partial<CallCredentials>[]) {
      for (const needs of ['full', 'partial', 'logout'] as const) {
        const { code, retryAfterSeconds } = await refusalOf(call(credentials, needs))
        assert.equal(code, 'NOT_READY')
        assert.equal(retryAfterSeconds, 1)
      }
    }
    assert.deepEqual(legacyCalls, [])
  })
}

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

test('D-34: a token that was revoked by itself is invalid, and its session goes on', async () => {
  const { token, call } = await world({ ended: 'token-1' })
  assert.equal(await word(call({ bearers: [await token()] })), 'UNAUTHORIZED, Bearer invalid')
  const other = await call({ bearers: [await token({ jti: 'token-2' })] })
  assert.equal(other.sessionId, 'session-1')
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

test('R065: a text that is not a JWT is called invalid, and never missing, also beside a JWT of others', async () => {
  const { token, call } = await world()
  const junk = new Secret('junk')
  const theirs = await token({ iss: 'https://idp.example/' })
  const missing = 'UNAUTHORIZED, zt-session missing, Bearer missing'
  assert.equal(await word(call({ bearers: [theirs] })), missing)
  assert.equal(await word(call({ bearers: [theirs, junk] })), 'UNAUTHORIZED, Bearer invalid')
  assert.equal(await word(call({ bearers: [new Secret('')] })), 'UNAUTHORIZED, Bearer invalid')
})

test('D-36: beside a zt-session every bearer token counts as the demanded external JWT', async () => {
  const policies = [aPolicy({ secondary: { requireExtJwt: SIGNER.id } })]
  const { token, call } = await world({ policies })
  const ztSession = new Secret(LEGACY_TOKEN)
  for (const needs of ['full', 'partial', 'logout'] as const) {
    const good = await call({ bearers: [await idpToken()], ztSession }, needs)
    assert.equal(good.kind, 'legacy')
    const own = call({ bearers: [await token()], ztSession }, needs)
    if (needs === 'logout') assert.equal((await own).kind, 'legacy')
    else assert.equal(await word(own), 'UNAUTHORIZED, Bearer missing')
  }
})

test('D-36: next to a zt-session a valid bearer token is not a credential', async () => {
  const { token, call, legacyCalls, hashOf } = await world()
  const ztSession = new Secret('unknown')
  const bearers = [await token()]
  for (const needs of ['full', 'partial', 'logout'] as const) {
    const refused = await word(call({ bearers, ztSession }, needs))
    assert.equal(refused, 'UNAUTHORIZED, zt-session invalid')
    assert.equal(legacyCalls.pop(), hashOf(ztSession), 'it is judged as a legacy call')
  }
})

const SECONDARY =
  'Bearer realm="service-secondary-ext-jwt", error="FAULT", error_description="TEXT", ' +
  `id="${SIGNER.id}", issuer="${SIGNER.issuer}"`
const unmet = (fault: string, text: string) =>
  `UNAUTHORIZED: ${SECONDARY.replace('FAULT', fault).replace('TEXT', text)}`

test('D-52: a policy that demands a code by now refuses sessions that never proved one', async () => {
  const policies = [aPolicy({ secondary: { requireTotp: true } })]
  const { token, call } = await world({ policies })
  const bearers = [await token()]
  for (const needs of ['full', 'partial'] as const) {
    // D-461: and which login would be enough.
    const expected = 'UNAUTHORIZED, Bearer invalid, Bearer insufficient_user_authentication'
    assert.equal(await word(call({ bearers }, needs)), expected)
  }
  const proven = await call({ bearers: [await token({ amr: ['pwd', 'otp', 'mfa'] })] })
  assert.equal(proven.sessionId, 'session-1')
})

test('D-52: a policy that is gone refuses its sessions', async () => {
  const { token, call } = await world({ policies: [] })
  assert.equal(await word(call({ bearers: [await token()] })), 'UNAUTHORIZED, Bearer invalid')
})

test('R069: a demanded external JWT is asked for on every call', async () => {
  const policies = [aPolicy({ secondary: { requireExtJwt: SIGNER.id } })]
  const { token, call } = await world({ policies })
  const ours = await token()
  const asked = async (...others: readonly Secret[]) =>
    wordsOf(await refusalOf(call({ bearers: [ours, ...others] })))
  assert.equal(await asked(), unmet('missing', 'no matching token was provided'))
  const expired = await idpToken({ exp: epochSeconds(NOON) - 300 })
  assert.equal(await asked(expired), unmet('expired', 'token expired'))
  // Attack: the JWT of another user beside one's own access token.
  const foreign = await idpToken({ sub: 'bob@example.org' })
  assert.equal(await asked(foreign), unmet('invalid', 'token is invalid'))
  // R065: it is there, so it is not missing.
  assert.equal(await asked(new Secret('junk')), unmet('invalid', 'token is invalid'))

  const good = await idpToken()
  assert.equal((await call({ bearers: [ours, good] })).sessionId, 'session-1')
  assert.equal((await call({ bearers: [good, ours] })).sessionId, 'session-1')
  const { authQueries } = await refusalOf(call({ bearers: [ours] }))
  assert.deepEqual(
    authQueries?.map((query) => query.typeId === 'EXT-JWT' && query.id),
    [SIGNER.id],
  )
})

test('D-52: logging out asks for no second factor', async () => {
  const policies = [aPolicy({ secondary: { requireTotp: true, requireExtJwt: SIGNER.id } })]
  const { token, call } = await world({ policies })
  assert.equal((await call({ bearers: [await token()] }, 'logout')).sessionId, 'session-1')
  const gone = await world({ policies: [] })
  assert.equal((await gone.call({ bearers: [await gone.token()] }, 'logout')).kind, 'oidc')
})

const CERTIFICATE = 'ab'.repeat(32)
const bound = { cnf: { 'x5t#S256': certificateThumbprint(CERTIFICATE) } }

test('R072: if the policy binds tokens, a stolen token is not accepted without its certificate', async () => {
  const policies = [aPolicy({ cert: { bindTokens: true } })]
  const { token, call } = await world({ policies })
  const bearers = [await token(bound)]
  for (const shown of [undefined, 'cd'.repeat(32)]) {
    const refused = await word(call({ bearers, certificate: () => shown }))
    assert.equal(refused, 'UNAUTHORIZED, Bearer invalid')
  }
  const taken = await call({ bearers, certificate: () => CERTIFICATE })
  assert.equal(taken.sessionId, 'session-1')
})

test('D-24: a token that is bound to nothing, or whose policy does not bind, needs no certificate', async () => {
  const certificate = () => assert.fail('the certificate is not asked for')
  const binding = await world({ policies: [aPolicy({ cert: { bindTokens: true } })] })
  assert.equal((await binding.call({ bearers: [await binding.token()], certificate })).kind, 'oidc')
  const { token, call } = await world()
  assert.equal((await call({ bearers: [await token(bound)], certificate })).kind, 'oidc')
})
