/**
 * Sends the user to an IdP: D-47. Authorization code with PKCE (S256), `state` and `nonce` (RFC 9700 §2.1.1). Which IdP
 * the user was sent to, and why, is sealed into the cookie that must come back with the response.
 */
import { base64url, sha256 } from '../../../base/encoding.ts'
import type { ExternalJwtSignerId } from '../../../base/ids.ts'
import { inSeconds } from '../../../base/time/duration.ts'
import { Failure } from '../../../errors/catalogue.ts'
import { offered } from '../../ext-jwt/idp/endpoints.ts'
import { refuseStale } from '../../policies/rules.ts'
import type { LoginPorts } from '../ports.ts'
import type { ClientAsk } from '../request/auth-request.ts'
import { type OpenRequest, startAgain } from '../request/find-request.ts'
import { openKept } from './kept-primary.ts'
import { type ExternalRole, newProofs, newState, sealRoundTrip } from './round-trip.ts'

export interface Leaving {
  /** From `findRequest`, in the same call. */
  readonly request: OpenRequest
  readonly authRequestId: string
  readonly signerId: string
  readonly role: ExternalRole
  /** What the browser kept of the primary login, if anything. */
  readonly kept: string | undefined
  /** Where the IdP sends the user back to. */
  readonly redirectUri: string
}

/** Throws INVALID_AUTH_REQUEST, NOT_FOUND for a signer that users cannot be sent to, IDP_UNAVAILABLE, NOT_READY. */
export async function sendAway(
  ports: Pick<LoginPorts, 'vault' | 'random' | 'clock' | 'rules' | 'findEndpoints'>,
  { request, authRequestId, signerId, role, kept, redirectUri }: Leaving,
): Promise<{ readonly location: string; readonly cookie: string }> {
  const { vault, random, clock, rules, findEndpoints } = ports
  const { key } = request
  if (request.browser === undefined) throw startAgain('the login was not begun in a browser')
  if (role === 'secondary' && (kept === undefined || openKept(vault, kept, key) === undefined)) {
    throw startAgain('no primary factor is kept in this browser')
  }
  refuseStale(rules)
  const signer = offered(rules.signer(signerId as ExternalJwtSignerId))
  if (signer === undefined) {
    throw new Failure('NOT_FOUND', { detail: 'users cannot be sent to that signer' })
  }
  const found = await findEndpoints(signer)
  if ('why' in found) throw new Failure('IDP_UNAVAILABLE', { detail: found.why })

  const state = newState(key, random)
  const { verifier, nonce } = newProofs(random)
  const { issuer, clientId } = signer
  const proofs = { redirectUri, verifier, nonce, sentAt: clock.now() }
  const trip = { authRequestId, signerId: signer.id, issuer, role, ...proofs }
  const url = new URL(found.endpoints.authorization)
  const parameters = {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    // OIDC Core §3.1.2.1: without `openid` there is no nonce.
    scope: [...new Set(['openid', ...signer.scopes])].join(' '),
    state,
    nonce,
    code_challenge: base64url(sha256(verifier)),
    code_challenge_method: 'S256',
    ...freshness(request.ask),
  }
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  return { location: url.href, cookie: sealRoundTrip(vault, trip, state) }
}

/** D-183, D-241. With `max_age` the ID token must say when the user authenticated (OIDC Core §2, auth_time). */
function freshness({ prompt, maxAge }: ClientAsk): Readonly<Record<string, string>> {
  if (prompt !== undefined) return { prompt, max_age: '0' }
  return maxAge === undefined ? {} : { max_age: String(inSeconds(maxAge)) }
}
