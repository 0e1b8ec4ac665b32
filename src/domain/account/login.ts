/**
 * Signs a user in to our own pages, the account or the console: a login like any other, whose client is this service
 * (D-161, D-355). It uses the same authorization code flow with PKCE, begun and exchanged in the process. What must come back is sealed into a cookie of
 * the browser that began, with the `state` as the context of the seal: it does not open for another browser, state or
 * address. Nothing is stored, so anonymous callers can begin any number of logins (D-7).
 */

import { base64url, fromUtf8, sha256, utf8 } from '../../base/encoding.ts'
import type { IdentityId } from '../../base/ids.ts'
import { Secret } from '../../base/secrets/secret.ts'
import { type Instant, plus } from '../../base/time/instant.ts'
import type { Issuer } from '../../protocol/oidc.ts'
import type { Caller } from '../audit/events.ts'
import { startAgain } from '../login/request/find-request.ts'
import { AUTH_REQUEST_LIFE, type StartedLogin, startLogin } from '../login/start.ts'
import { exchangeCode } from '../tokens/exchange-code.ts'
import type { AccountPorts } from './ports.ts'
import type { OwnSite } from './session.ts'

export interface AccountWish {
  readonly site: OwnSite
  readonly issuer: Issuer
  /** The address to which the browser returns. */
  readonly callback: string
  readonly hasCertificate: boolean
  /** The path of the page that the user requested. */
  readonly to: string
}

export interface BegunAccountLogin {
  /** Names the cookie that holds `kept`, and comes back in the query. */
  readonly state: string
  readonly kept: string
  readonly login: Extract<StartedLogin, { next: 'login' }>
}

export interface AccountAnswer extends Pick<AccountWish, 'site' | 'issuer' | 'callback'> {
  readonly state: string
  readonly kept: string | undefined
  /** RFC 9207. */
  readonly iss: string | undefined
  /** Undefined: the login was refused. */
  readonly code: Secret | undefined
  readonly caller: Caller
}

export interface FinishedAccountLogin {
  readonly accessToken: Secret
  readonly lifeSeconds: number
  readonly identityId: IdentityId
  readonly to: string
}

/** 128 bits; the verifier has 256 (RFC 7636 §7.1). */
const STATE_BYTES = 16
const VERIFIER_BYTES = 32

/** Whether a text has the form of our states: it becomes part of a cookie name. */
export function isAccountState(text: string): boolean {
  return /^[\w-]{22}$/.test(text)
}

interface Kept {
  readonly verifier: string
  readonly to: string
  readonly expiresAt: Instant
}

export function beginAccountLogin(
  ports: Pick<AccountPorts, 'clientId' | 'otherClientIds' | 'vault' | 'random' | 'clock' | 'rules'>,
  { site, issuer, callback, hasCertificate, to }: AccountWish,
): BegunAccountLogin {
  const { clientId, vault, random, clock } = ports
  const state = base64url(random.bytes(STATE_BYTES))
  const verifier = base64url(random.bytes(VERIFIER_BYTES))
  const login = startLogin(ports, {
    issuer,
    // Allowed only here: `redirectURIs` is the operator's list and is not changed.
    allowedRedirects: [{ free: 'nothing', uri: callback }],
    // Without offline_access: the session ends with its access token (D-53).
    parameters: new Map([
      ['response_type', ['code']],
      ['client_id', [clientId]],
      ['redirect_uri', [callback]],
      ['scope', ['openid']],
      // D-183: a user who changes credentials here must authenticate now, also at an IdP.
      ['prompt', ['login']],
      ['state', [state]],
      ['code_challenge', [base64url(sha256(verifier))]],
      ['code_challenge_method', ['S256']],
    ]),
    isBrowser: true,
    hasCertificate,
  })
  if (login.next !== 'login') throw new Error('our own authorization request was refused')
  const expiresAt = plus(clock.now(), AUTH_REQUEST_LIFE)
  const kept: Kept = { verifier, to, expiresAt }
  const sealed = vault.seal(`${site}-login`, utf8(JSON.stringify(kept)), `${callback} ${state}`)
  return { state, kept: sealed, login }
}

/** Throws INVALID_AUTH_REQUEST, and spends nothing, if this browser did not begin the login; throws INVALID_GRANT. */
export async function finishAccountLogin(
  ports: AccountPorts,
  { site, issuer, callback, state, kept: sealed, iss, code, caller }: AccountAnswer,
): Promise<FinishedAccountLogin> {
  const { clientId, vault, clock } = ports
  const bytes = sealed && vault.open(`${site}-login`, sealed, `${callback} ${state}`)
  const plain = bytes && fromUtf8(bytes)
  if (!plain) throw startAgain('the login was not begun in this browser')
  const kept = JSON.parse(plain) as Kept
  if (kept.expiresAt <= clock.now()) throw startAgain('the login took too long')
  if (iss !== issuer) throw startAgain('the answer names another issuer')
  if (code === undefined) throw startAgain('the login was refused')
  const tokens = await exchangeCode(ports, {
    clientId,
    code,
    redirectUri: callback,
    codeVerifier: new Secret(kept.verifier),
    isSealed: true,
    caller,
  })
  return {
    accessToken: new Secret(tokens.accessToken),
    lifeSeconds: tokens.expiresInSeconds,
    identityId: tokens.identityId,
    to: kept.to,
  }
}
