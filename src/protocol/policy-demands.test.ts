/** Whether what a login proved is enough for its policy as it is now. D-52, D-232. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { factorDemands } from './factors/second-factors.ts'
import { isBoundElsewhere, type PolicyDemands, unmetDemand } from './policy-demands.ts'

const OPEN: PolicyDemands = {
  id: 'policy-1',
  allowsPassword: true,
  allowsCertificate: true,
  allowsPasskey: true,
  signers: ['signer-1'],
  cas: ['ca-1'],
  ...factorDemands({}),
  requireExtJwt: null,
  bindTokens: false,
  requireBoundToken: false,
}

const LOGINS = {
  password: { amr: ['pwd'], signerId: undefined, caId: undefined },
  'password and code': { amr: ['pwd', 'otp', 'mfa'], signerId: undefined, caId: undefined },
  'password and JWT': { amr: ['pwd', 'ext-jwt', 'mfa'], signerId: undefined, caId: undefined },
  certificate: { amr: ['swk'], signerId: undefined, caId: undefined },
  'certificate of a CA': { amr: ['swk'], signerId: undefined, caId: 'ca-1' },
  JWT: { amr: ['ext-jwt'], signerId: 'signer-1', caId: undefined },
  'old JWT': { amr: ['ext-jwt'], signerId: undefined, caId: undefined },
}

type Login = keyof typeof LOGINS

const CASES: readonly [string, Partial<PolicyDemands>, Partial<Record<Login, string>>][] = [
  ['nothing special', {}, {}],
  [
    'no passwords',
    { allowsPassword: false },
    {
      password: 'method-not-allowed',
      'password and code': 'method-not-allowed',
      'password and JWT': 'method-not-allowed',
    },
  ],
  [
    'no certificates',
    { allowsCertificate: false },
    { certificate: 'method-not-allowed', 'certificate of a CA': 'method-not-allowed' },
  ],
  ['another CA', { cas: ['ca-2'] }, { 'certificate of a CA': 'ca-not-trusted' }],
  ['no signers', { signers: [] }, { JWT: 'method-not-allowed', 'old JWT': 'method-not-allowed' }],
  ['another signer', { signers: ['signer-2'] }, { JWT: 'signer-not-trusted' }],
  [
    'a code',
    { requireTotp: true },
    {
      password: 'totp-missing',
      'password and JWT': 'totp-missing',
      certificate: 'totp-missing',
      'certificate of a CA': 'totp-missing',
      JWT: 'totp-missing',
      'old JWT': 'totp-missing',
    },
  ],
]

for (const [what, demands, unmet] of CASES) {
  test(`a policy that says: ${what}`, () => {
    for (const [login, proof] of Object.entries(LOGINS)) {
      assert.equal(unmetDemand({ ...OPEN, ...demands }, proof), unmet[login as Login], login)
    }
  })
}

test('a policy that does not exist accepts no login', () => {
  for (const proof of Object.values(LOGINS)) {
    assert.equal(unmetDemand(undefined, proof), 'policy-gone')
  }
})

test('a token is bound only if the policy says so, and then only to its certificate', () => {
  const binding = { bindTokens: true, requireBoundToken: false }
  assert.equal(
    isBoundElsewhere({ bindTokens: false, requireBoundToken: false }, { boundTo: 'a' }, () => 'b'),
    false,
  )
  assert.equal(
    isBoundElsewhere(binding, { boundTo: undefined }, () => undefined),
    false,
  )
  assert.equal(
    isBoundElsewhere(binding, { boundTo: 'a' }, () => 'a'),
    false,
  )
  assert.equal(
    isBoundElsewhere(binding, { boundTo: 'a' }, () => 'b'),
    true,
  )
  assert.equal(
    isBoundElsewhere(binding, { boundTo: 'a' }, () => undefined),
    true,
  )
})

test('D-454: a policy can require a bound token, by a key or by the certificate that is presented', () => {
  const demands = { ...OPEN, requireBoundToken: true }
  const { password } = LOGINS
  assert.equal(unmetDemand(demands, password), 'token-not-bound')
  assert.equal(unmetDemand(demands, { ...password, boundKey: 'k' }), undefined)
  assert.equal(unmetDemand(demands, { ...password, boundTo: 'c' }), undefined)
  const other = () => 'another'
  assert.equal(isBoundElsewhere(demands, { boundTo: 'c' }, other), true)
  assert.equal(
    isBoundElsewhere(demands, { boundTo: 'c' }, () => 'c'),
    false,
  )
  assert.equal(isBoundElsewhere(demands, { boundTo: 'c', boundKey: 'k' }, other), false)
  assert.equal(
    isBoundElsewhere({ ...demands, bindTokens: true }, { boundTo: 'c', boundKey: 'k' }, other),
    true,
  )
})
