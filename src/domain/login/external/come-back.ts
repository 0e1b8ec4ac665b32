/**
 * Handles the return from an IdP: D-47, D-155, D-156. The response is accepted only once, only in the browser that was
 * sent away, and only for the same login, signer and role. The code is redeemed over our own connection, and the token
 * is then handled like a JWT that a program posts.
 */

import { networkOf } from '../../../base/network.ts'
import { Failure } from '../../../errors/catalogue.ts'
import { primaryExtJwt, secondaryExtJwt } from '../../../protocol/challenge.ts'
import type { Caller } from '../../audit/events.ts'
import type { LoginFailureReason } from '../../audit/reasons.ts'
import { record } from '../../audit/record.ts'
import { type OfferedSigner, offered } from '../../ext-jwt/idp/endpoints.ts'
import { redeemCode } from '../../ext-jwt/idp/redeem-code.ts'
import { refuseStale } from '../../policies/rules.ts'
import type { LoginStep } from '../finish.ts'
import type { LoginPorts } from '../ports.ts'
import type { AuthRequestKey } from '../request/auth-request.ts'
import type { StepOrigin } from '../request/browser-binding.ts'
import {
  EndedLogin,
  findOpenRequest,
  type OpenRequest,
  startAgain,
} from '../request/find-request.ts'
import { freshSince } from '../request/fresh-since.ts'
import { submitKept, submitPrimary } from '../submit-primary.ts'
import { type KeptPrimary, openKept } from './kept-primary.ts'
import { keyOfState, openRoundTrip, type RoundTrip } from './round-trip.ts'

/** What the browser kept of a login, by the key of its auth request. */
export interface KeptCookies {
  roundTrip(key: AuthRequestKey): string | undefined
  primary(key: AuthRequestKey): string | undefined
}

/** A login that has returned from the IdP. */
export interface Returned {
  readonly request: OpenRequest
  readonly trip: RoundTrip
  readonly state: string
  readonly signer: OfferedSigner
  /** For a second proof: the primary factor that it complements. */
  readonly kept: KeptPrimary | undefined
}

/** RFC 6749 §4.1.2, RFC 9207. */
export interface IdpAnswer {
  readonly code: string | undefined
  readonly error: string | undefined
  readonly iss: string | undefined
}

/** RFC 6749 §4.1.2.1, OIDC Core §3.1.2.6. Only these error codes of the IdP are passed on. */
const ERRORS = [
  'access_denied',
  'invalid_request',
  'unauthorized_client',
  'unsupported_response_type',
  'invalid_scope',
  'server_error',
  'temporarily_unavailable',
  'interaction_required',
  'login_required',
  'account_selection_required',
  'consent_required',
]

/** Returns the login that this return belongs to, without contacting the IdP. Throws INVALID_AUTH_REQUEST, NOT_READY. */
export async function recogniseReturn(
  ports: Pick<LoginPorts, 'vault' | 'clock' | 'authRequests' | 'rules'>,
  state: string,
  cookies: KeptCookies,
  origin: StepOrigin,
): Promise<Returned> {
  const { vault, rules } = ports
  const key = keyOfState(state)
  const cookie = key && cookies.roundTrip(key)
  if (key === undefined || cookie === undefined) {
    throw startAgain('this browser was not sent to an IdP with that state')
  }
  const trip = openRoundTrip(vault, cookie, state)
  if (trip === undefined) throw startAgain('the state is that of another round trip')
  const request = await findOpenRequest(ports, trip.authRequestId, origin)
  if (request.key !== key) throw startAgain('the state is that of another login')
  if (request.browser === undefined) throw startAgain('the login was not begun in a browser')
  // Before the code is spent, and sent to an IdP that may have been disabled (D-487).
  refuseStale(rules)
  const signer = offered(rules.signer(trip.signerId))
  // If the signer now has another issuer, that issuer would receive the code or issue the token.
  if (signer?.issuer !== trip.issuer) throw startAgain('the signer has changed meanwhile')
  const kept =
    trip.role === 'secondary' ? openKept(vault, cookies.primary(key) ?? '', key) : undefined
  if (trip.role === 'secondary' && kept === undefined) {
    throw startAgain('no primary factor is kept in this browser')
  }
  return { request, trip, state, signer, kept }
}

/** Throws UNAUTHORIZED, IDP_UNAVAILABLE, SERVER_TOO_BUSY, and what the login step throws. */
export function finishReturn(
  ports: LoginPorts,
  returned: Returned,
  answer: IdpAnswer,
  caller: Caller,
): Promise<LoginStep> {
  const network = networkOf(caller.address)
  return ports.returnTurns.run(network, () => finish(ports, returned, answer, caller))
}

async function finish(
  ports: LoginPorts,
  returned: Returned,
  { code, error, iss }: IdpAnswer,
  caller: Caller,
): Promise<LoginStep> {
  const { request, trip, state, signer, kept } = returned
  const refuse = refuseWith(ports, returned, caller)
  if (error !== undefined || code === undefined) {
    const word = ERRORS.find((known) => known === error) ?? 'an error'
    throw await refuse('idp-refused', 'missing', `the IdP answered ${word}`)
  }
  const found = await ports.findEndpoints(signer)
  if ('why' in found) throw await refuse('idp-unreachable', 'missing', found.why)
  const { endpoints } = found
  // RFC 9207 §2.4: the code of another IdP must not be sent to this one (mix-up).
  if (iss === undefined ? endpoints.alwaysNamesIssuer : iss !== signer.issuer) {
    throw await refuse('idp-refused', 'invalid', 'the answer is of another issuer (iss)')
  }
  // Spend it before anything can fail, as with our own codes (D-7): it works once, whatever the outcome.
  const spent = { hash: ports.vault.hash('idp-state', state), expiresAt: request.expiresAt }
  if (!(await ports.spentStates.insert(spent))) {
    throw new EndedLogin('the state was used before', trip.authRequestId)
  }

  const { redirectUri, verifier, nonce, sentAt } = trip
  const since = freshSince(request, sentAt)
  const proofs = { code, redirectUri, verifier, nonce, since }
  const redeemed = await redeemCode(ports, { signer, tokenEndpoint: endpoints.token, ...proofs })
  if ('fault' in redeemed) {
    throw redeemed.fault === 'unreachable'
      ? await refuse('idp-unreachable', 'missing', redeemed.why)
      : await refuse('idp-refused', 'invalid', redeemed.why)
  }
  const bearers = [redeemed.token]
  if (kept !== undefined) return submitKept(ports, { request, kept, bearers, caller })
  const login = { credential: { method: 'ext-jwt' }, configTypes: [], isReturned: true } as const
  return submitPrimary(ports, { request, ...login, bearers, caller })
}

/** Records why the return was refused, and returns the failure to throw. */
function refuseWith(ports: LoginPorts, { trip, signer, kept }: Returned, caller: Caller) {
  return async (
    reason: Extract<LoginFailureReason, 'idp-refused' | 'idp-unreachable'>,
    fault: 'missing' | 'invalid',
    why: string,
  ): Promise<Failure> => {
    await record(ports, ports, caller, {
      type: 'login.failed',
      identityId: kept?.primary.identityId,
      reason,
      details: { method: kept?.primary.method ?? 'ext-jwt', why: `${signer.name}: ${why}` },
    })
    const detail = `${reason}: ${why}`
    if (reason === 'idp-unreachable') return new Failure('IDP_UNAVAILABLE', { detail })
    const challenge = trip.role === 'secondary' ? secondaryExtJwt : primaryExtJwt
    return new Failure('UNAUTHORIZED', {
      challenges: [challenge(ports.brand, fault, signer)],
      detail,
    })
  }
}
