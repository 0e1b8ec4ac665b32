/**
 * /oidc/end_session: logout by a client on its user's behalf. D-30; OIDC RP-Initiated Logout §2. Everything is checked
 * before anything ends.
 */
import type { Secret } from '../../../base/secrets/secret.ts'
import { Failure } from '../../../errors/catalogue.ts'
import { matchesRedirect, type RedirectPattern } from '../../../protocol/redirect-uri.ts'
import type { Caller } from '../../audit/events.ts'
import type { OwnTokens } from '../../tokens/own-token.ts'
import type { EndSession } from './end-session.ts'

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

export type EndByHint = (call: LogoutCall) => Promise<HintedEnd>

export function createEndByHint(deps: {
  readonly clientId: string
  readonly ownTokens: OwnTokens
  readonly endSession: EndSession
}): EndByHint {
  const { ownTokens, endSession } = deps

  return async (call) => {
    const { idTokenHint, bearer, postLogoutRedirectUri: redirect, allowedRedirects, caller } = call
    if (call.clientId !== undefined && call.clientId !== deps.clientId) {
      throw new Failure('INVALID_CLIENT')
    }
    if (redirect !== undefined && !allowedRedirects.some((one) => matchesRedirect(one, redirect))) {
      throw new Failure('INVALID_POST_LOGOUT_URI')
    }
    const named = await namedSession(idTokenHint, bearer)
    if (named !== undefined) {
      const { sessionId, identityId } = named
      await endSession({ sessionId, identityId, reason: 'logout', caller })
    }
    return { isNamed: named !== undefined, location: redirect }
  }

  async function namedSession(idTokenHint: Secret | undefined, bearer: Secret | undefined) {
    if (idTokenHint !== undefined) {
      const hinted = await ownTokens.readIdToken(idTokenHint)
      // R049: a foreign or unsigned hint is refused; an expired one is a hint all the same.
      if (hinted === undefined) throw new Failure('INVALID_ID_TOKEN_HINT')
      return hinted
    }
    return bearer && ownTokens.readAccessToken(bearer)
  }
}
