/**
 * `grant_type=authorization_code`: exchanges a code for tokens, once. SPEC Token; D-7; RFC 6749 §4.1.3, RFC 7636 §4.6.
 *
 * The code is spent in the commit that begins the session, so that of several exchanges one gets tokens (D-282). If a
 * check fails, the code is spent before the refusal is sent: after a wrong verifier, the right one fails too. If a code
 * is presented again more than 2 s after its exchange, one of the two callers stole it, and its session ends. Another
 * client than the one that asked for the code can do neither (R031).
 */

import { type ApiSessionId, type IdentityId, newId } from '../../base/ids.ts'
import type { Secret } from '../../base/secrets/secret.ts'
import type { SecretHash } from '../../base/secrets/vault.ts'
import { type Duration, seconds } from '../../base/time/duration.ts'
import { type Instant, plus } from '../../base/time/instant.ts'
import { Failure } from '../../errors/catalogue.ts'
import { isCodeVerifier, verifierMatches } from '../../protocol/pkce.ts'
import type { RedirectPattern } from '../../protocol/redirect-uri.ts'
import type { Caller } from '../audit/events.ts'
import type { TokenRefusalReason } from '../audit/reasons.ts'
import { checkFinished } from '../login/again/check-finished.ts'
import { isKnownClient } from '../login/known-client.ts'
import type { CodeIssued } from '../login/request/auth-request.ts'
import { isWithdrawnRedirect } from '../login/request/verified-redirect.ts'
import { endSession } from '../sessions/ending/end-session.ts'
import { type FinishedAuthentication, type IssuedTokens, issueTokens } from './issue.ts'
import type { TokenPorts } from './ports.ts'
import { type ProvenKey, proofRequired } from './possession/proven-key.ts'
import { recordRefusal } from './record-refusal.ts'

/** D-7: two exchanges this close together are one client that sent the request twice, not a theft. */
const DOUBLE_ASK: Duration = seconds(2)

export interface CodeExchange {
  readonly clientId: string
  readonly code: Secret
  readonly redirectUri: string | undefined
  /** Those of the configuration; missing for our own pages. */
  readonly allowedRedirects?: readonly RedirectPattern[]
  readonly codeVerifier: Secret | undefined
  /** The key that the client proved, if it did (RFC 9449 §5). */
  readonly key?: ProvenKey | undefined
  /** The access token is never handed out: our own pages (D-455). */
  readonly isSealed?: true
  readonly caller: Caller
}

/** Throws INVALID_CLIENT, INVALID_GRANT, INVALID_DPOP_PROOF, NOT_READY. */
export async function exchangeCode(
  ports: TokenPorts,
  { clientId, code, redirectUri, codeVerifier, key, isSealed, caller, ...given }: CodeExchange,
): Promise<IssuedTokens> {
  const { vault, random, clock, authRequests } = ports
  if (!isKnownClient(ports, clientId)) throw new Failure('INVALID_CLIENT')

  const now = clock.now()
  const codeHash = vault.hash('authorization-code', code.reveal())
  const request = await authRequests.findByCode(codeHash)
  const presented: PresentedCode = { codeHash, clientId, at: now, caller }
  if (request === undefined) throw await refuseSpent(ports, presented)
  // R031, RFC 6749 §4.1.3: a code is for the client that asked for it, and another one does not spend it.
  if (clientId !== request.ask.clientId) {
    throw await refuseOtherClient(ports, request.primary.identityId, undefined, caller)
  }
  const sessionId = request.sessionId ?? newId<ApiSessionId>(random)
  const exchange = { ...presented, sessionId, key, isSealed }
  const refuseAs = (reason: TokenRefusalReason, detail: string) =>
    refuseAndSpend(ports, exchange, reason, detail)
  if (request.codeExpiresAt <= now) throw await refuseAs('code-expired', 'the code has expired')
  // R012: the same text as in the authorization request, port included.
  if (redirectUri !== request.ask.redirectUri) {
    throw await refuseAs('redirect-uri-mismatch', 'the redirect_uri does not match')
  }
  if (isWithdrawnRedirect(ports, request.ask.redirectUri, given.allowedRedirects ?? [])) {
    throw await refuseAs('redirect-uri-withdrawn', 'the router of the redirect_uri was withdrawn')
  }
  const verifier = codeVerifier?.reveal()
  if (verifier === undefined || !isCodeVerifier(verifier)) {
    throw await refuseAs('verifier-mismatch', 'the code_verifier is missing or malformed')
  }
  if (!verifierMatches(verifier, request.ask.codeChallenge)) {
    throw await refuseAs('verifier-mismatch', 'the code_verifier does not match')
  }
  // RFC 9449 §10: the code is for the key that the authorization request named.
  const { dpopKey } = request.ask
  if (dpopKey !== undefined && key?.jkt !== dpopKey) {
    throw await refuseAs('key-mismatch', 'the key is not the one of dpop_jkt')
  }
  return redeem(ports, request, exchange)
}

/** A code, and the client that presents it. The code may have been spent before. */
export interface PresentedCode {
  readonly codeHash: SecretHash
  readonly clientId: string
  /** When it is presented. */
  readonly at: Instant
  readonly caller: Caller
}

/** A presented code, and what is known about the session that it begins. */
export type Exchange = PresentedCode &
  Pick<FinishedAuthentication, 'sessionId' | 'key' | 'isSealed' | 'isDevice'>

/** The last part of every exchange: checks the login again, spends its code and begins the session. */
export async function redeem(
  ports: TokenPorts,
  request: CodeIssued,
  exchange: Exchange,
): Promise<IssuedTokens> {
  const { key, isSealed } = exchange
  // Take changes since the code was issued, or the device approved, into account: to a policy, a credential, or the end
  // of all sessions (R047).
  const owner = await checkFinished(ports, { ...request, boundKey: key?.jkt, isSealed }, 'login')
  if ('refusal' in owner) {
    // The client may try again with a proof (D-454); the code stays unspent until it expires.
    if (owner.refusal === 'token-not-bound') throw proofRequired()
    throw await refuseAndSpend(ports, exchange, owner.refusal, owner.refusal)
  }
  const issued = await issueTokens(ports, { request, ...exchange, ...owner })
  // Another exchange was faster.
  if (issued === 'spent') throw await refuseSpent(ports, exchange)
  return issued
}

/** Returns the failure to throw. It spends the code, so it can happen only once. */
async function refuseAndSpend(
  ports: TokenPorts,
  exchange: Exchange,
  reason: TokenRefusalReason,
  detail: string,
): Promise<Failure> {
  const { codeHash, at, sessionId, caller } = exchange
  const spent = await ports.authRequests.takeByCode(codeHash, { at, sessionId })
  if (spent === undefined) return refuseSpent(ports, exchange)
  const { identityId } = spent.primary
  await recordRefusal(ports, { identityId, sessionId: undefined, reason, caller })
  return refuse(detail)
}

/** For a code that is unknown, or that another exchange has spent. */
export async function refuseSpent(
  ports: TokenPorts,
  { codeHash, clientId, at: now, caller }: PresentedCode,
): Promise<Failure> {
  const earlier = await ports.authRequests.findRedeemed(codeHash)
  if (earlier === undefined) return refuse('the code is unknown')
  const { identityId } = earlier.primary
  const { at, sessionId } = earlier.redemption
  if (clientId !== earlier.ask.clientId) {
    return refuseOtherClient(ports, identityId, sessionId, caller)
  }
  if (plus(at, DOUBLE_ASK) < now) {
    await endSession(ports, { sessionId, identityId, reason: 'code-reused', caller })
  }
  await recordRefusal(ports, { identityId, sessionId, reason: 'code-spent', caller })
  return refuse('the code was spent before')
}

async function refuseOtherClient(
  ports: TokenPorts,
  identityId: IdentityId,
  sessionId: ApiSessionId | undefined,
  caller: Caller,
): Promise<Failure> {
  await recordRefusal(ports, { identityId, sessionId, reason: 'client-mismatch', caller })
  return refuse('the client is another one')
}

function refuse(detail: string): Failure {
  return new Failure('INVALID_GRANT', { detail })
}
