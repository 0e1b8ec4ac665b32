/**
 * How a person gets to the page of the own account: by a login like any other, whose client is this service (D-161). The
 * same authorization code flow with PKCE, begun and exchanged in the process. What must come back is sealed into a
 * cookie of the browser that began, with the `state` as the context of the seal: another browser, another state or
 * another address opens nothing. Nothing is stored, so strangers can begin as often as they like (D-7).
 */

import { base64url, fromUtf8, sha256, utf8 } from '../../base/encoding.ts'
import type { IdentityId } from '../../base/ids.ts'
import { Secret } from '../../base/secrets/secret.ts'
import { type Instant, plus } from '../../base/time/instant.ts'
import { Failure } from '../../errors/catalogue.ts'
import type { Issuer } from '../../protocol/oidc.ts'
import type { Caller } from '../audit/events.ts'
import { AUTH_REQUEST_LIFE, type StartedLogin, startLogin } from '../login/start.ts'
import { exchangeCode } from '../tokens/exchange-code.ts'
import type { AccountPorts } from './ports.ts'

export interface AccountWish {
  readonly issuer: Issuer
  /** The address that the browser comes back to. */
  readonly callback: string
  readonly hasCertificate: boolean
  /** The page that it wanted. */
  readonly to: string
}

export interface BegunAccountLogin {
  /** Names the cookie that keeps `kept`, and comes back in the query. */
  readonly state: string
  readonly kept: string
  readonly login: Extract<StartedLogin, { next: 'login' }>
}

export interface AccountAnswer {
  readonly issuer: Issuer
  readonly callback: string
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

/** Whether a text can be a state of ours: it becomes part of a cookie's name. */
export function isAccountState(text: string): boolean {
  return /^[\w-]{22}$/.test(text)
}

interface Kept {
  readonly verifier: string
  readonly to: string
  readonly expiresAt: Instant
}

export function beginAccountLogin(
  ports: Pick<AccountPorts, 'clientId' | 'vault' | 'random' | 'clock'>,
  { issuer, callback, hasCertificate, to }: AccountWish,
): BegunAccountLogin {
  const { clientId, vault, random, clock } = ports
  const state = base64url(random.bytes(STATE_BYTES))
  const verifier = base64url(random.bytes(VERIFIER_BYTES))
  const login = startLogin(ports, {
    issuer,
    // Allowed here and nowhere else: `redirectURIs` is the operator's list, and stays what it is.
    allowedRedirects: [{ free: 'nothing', uri: callback }],
    // Without offline_access: the session ends with its access token (D-53).
    parameters: new Map([
      ['response_type', ['code']],
      ['client_id', [clientId]],
      ['redirect_uri', [callback]],
      ['scope', ['openid']],
      // D-183: who changes credentials here proves himself now, at an IdP too.
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
  const sealed = vault.seal('account-login', utf8(JSON.stringify(kept)), `${callback} ${state}`)
  return { state, kept: sealed, login }
}

/** Throws INVALID_AUTH_REQUEST for what this browser did not begin, and spends nothing; INVALID_GRANT. */
export async function finishAccountLogin(
  ports: AccountPorts,
  { issuer, callback, state, kept: sealed, iss, code, caller }: AccountAnswer,
): Promise<FinishedAccountLogin> {
  const { clientId, vault, clock } = ports
  const bytes = sealed && vault.open('account-login', sealed, `${callback} ${state}`)
  const plain = bytes && fromUtf8(bytes)
  if (!plain) throw refuse('the login was not begun in this browser')
  const kept = JSON.parse(plain) as Kept
  if (kept.expiresAt <= clock.now()) throw refuse('the login took too long')
  if (iss !== issuer) throw refuse('the answer names another issuer')
  if (code === undefined) throw refuse('the login was refused')
  const tokens = await exchangeCode(ports, {
    clientId,
    code,
    redirectUri: callback,
    codeVerifier: new Secret(kept.verifier),
    caller,
  })
  return {
    accessToken: new Secret(tokens.accessToken),
    lifeSeconds: tokens.expiresInSeconds,
    identityId: tokens.identityId,
    to: kept.to,
  }
}

function refuse(detail: string): Failure {
  return new Failure('INVALID_AUTH_REQUEST', { detail })
}
