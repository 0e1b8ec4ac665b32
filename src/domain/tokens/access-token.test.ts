/** The claims of an access token, read back: only what an access token must have makes a session. D-24, D-35. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JWTPayload } from 'jose'
import { readAccessToken } from './access-token.ts'

const CLAIMS: JWTPayload = {
  iss: 'https://localhost:1280/oidc',
  sub: 'identity-1',
  aud: ['service'],
  iat: 1_800_000_000,
  exp: 1_800_001_800,
  z_asid: 'session-1',
  z_ia: true,
  z_ct: ['config-1'],
  z_t: 'a',
  z_ice: false,
  z_ap: 'default',
}

test('D-24: the claims of an access token name the session without a look-up', () => {
  assert.deepEqual(readAccessToken(CLAIMS), {
    sessionId: 'session-1',
    identityId: 'identity-1',
    isAdmin: true,
    authPolicyId: 'default',
    configTypes: ['config-1'],
    expiresAt: 1_800_001_800_000,
  })
})

const UNFIT: readonly (readonly [claim: string, values: readonly unknown[]])[] = [
  ['z_t', [undefined, 'r', 'A', '', 1, ['a']]],
  ['sub', [undefined, 7, null, ['identity-1'], { id: 'identity-1' }]],
  ['exp', [undefined, '1800001800', null]],
  ['z_asid', [undefined, 7, null]],
  ['z_ia', [undefined, 'true', 1]],
  ['z_ct', [undefined, 'config-1', {}, [7], [['config-1']]]],
  ['z_ap', [undefined, 7, null]],
]

for (const [claim, values] of UNFIT) {
  for (const value of values) {
    test(`R055: claims with ${claim} = ${JSON.stringify(value)} are not those of an access token`, () => {
      assert.equal(readAccessToken({ ...CLAIMS, [claim]: value }), undefined)
    })
  }
}
