/** What a client sends to each route that needs no credential: the measure for the worst that anyone can send there. */

import { createHash } from 'node:crypto'
import type { OwnSite } from '../../../src/domain/account/session.ts'
import { siteCookies } from '../../../src/http/own-site/cookies.ts'
import { jwtPart } from '../jwt-part.ts'
import { REDIRECT_URI } from '../login/login.ts'

export type Pairs = readonly (readonly [name: string, value: string])[]

export interface NormalRequest {
  readonly query?: Pairs
  readonly headers?: Pairs
  /** Sent as JSON where the route reads it, as a form otherwise. */
  readonly fields?: Pairs
  /** Sent as it is, where the route reads text. */
  readonly text?: string
}

/** What a caller without a credential can obtain beforehand. */
export interface Obtained {
  readonly authRequestId: string
  /** Of a session that ended. */
  readonly idToken: string
  readonly csr: string
}

const CODE_CHALLENGE = createHash('sha256').update('a verifier').digest('base64url')

/**
 * By method and path. What would need something that is used up, a code for example, is well-formed and refused: it costs
 * less than one that succeeds, which makes the measure stricter. For the same reason logins with a password are without it
 * here; hashing would hide everything else. `hashedRequests` compares those that have one with each other.
 */
export function normalRequests({
  authRequestId,
  idToken,
  csr,
}: Obtained): Readonly<Record<string, NormalRequest>> {
  const nothing = {}
  const id = ['authRequestId', authRequestId] as const
  const login = { query: [['authRequestID', authRequestId]] } as const
  const ask: Pairs = [
    ['response_type', 'code'],
    ['client_id', 'service'],
    ['redirect_uri', REDIRECT_URI],
    ['scope', 'openid offline_access'],
    ['code_challenge', CODE_CHALLENGE],
    ['code_challenge_method', 'S256'],
    ['state', 'a-state'],
    ['nonce', 'a-nonce'],
    ['prompt', 'login'],
    ['configTypes', 'all'],
  ]
  const signOut: Pairs = [
    ['id_token_hint', idToken],
    ['client_id', 'service'],
    ['post_logout_redirect_uri', REDIRECT_URI],
    ['state', 'a-state'],
  ]
  const names: Pairs = [
    ['username', 'nothing'],
    ['password', ''],
  ]
  const token = ['token', 'x'.repeat(43)] as const
  const list: Pairs = [
    ['filter', 'name contains "a" or name = "b"'],
    ['sort', 'name asc'],
    ['limit', '10'],
    ['offset', '0'],
  ]
  const formOf = (site: OwnSite, ...more: Pairs): NormalRequest => {
    const [cookie = ''] = siteCookies(site).session.keep('x'.repeat(300), 60).split(';')
    return { fields: [['formToken', 'x'.repeat(43)], ...more], headers: [['Cookie', cookie]] }
  }
  const accountForm = (...more: Pairs) => formOf('account', ...more)
  const consoleForm = formOf('console')
  const deviceForm = formOf('device', ['user_code', 'BCDF-GHJK'])
  const callback: NormalRequest = {
    query: [
      ['code', 'x'.repeat(43)],
      ['state', 'x'.repeat(22)],
    ],
  }
  return {
    'GET /version': nothing,
    'GET /.well-known/est/cacerts': nothing,
    'GET /edge/client/v1/version': nothing,
    'GET /edge/client/v1/.well-known/est/cacerts': nothing,
    'GET /edge/client/v1/openapi.json': nothing,
    'GET /edge/client/v1/docs': nothing,
    'POST /edge/client/v1/authenticate': { query: [['method', 'password']], fields: names },
    'GET /edge/client/v1/external-jwt-signers': { query: list },
    'POST /edge/client/v1/enroll/ott': { query: [token], text: csr, fields: [['clientCsr', csr]] },
    'POST /edge/client/v1/enroll/updb': { query: [token], fields: names },
    'POST /edge/client/v1/enroll': { query: [['method', 'ott'], token], text: csr },
    'POST /edge/client/v1/enroll/ottca': { query: [token], fields: [['x', '']] },
    'POST /edge/client/v1/enroll/ca': { fields: [['x', '']] },
    'GET /edge/management/v1/version': nothing,
    'GET /edge/management/v1/.well-known/est/cacerts': nothing,
    'GET /edge/management/v1/openapi.json': nothing,
    'GET /edge/management/v1/docs': nothing,
    'POST /edge/management/v1/authenticate': { query: [['method', 'password']], fields: names },
    'GET /.well-known/openid-configuration': nothing,
    'GET /oidc/.well-known/openid-configuration': nothing,
    'GET /.well-known/openid-configuration/oidc': nothing,
    'GET /.well-known/oauth-authorization-server/oidc': nothing,
    'GET /oidc/authorization': { query: ask },
    'POST /oidc/authorization': { fields: ask },
    'GET /oidc/login/username': login,
    'POST /oidc/login/username': { fields: [id, ...names] },
    'GET /oidc/login/password': login,
    'POST /oidc/login/password': { fields: [id, ...names] },
    'GET /oidc/login/cert': login,
    'POST /oidc/login/cert': { fields: [id] },
    'GET /oidc/login/ext-jwt': login,
    'POST /oidc/login/ext-jwt': {
      fields: [id],
      headers: [['Authorization', `Bearer ${foreignJwt({ sub: 'someone' })}`]],
    },
    'GET /oidc/login/ext-jwt/start': {
      query: [
        ['authRequestID', authRequestId],
        ['signer', 'nothing'],
      ],
    },
    'GET /oidc/login/ext-jwt/callback': {
      query: [
        ['code', 'x'.repeat(43)],
        ['state', `${'x'.repeat(22)}.${'x'.repeat(22)}`],
      ],
    },
    'GET /oidc/login/passkey': login,
    'POST /oidc/login/passkey': { fields: [id, ['credential', '{}']] },
    'POST /oidc/login/passkey/options': { fields: [id] },
    'GET /oidc/login/passkey/enroll': login,
    'POST /oidc/login/passkey/enroll': { fields: [id] },
    'POST /oidc/login/passkey/enroll/verify': { fields: [id, ['credential', '{}']] },
    'GET /oidc/login/totp': login,
    'POST /oidc/login/totp': { fields: [id, ['code', '123456']] },
    'GET /oidc/login/auth-queries': login,
    'GET /oidc/login/totp/enroll': login,
    'POST /oidc/login/totp/enroll': { fields: [id] },
    'POST /oidc/login/totp/enroll/verify': { fields: [id, ['code', '123456']] },
    'DELETE /oidc/login/totp/enroll': { fields: [id, ['code', '123456']] },
    'POST /oidc/token': {
      fields: [
        ['grant_type', 'authorization_code'],
        ['client_id', 'service'],
        ['code', 'x'.repeat(43)],
        ['code_verifier', 'x'.repeat(43)],
        ['redirect_uri', REDIRECT_URI],
        ['refresh_token', ''],
        ['scope', ''],
      ],
    },
    'POST /oidc/device_authorization': {
      fields: [
        ['client_id', 'service'],
        ['scope', 'openid offline_access'],
      ],
    },
    'GET /device': { query: [['user_code', 'BCDF-GHJK']] },
    'GET /device/confirm': { query: [['user_code', 'BCDF-GHJK']] },
    'POST /device/approve': deviceForm,
    'POST /device/deny': deviceForm,
    'GET /device/callback': callback,
    'GET /device/sign-in': nothing,
    'POST /device/sign-out': deviceForm,
    'GET /device/signed-out': nothing,
    'GET /oidc/end_session': { query: signOut },
    'POST /oidc/end_session': { fields: signOut },
    'POST /oidc/revoke': {
      fields: [
        ['token', idToken],
        ['token_type_hint', 'access_token'],
        ['client_id', 'service'],
      ],
    },
    'GET /oidc/keys': nothing,
    'GET /account/callback': callback,
    'GET /account/confirm': nothing,
    'POST /account/sign-out': accountForm(),
    'GET /account/signed-out': nothing,
    'GET /account': nothing,
    'GET /account/sessions': nothing,
    'POST /account/sessions/end': accountForm(['sessionId', 'nothing']),
    'POST /account/sessions/end-others': accountForm(),
    'GET /account/password': nothing,
    'POST /account/password': accountForm(['current', 'nothing'], ['new', 'nothing']),
    'GET /account/totp': nothing,
    'POST /account/totp/start': accountForm(),
    'POST /account/totp/verify': accountForm(['code', '123456']),
    'POST /account/totp/remove': accountForm(['code', '123456']),
    'POST /account/totp/recovery-codes': accountForm(['code', '123456']),
    'GET /account/passkeys': nothing,
    'POST /account/passkeys/start': accountForm(),
    'POST /account/passkeys/verify': accountForm(['credential', '{}']),
    'POST /account/passkeys/rename': accountForm(['passkey', 'nothing'], ['name', 'x']),
    'POST /account/passkeys/remove': accountForm(['passkey', 'nothing'], ['code', '123456']),
    'GET /account/certificates': nothing,
    // The others of the console are refused at the same door, before anything that was sent is used.
    'GET /console': nothing,
    'GET /console/identities/:id': nothing,
    'GET /console/search': { query: [['q', 'nothing']] },
    'GET /console/signed-out': nothing,
    'GET /console/assets/:name': nothing,
    'GET /console/callback': callback,
    'POST /console/sign-out': consoleForm,
    'POST /console/identities/:id/disable': consoleForm,
    'GET /': nothing,
    'GET /docs': nothing,
    'GET /docs/': nothing,
    'GET /docs/:name': nothing,
    'GET /docs/:folder/:name': nothing,
    'GET /edge/client/v1/endings/:id': nothing,
    'GET /invite': nothing,
    'POST /invite': { fields: [token] },
    'POST /invite/certificate': { fields: [token, ['clientCsr', csr]] },
    'POST /invite/invitation.jwt': { fields: [token] },
    'POST /invite/mfa': { fields: [token, ['password', '']] },
    'POST /invite/password': { fields: [token, ['password', ''], ['repeated', '']] },
    'GET /oidc/login/continue': login,
    'POST /oidc/login/continue': { fields: [id] },
    'GET /oidc/login/restart': login,
    'GET /health-checks': nothing,
    'GET /health-checks/live': nothing,
    'GET /metrics': nothing,
  }
}

/** Signed by nobody. */
export function foreignJwt(claims: object): string {
  const header = { alg: 'RS256', kid: 'nothing' }
  const all = { iss: 'https://idp.example', aud: 'service', exp: 9_999_999_999, ...claims }
  return `${jwtPart(header)}.${jwtPart(all)}.${'A'.repeat(342)}`
}
