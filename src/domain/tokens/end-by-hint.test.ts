/** Logout on a client's word: everything is checked before anything ends. D-30, R049. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JWTPayload } from 'jose'
import { ManualClock } from '../../../test/support/clocks/manual-clock.ts'
import { fakePorts } from '../../../test/support/fake-ports.ts'
import { CALLER, refusalOf } from '../../../test/support/people.ts'
import type { ApiSessionId, IdentityId } from '../../base/ids.ts'
import { systemRandom } from '../../base/secrets/random.ts'
import { Secret } from '../../base/secrets/secret.ts'
import { minutes } from '../../base/time/duration.ts'
import { parseRedirectPattern } from '../../protocol/redirect-uri.ts'
import { ACCESS_TOKEN_TYPE } from '../../protocol/service-claims.ts'
import type { AuditEvent } from '../audit/events.ts'
import { auditPorts } from '../audit/ports.ts'
import type { Stores } from '../stores.ts'
import { endByHint, type LogoutCall } from './end-by-hint.ts'
import type { SigningKeys } from './keys/signing-keys.ts'
import type { TokenPorts } from './ports.ts'

const identityId = 'identity-1' as IdentityId
const named = (id: string) => ({ sessionId: id as ApiSessionId, identityId })

/** ID tokens and access tokens that name their session are ours; every other text is not. */
const verify: SigningKeys['verify'] = async (kind, token) => {
  const idOf = /^id-of-(.*)$/.exec(token)?.[1]
  const accessOf = /^access-of-(.*)$/.exec(token)?.[1]
  if (idOf !== undefined && kind === 'id') {
    return { outcome: 'expired', payload: { sid: idOf, sub: identityId, aud: 'service' } }
  }
  if (accessOf !== undefined && kind === 'access') {
    return { outcome: 'good', kid: 'key-1', payload: accessTo(accessOf) }
  }
  return { outcome: 'invalid', why: 'not signed by us' }
}

function accessTo(session: string): JWTPayload {
  return {
    iss: 'https://localhost:1280/oidc',
    sub: identityId,
    jti: 'token-1',
    iat: 0,
    exp: 1,
    client_id: 'service',
    auth_time: 0,
    scope: 'openid',
    amr: [],
    z_t: ACCESS_TOKEN_TYPE,
    z_asid: session,
    z_ia: false,
    z_ct: [],
    z_ap: 'policy-1',
  }
}

const BYE = 'https://app.example.com/bye'

function world() {
  const ended: AuditEvent[] = []
  const tx = {
    apiSessions: { remove: async () => undefined },
    refreshTokens: { removeOf: async () => {} },
    sessionCertificates: { removeOf: async () => {} },
    sessionEndings: { insert: async () => true },
    events: { insert: async (event: AuditEvent) => void ended.push(event) },
  }
  const ports = fakePorts<TokenPorts>({
    ...auditPorts({ clock: new ManualClock(), random: systemRandom }),
    clientId: 'service',
    otherClientIds: ['native'],
    audience: 'service',
    issuers: () => [],
    signingKeys: { verify },
    transaction: (work) => work(tx as unknown as Stores),
    accessTokenLife: minutes(30),
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
  const ends = () =>
    ended.map((event) => {
      assert.ok(event.type === 'session.ended')
      const { sessionId, identityId, reason, caller } = event
      return { sessionId, identityId, reason, caller }
    })
  return {
    logOut: (call: Partial<LogoutCall>) => endByHint(ports, { ...nothing, ...call }),
    ended: () => ends().map(({ sessionId }) => sessionId),
    ends,
  }
}

test('a hint ends the session that it names, as a logout', async () => {
  const { logOut, ends } = world()
  const outcome = await logOut({ idTokenHint: new Secret('id-of-a') })
  assert.deepEqual(outcome, { isNamed: true, location: undefined })
  assert.deepEqual(ends(), [{ ...named('a'), reason: 'logout', caller: CALLER }])
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

test('a bearer that is not an access token of ours ends nothing', async () => {
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
  ['another known client', { clientId: 'native' }, 'COULD_NOT_VALIDATE'],
  [
    'another known client and no hint',
    { clientId: 'native', idTokenHint: undefined },
    'COULD_NOT_VALIDATE',
  ],
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
