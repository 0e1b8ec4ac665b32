/** Logout on a client's word: everything is checked before anything ends. D-30, R049. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CALLER, refusalOf } from '../../../../test/support/people.ts'
import type { ApiSessionId, IdentityId } from '../../../base/ids.ts'
import { Secret } from '../../../base/secrets/secret.ts'
import { instant } from '../../../base/time/instant.ts'
import { parseRedirectPattern } from '../../../protocol/redirect-uri.ts'
import type { AccessToken } from '../../tokens/access-token.ts'
import type { OwnTokens } from '../../tokens/own-token.ts'
import { createEndByHint, type LogoutCall } from './end-by-hint.ts'
import type { EndSession } from './end-session.ts'

const identityId = 'identity-1' as IdentityId
const named = (id: string) => ({ sessionId: id as ApiSessionId, identityId })

/** Two ID tokens and one access token are ours; whatever else somebody has is not. */
const OWN: OwnTokens = {
  readIdToken: async (token) =>
    token.reveal().startsWith('id-of-') ? named(token.reveal().slice(6)) : undefined,
  readAccessToken: async (token) =>
    token.reveal().startsWith('access-of-') ? accessTo(token.reveal().slice(10)) : undefined,
}

function accessTo(session: string): AccessToken {
  const claims = { ...named(session), tokenId: 'token-1', authPolicyId: 'policy-1' }
  return {
    ...(claims as Pick<AccessToken, 'sessionId' | 'identityId' | 'tokenId' | 'authPolicyId'>),
    externalId: undefined,
    isAdmin: false,
    configTypes: [],
    amr: [],
    boundTo: undefined,
    signerId: undefined,
    caId: undefined,
    issuer: 'https://localhost:1280/oidc',
    clientId: 'service',
    scope: 'openid',
    issuedAt: instant(0),
    expiresAt: instant(1),
  }
}

const BYE = 'https://app.example.com/bye'

function world() {
  const ended: Parameters<EndSession>[0][] = []
  const endByHint = createEndByHint({
    clientId: 'service',
    ownTokens: OWN,
    endSession: async (end) => {
      ended.push(end)
    },
  })
  const reading = parseRedirectPattern(BYE)
  assert.ok(reading.ok)
  const nothing: LogoutCall = {
    idTokenHint: undefined,
    bearer: undefined,
    clientId: undefined,
    postLogoutRedirectUri: undefined,
    allowedRedirects: [reading.pattern],
    caller: CALLER,
  }
  return {
    logOut: (call: Partial<LogoutCall>) => endByHint({ ...nothing, ...call }),
    ended: () => ended.map(({ sessionId }) => sessionId),
    ends: ended,
  }
}

test('a hint ends the session that it names, as a logout', async () => {
  const { logOut, ends } = world()
  const outcome = await logOut({ idTokenHint: new Secret('id-of-a') })
  assert.deepEqual(outcome, { isNamed: true, location: undefined })
  assert.deepEqual(ends, [{ ...named('a'), reason: 'logout', caller: CALLER }])
})

test('a bearer access token names a session too, and a hint goes before it', async () => {
  const { logOut, ended } = world()
  await logOut({ bearer: new Secret('access-of-a') })
  await logOut({ bearer: new Secret('access-of-a'), idTokenHint: new Secret('id-of-b') })
  assert.deepEqual(ended(), ['a', 'b'])
})

test('with no hint nothing ends, and the way on is open', async () => {
  const { logOut, ended } = world()
  assert.deepEqual(await logOut({}), { isNamed: false, location: undefined })
  const onwards = await logOut({ postLogoutRedirectUri: BYE, clientId: 'service' })
  assert.deepEqual(onwards, { isNamed: false, location: BYE })
  assert.deepEqual(ended(), [])
})

test('a bearer that is no access token of ours ends nothing', async () => {
  // Attack: an ID token is no credential, wherever it is put (R055).
  const { logOut, ended } = world()
  for (const bearer of ['id-of-a', 'x', '']) {
    assert.equal((await logOut({ bearer: new Secret(bearer) })).isNamed, false)
  }
  assert.deepEqual(ended(), [])
})

/** What is wrong with a call that has a good hint; nothing may end. */
const REFUSED: readonly (readonly [what: string, call: Partial<LogoutCall>, code: string])[] = [
  ['a foreign hint', { idTokenHint: new Secret('foreign') }, 'INVALID_ID_TOKEN_HINT'],
  ['an access token as hint', { idTokenHint: new Secret('access-of-a') }, 'INVALID_ID_TOKEN_HINT'],
  ['an empty hint', { idTokenHint: new Secret('') }, 'INVALID_ID_TOKEN_HINT'],
  ['another client', { clientId: 'another' }, 'INVALID_CLIENT'],
  ['an empty client', { clientId: '' }, 'INVALID_CLIENT'],
  ...['https://evil.example/', `${BYE}/`, `${BYE}?x=1`, BYE.toUpperCase(), ''].map(
    (uri) =>
      [
        `the post-logout URI ${JSON.stringify(uri)}`,
        { postLogoutRedirectUri: uri },
        'INVALID_POST_LOGOUT_URI',
      ] as const,
  ),
  [
    'every post-logout URI where none is allowed',
    { postLogoutRedirectUri: BYE, allowedRedirects: [] },
    'INVALID_POST_LOGOUT_URI',
  ],
]

for (const [what, call, code] of REFUSED) {
  test(`R049: a logout with ${what} is refused, and nothing ends`, async () => {
    const { logOut, ended } = world()
    const good = { idTokenHint: new Secret('id-of-a'), bearer: new Secret('access-of-a') }
    const failure = await refusalOf(logOut({ ...good, ...call }))
    assert.equal(failure.code, code)
    assert.deepEqual(ended(), [])
  })
}
