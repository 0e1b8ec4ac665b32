/**
 * /oidc/end_session: logout by a client on its user's behalf. D-30; OIDC RP-Initiated Logout §2. Everything is checked
 * before anything ends.
 */
import type { Secret } from '../../base/secrets/secret.ts'
import { Failure } from '../../errors/catalogue.ts'
import { matchesRedirect, type RedirectPattern } from '../../protocol/redirect-uri.ts'
import type { Caller } from '../audit/events.ts'
import { isKnownClient } from '../login/known-client.ts'
import { invalid } from '../refusals.ts'
import { endSession } from '../sessions/ending/end-session.ts'
import type { EndingPorts } from '../sessions/ending/ports.ts'
import { readOwnAccessToken, readOwnIdToken } from './own-token.ts'
import type { TokenPorts } from './ports.ts'

export interface LogoutCall {
  readonly idTokenHint: Secret | undefined
  /** A bearer access token names the session too. */
  readonly bearer: Secret | undefined
  readonly clientId: string | undefined
  readonly postLogoutRedirectUri: string | undefined
  readonly allowedRedirects: readonly RedirectPattern[]
  readonly caller: Caller
}

export interface HintedEnd {
  /** Whether the hint named a session, which has now ended. Without a hint nothing ends. */
  readonly isNamed: boolean
  /** Where to redirect to, if the client asked for it. The address is an allowed one. */
  readonly location: string | undefined
}

type HintPorts = Pick<
  TokenPorts,
  | keyof EndingPorts
  | 'transaction'
  | 'clientId'
  | 'otherClientIds'
  | 'audience'
  | 'issuers'
  | 'signingKeys'
>

/**
 * Throws INVALID_CLIENT, INVALID_POST_LOGOUT_URI, INVALID_ID_TOKEN_HINT; COULD_NOT_VALIDATE if the token that names the
 * session was issued to another client.
 */
export async function endByHint(ports: HintPorts, call: LogoutCall): Promise<HintedEnd> {
  const { postLogoutRedirectUri: redirect, allowedRedirects, caller } = call
  if (call.clientId !== undefined && !isKnownClient(ports, call.clientId)) {
    throw new Failure('INVALID_CLIENT')
  }
  if (redirect !== undefined && !allowedRedirects.some((one) => matchesRedirect(one, redirect))) {
    throw new Failure('INVALID_POST_LOGOUT_URI')
  }
  const named = await namedSession(ports, call)
  // D-30, OIDC RP-Initiated Logout §2: a client ends only the sessions that began with it.
  if (named !== undefined && call.clientId !== undefined && call.clientId !== named.clientId) {
    throw invalid('client_id', 'is not the client of the token')
  }
  if (named !== undefined) {
    const { sessionId, identityId } = named
    await endSession(ports, { sessionId, identityId, reason: 'logout', caller })
  }
  return { isNamed: named !== undefined, location: redirect }
}

async function namedSession(
  ports: HintPorts,
  { idTokenHint, bearer }: Pick<LogoutCall, 'idTokenHint' | 'bearer'>,
) {
  if (idTokenHint !== undefined) {
    const hinted = await readOwnIdToken(ports, idTokenHint)
    // R049: refuse a foreign or unsigned hint; accept an expired one.
    if (hinted === undefined) throw new Failure('INVALID_ID_TOKEN_HINT')
    return hinted
  }
  return bearer && readOwnAccessToken(ports, bearer)
}
