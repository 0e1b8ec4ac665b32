/**
 * Turns an authorization request into an auth request. SPEC Authorization; D-5, D-6, D-7.
 *
 * Two phases. First the client and its redirect URI: an error there is thrown and shown directly, because there is no
 * verified address to redirect to yet (R004, R005). Then everything else: errors there go back to the client, over its
 * VerifiedRedirect.
 */

import { base64url } from '../../base/encoding.ts'
import { type Duration, minutes } from '../../base/time/duration.ts'
import { plus } from '../../base/time/instant.ts'
import { Failure } from '../../errors/catalogue.ts'
import type { Issuer } from '../../protocol/oidc.ts'
import type { RedirectPattern } from '../../protocol/redirect-uri.ts'
import type { PrimaryMethod } from '../identities/primary-methods.ts'
import { isKnownClient } from './known-client.ts'
import type { LoginPorts } from './ports.ts'
import type {
  AuthRequestId,
  AuthRequestKey,
  AwaitingPrimary,
  ClientAsk,
} from './request/auth-request.ts'
import { bindBrowser } from './request/browser-binding.ts'
import { type ClientAnswer, refusalAnswer } from './request/client-answer.ts'
import { type Parameters, type Refusal, readAsk, readResponseMode } from './request/read-ask.ts'
import type { RouterCallbackPorts } from './request/router-callback.ts'
import { sealRequest } from './request/sealed-request.ts'
import { verifyRedirect } from './request/verified-redirect.ts'

/** D-7: ten minutes from creation, never extended. */
export const AUTH_REQUEST_LIFE: Duration = minutes(10)

/** R024: at least 128 bits. */
const KEY_BYTES = 16

export interface AuthorizationCall {
  readonly issuer: Issuer
  readonly allowedRedirects: readonly RedirectPattern[]
  readonly parameters: Parameters
  /** The call comes from a browser, so the login is bound to that browser (D-10). */
  readonly isBrowser: boolean
  /** The connection presented a client certificate. It is not checked here (R096). */
  readonly hasCertificate: boolean
}

export type StartedLogin =
  | {
      readonly next: 'login'
      /** D-6: the requested method; otherwise it depends on whether a certificate was presented. */
      readonly method: PrimaryMethod
      readonly authRequestId: AuthRequestId
      readonly key: AuthRequestKey
      /** Set when the login began in a browser. */
      readonly cookie: string | undefined
    }
  | { readonly next: 'answer'; readonly answer: ClientAnswer }

export type StartPorts = RouterCallbackPorts &
  Pick<LoginPorts, 'clientId' | 'otherClientIds' | 'vault' | 'random' | 'clock'>

/** Throws INVALID_CLIENT, INVALID_REDIRECT_URI. */
export function startLogin(
  ports: StartPorts,
  { issuer, allowedRedirects, parameters, isBrowser, hasCertificate }: AuthorizationCall,
): StartedLogin {
  const [clientId, ...otherIds] = parameters.get('client_id') ?? []
  if (otherIds.length > 0 || !isKnownClient(ports, clientId)) throw new Failure('INVALID_CLIENT')
  const [redirect, ...others] = parameters.get('redirect_uri') ?? []
  const redirectUri =
    redirect === undefined || others.length > 0
      ? undefined
      : verifyRedirect(ports, redirect, allowedRedirects)
  if (redirectUri === undefined) throw new Failure('INVALID_REDIRECT_URI')

  const read = readAsk({ clientId, redirectUri, issuer }, parameters)
  const states = parameters.get('state') ?? []
  const state = states.length === 1 ? states[0] : undefined
  const responseMode = readResponseMode(parameters) ?? 'query'
  const refuse = (refusal: Refusal) =>
    refusalAnswer({ redirectUri, issuer, responseMode, state }, refusal)
  if (read.outcome === 'refused') return { next: 'answer', answer: refuse(read.refusal) }

  const begun = beginLogin(ports, read.ask, { isBrowser })
  if (begun === undefined) {
    const description = 'the parameters are too long; shorten state, nonce or redirect_uri'
    return { next: 'answer', answer: refuse({ error: 'invalid_request', description }) }
  }
  const method = read.method ?? (hasCertificate ? 'cert' : 'password')
  return { next: 'login', method, ...begun }
}

/** Seals a new auth request. Returns undefined if the request is too long for an id. */
export function beginLogin(
  { vault, random, clock }: Pick<LoginPorts, 'vault' | 'random' | 'clock'>,
  ask: ClientAsk,
  { isBrowser }: Pick<AuthorizationCall, 'isBrowser'>,
): Pick<Extract<StartedLogin, { next: 'login' }>, 'authRequestId' | 'key' | 'cookie'> | undefined {
  const browser = isBrowser ? bindBrowser(vault, random) : undefined
  const request: AwaitingPrimary = {
    state: 'awaiting-primary',
    key: base64url(random.bytes(KEY_BYTES)) as AuthRequestKey,
    ask,
    browser: browser?.hash,
    expiresAt: plus(clock.now(), AUTH_REQUEST_LIFE),
  }
  const authRequestId = sealRequest(vault, request)
  return authRequestId && { authRequestId, key: request.key, cookie: browser?.cookie }
}
