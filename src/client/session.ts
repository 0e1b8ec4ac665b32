/**
 * A session after its login: a token that is always fresh (`session-tokens.ts`), and calls that react to the reason of
 * a refusal. SPEC 401 challenges.
 */
import { abortable } from '../base/time/abortable.ts'
import type { Clock } from '../base/time/clock.ts'
import type { ExtJwtQuery } from '../protocol/auth-query.ts'
import { ENDING_HEADER } from '../protocol/headers.ts'
import { type Call, responseOf, sendCall } from './api-call.ts'
import { faultOf } from './call-faults.ts'
import {
  type CertificateOptions,
  requestCertificate,
  type SessionCertificate,
} from './certificates/session-certificate.ts'
import { SessionEnded } from './errors.ts'
import type { IdTokenClaims, IdTokens } from './id-token.ts'
import { sessionFields } from './login/credentials.ts'
import { type Factors, obtainJwt } from './login/factors.ts'
import type { KeyTools, ProofKey } from './proof-key.ts'
import type { SavedSession } from './saved-session.ts'
import { createSessionTokens, type OnTokens } from './session-tokens.ts'
import type { TokenEndpoint } from './tokens.ts'
import { refusalIn, refusalOf } from './wire/answers.ts'
import { formRequest, type Wire, type WireAnswer } from './wire/https-wire.ts'
import type { Provider } from './wire/provider.ts'

export interface Session {
  /** The API session, `z_asid`. */
  readonly id: string
  readonly identityId: string
  /** The claims of the newest ID token, verified. */
  claims(): IdTokenClaims
  idToken(): string
  /** Returns a fresh token; refreshes it first if needed. */
  accessToken(options?: { readonly signal?: AbortSignal }): Promise<string>
  /**
   * Returns the header fields for a request that the program sends itself, to a gateway for example: the token, and the
   * proof that belongs to it if it is bound to a key. A proof is valid for one request, at once.
   */
  authorization(request: {
    readonly method: string
    readonly url: string | URL
    /** From the `DPoP-Nonce` field of an earlier response of that server. */
    readonly nonce?: string
  }): Promise<Readonly<Record<string, string>>>
  /** Gets new tokens now. */
  refresh(): Promise<void>
  /** A call with the token. An expired token is refreshed, and the call repeated once; no redirect is followed. */
  readonly call: Call
  /** Gets an API session certificate, and its key, which never leaves this process. */
  certificate(options?: CertificateOptions): Promise<SessionCertificate>
  /**
   * Ends the session on the server, even if it can no longer be refreshed. Returns the id under which the server says who
   * has confirmed the end, if it gives one.
   */
  logout(): Promise<string | undefined>
  save(): SavedSession
}

export interface SessionOptions extends Pick<Factors, 'secondaryJwt'> {
  /** Stores the tokens. Awaited before a new one is used, so that after a crash the newest ones are stored. */
  readonly onTokens?: OnTokens | undefined
}

/** A server, and the connections to it that a session uses. */
export interface Server {
  readonly place: Pick<SavedSession, 'url' | 'api' | 'ca' | 'clientId'>
  readonly api: URL
  readonly wire: Wire
  readonly provider: Provider
  readonly clientId: string
  readonly clock: Clock
  readonly tokens: TokenEndpoint
  readonly idTokens: IdTokens
  readonly keyTools: KeyTools
  /** Closes what was opened only for this session. */
  readonly close: () => void
}

export function createSession(
  deps: Server & {
    /** The key of the session, if its tokens are bound to one. */
    readonly key: ProofKey | undefined
  },
  begun: SavedSession,
  options: SessionOptions & {
    /** The one that was passed to the login. */
    readonly firstSecondaryJwt?: string | undefined
  },
): {
  readonly session: Session
  /** For a new session: passes its tokens to `onTokens`. */
  keep(): Promise<void>
} {
  const { wire, clientId, key } = deps
  const tokens = createSessionTokens(deps, begun, options.onTokens)
  let secondaryJwt = options.firstSecondaryJwt
  let asking: Promise<void> | undefined

  const call: Call = async (path, given = {}) => {
    let hasRefreshed = false
    let hasAsked = false
    for (;;) {
      const token = await abortable(tokens.fresh(), given.signal)
      const jwt = secondaryJwt
      const fields = sessionFields(token, key !== undefined, jwt)
      const answer = await sendCall(wireWith(token), deps.api, path, given, fields)
      const fault = answer.status === 401 ? faultOf(answer, clientId) : undefined
      if (fault === undefined) return responseOf(answer)
      const { accessToken, refreshToken } = tokens.newest()
      if (fault.what === 'secondary-jwt' && !hasAsked) {
        hasAsked = true
        if (jwt === secondaryJwt) await abortable(askOnce(fault.query, answer), given.signal)
      } else if (fault.what === 'token' && !hasRefreshed && refreshToken !== undefined) {
        // D-153: not only an expired token; a signing key may have been withdrawn while the session is alive.
        hasRefreshed = true
        if (token === accessToken) await abortable(tokens.refresh(), given.signal)
      } else {
        throw fault.what === 'token'
          ? new SessionEnded(fault.error, 'the session has ended; log in again', refusalIn(answer))
          : refusalOf(answer, 'the call')
      }
    }
  }

  /** Proves the key with every request that carries the token. */
  function wireWith(token: string): Pick<Wire, 'send'> {
    return key === undefined ? wire : { send: (request) => key.send(wire, request, token) }
  }

  function askOnce(query: ExtJwtQuery, answer: WireAnswer): Promise<void> {
    asking ??= obtainJwt(query, options, refusalIn(answer))
      .then((jwt) => {
        secondaryJwt = jwt
      })
      .finally(() => {
        asking = undefined
      })
    return asking
  }

  const session: Session = {
    id: begun.claims.sid,
    identityId: begun.claims.sub,
    claims: () => tokens.newest().claims,
    idToken: () => tokens.newest().idToken,
    accessToken: (given = {}) => abortable(tokens.fresh(), given.signal),
    async authorization({ method, url, nonce }) {
      const accessToken = await tokens.fresh()
      if (key === undefined) return { authorization: `Bearer ${accessToken}` }
      const dpop = key.proof({ method, url: new URL(url), accessToken, nonce })
      return { authorization: `DPoP ${accessToken}`, dpop }
    },
    refresh: tokens.refresh,
    call,
    certificate: (given) => requestCertificate(call, begun.claims.sub, given),

    async logout() {
      await tokens.settle()
      // D-30: the ID token names the session, even if everything else has expired.
      const fields = { client_id: clientId, id_token_hint: tokens.newest().idToken }
      const answer = await wire.send(formRequest(deps.provider.endSession, fields))
      if (answer.status !== 200) throw refusalOf(answer, 'the logout')
      tokens.discard()
      deps.close()
      return answer.headers.get(ENDING_HEADER) ?? undefined
    },

    save() {
      tokens.throwIfEnded()
      return tokens.newest()
    },
  }
  return { session, keep: tokens.keep }
}
