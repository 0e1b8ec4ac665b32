/** What users read when a gateway refuses: what is missing, and what to do. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GatewayRefused } from '../../../client/gateway/tunnel.ts'
import { parseChallenges } from '../../../protocol/challenge.ts'
import { CommandFailed } from '../../terminal/io.ts'
import { explained } from './refusals.ts'

const REFUSALS: readonly (readonly [
  code: string,
  status: number,
  next: string,
  challenge: string,
  says: string,
])[] = [
  [
    'UNAUTHORIZED',
    401,
    'sign-in',
    'Bearer error="invalid"',
    '77 gw1/db: the gateway does not accept this session; run: latchkey login [request r1]',
  ],
  [
    'UNAUTHORIZED',
    401,
    'present-jwt',
    'Bearer id="1", issuer="https://idp"',
    '77 gw1/db: your policy demands a JWT of https://idp with every request, which no gateway accepts [request r1]',
  ],
  [
    'FORBIDDEN',
    403,
    'present-certificate',
    '',
    '77 gw1/db: the gateway does not accept the certificate of this session; run: latchkey login [request r1]',
  ],
  [
    'FACTOR_REQUIRED',
    401,
    'sign-in',
    'Bearer amr="otp"',
    '77 gw1/db: this service needs a login with otp; run: latchkey login [request r1]',
  ],
  [
    'LOGIN_TOO_OLD',
    401,
    'sign-in',
    'Bearer max_age="300"',
    '77 gw1/db: your login is older than this service allows (300 seconds); run: latchkey login [request r1]',
  ],
  [
    'ROLE_REQUIRED',
    403,
    'ask-administrator',
    'Bearer roles="db-admins"',
    '77 gw1/db: you need one of these roles: db-admins; ask an administrator [request r1]',
  ],
  [
    'IDENTITY_NOT_ALLOWED',
    403,
    'ask-administrator',
    '',
    '77 gw1/db: you may not use this service; ask an administrator [request r1]',
  ],
  [
    'UNKNOWN_SERVICE',
    404,
    'fix-configuration',
    '',
    '66 gw1/db: the gateway has no TCP service of this name [request r1]',
  ],
  [
    'TOO_MANY_CONNECTIONS',
    429,
    'wait',
    '',
    '75 gw1/db: you have too many open connections at this gateway; close one, then try again [request r1]',
  ],
  ['NEW_CODE', 403, 'none', '', '77 gw1/db: the gateway refused (NEW_CODE) [request r1]'],
]

for (const [code, status, next, challenge, says] of REFUSALS) {
  test(`${code} with ${next} says what to do`, () => {
    const challenges = parseChallenges(challenge) ?? []
    const refusal = { status, next, challenges, requestId: 'r1' }
    const error = explained(new GatewayRefused(code, '', refusal), 'gw1/db')
    assert.ok(error instanceof CommandFailed)
    assert.equal(`${error.exit} ${error.message}`, says)
  })
}
