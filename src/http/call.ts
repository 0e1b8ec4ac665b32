/** What a handler gets: the parts of a request that it may read, without the framework. D-265. */
import type { FormFields } from '../base/form.ts'
import type { IdentityId } from '../base/ids.ts'
import type { Caller } from '../domain/audit/events.ts'
import type { PresentedChain } from '../domain/certificates/presented-chain.ts'
import type { CallSession } from '../domain/sessions/call-session.ts'
import type { PresentedProof } from '../domain/tokens/possession/proven-key.ts'
import type { Presentation } from '../web/login/presentation.ts'
import type { Body } from './reading/body.ts'
import type { RequestHead } from './reading/header-fields.ts'
import type { Access, AuthenticatedAccess } from './route.ts'

/** `session` exists on routes that require one. */
export interface Call<A extends Access = Access> extends RequestHead {
  readonly method: string
  readonly query: FormFields
  /** The path parameters of the route, decoded. */
  readonly path: Readonly<Record<string, string>>
  readonly body: Body
  readonly wantsHtml: boolean
  /** The language of the pages that this caller gets. */
  readonly presentation: Presentation
  /** Address, request id and user agent, for audit events. */
  readonly caller: Caller
  readonly session: A extends AuthenticatedAccess ? CallSession : undefined
  /** The certificates that the client presented on this connection, not validated yet; undefined if there were none. */
  certificateChain(): PresentedChain | undefined
  /** The DPoP proof of the request, not checked yet. */
  presentedProof(): PresentedProof
  /**
   * Adds the identity, and the session if there is one, to the log line of the request. For routes that identify the
   * caller themselves.
   */
  isFrom(who: { readonly identityId: IdentityId; readonly sessionId?: string }): void
}
