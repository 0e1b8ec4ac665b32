/** The claims of an access token, read back: only what an access token must have makes a session. D-24, D-35. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JWTPayload } from 'jose'
import { anIdentity } from '../../../test/support/people.ts'
import { certificateThumbprint, readAccessToken, rolesClaim } from './access-token.ts'

const CLAIMS: JWTPayload = {
  iss: 'https://localhost:1280/oidc',
  sub: 'identity-1',
  aud: ['service'],
  iat: 1_800_000_000,
  exp: 1_800_001_800,
  jti: 'token-1',
  client_id: 'service',
  auth_time: 1_799_999_000,
  scope: 'openid profile',
  z_asid: 'session-1',
  z_ia: true,
  z_ct: ['config-1'],
  z_t: 'a',
  z_ice: false,
  z_ap: 'default',
  amr: ['pwd', 'otp', 'mfa'],
}

const READ = {
  tokenId: 'token-1',
  sessionId: 'session-1',
  identityId: 'identity-1',
  externalId: undefined,
  isAdmin: true,
  authPolicyId: 'default',
  configTypes: ['config-1'],
  amr: ['pwd', 'otp', 'mfa'],
  signerId: undefined,
  caId: undefined,
  boundTo: undefined,
  boundKey: undefined,
  issuer: 'https://localhost:1280/oidc',
  clientId: 'service',
  scope: 'openid profile',
  authenticatedAt: 1_799_999_000_000,
  issuedAt: 1_800_000_000_000,
  expiresAt: 1_800_001_800_000,
}

test('D-24: the claims of an access token name the session without a look-up', () => {
  assert.deepEqual(readAccessToken(CLAIMS), READ)
})

test('D-24: the external id and the certificate that it is bound to are read where they are', () => {
  const cnf = { 'x5t#S256': 'a-thumbprint' }
  const claims = { ...CLAIMS, z_eid: 'zoe@example.org', z_ejs: 'signer-1', z_ca: 'ca-1', cnf }
  assert.deepEqual(readAccessToken(claims), {
    ...READ,
    externalId: 'zoe@example.org',
    signerId: 'signer-1',
    caId: 'ca-1',
    boundTo: 'a-thumbprint',
  })
})

test('D-24: the thumbprint of a certificate is its SHA-256 in base64url', () => {
  // RFC 8705 §3.1. Where base64 would write +//7.
  assert.equal(certificateThumbprint('fbfffb'), '-__7')
})

const UNFIT: readonly (readonly [claim: string, values: readonly unknown[]])[] = [
  ['z_t', [undefined, 'r', 'A', '', 1, ['a']]],
  ['sub', [undefined, 7, null, ['identity-1'], { id: 'identity-1' }]],
  ['exp', [undefined, '1800001800', null]],
  ['iat', [undefined, '1800000000', null]],
  ['iss', [undefined, 7, null]],
  ['jti', [undefined, 7, null]],
  ['client_id', [undefined, 7, null]],
  ['auth_time', [undefined, '7', null]],
  ['scope', [undefined, 7, null, ['openid']]],
  ['z_asid', [undefined, 7, null]],
  ['z_ia', [undefined, 'true', 1]],
  ['z_ct', [undefined, 'config-1', {}, [7], [['config-1']]]],
  ['z_ap', [undefined, 7, null]],
  ['z_ejs', [7, null, {}]],
  ['z_ca', [7, null, {}]],
  ['amr', [undefined, 'pwd', {}, [7], null]],
  ['z_eid', [7, null, ['zoe']]],
  // A binding that we cannot check must not be taken for none.
  ['cnf', [null, 7, 'x', {}, { kid: 'x' }, { jkt: 7 }, { 'x5t#S256': 7 }, { 'x5t#S256': null }]],
]

for (const [claim, values] of UNFIT) {
  for (const value of values) {
    test(`R055: claims with ${claim} = ${JSON.stringify(value)} are not those of an access token`, () => {
      assert.equal(readAccessToken({ ...CLAIMS, [claim]: value }), undefined)
    })
  }
}

test('D-400: the roles of the identity are in its token, unless they would make it too long for a header', () => {
  const claims = (roleAttributes: readonly string[]) =>
    rolesClaim(anIdentity({ roleAttributes, roleVersion: 2 }))
  assert.deepEqual(claims(['ops']), { roles: ['ops'], z_rv: 2 })
  assert.deepEqual(claims([]), { roles: [], z_rv: 2 })
  assert.deepEqual(claims(Array.from({ length: 256 }, (_, i) => `a-role-of-many-${i}`)), {
    z_rv: 2,
  })
})
