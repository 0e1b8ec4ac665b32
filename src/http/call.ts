/** What a handler gets: the parts of a request that it may read, and nothing of the framework. D-265. */
import type { FormFields } from '../base/form.ts'
import type { IdentityId } from '../base/ids.ts'
import type { Caller } from '../domain/audit/events.ts'
import type { PresentedChain } from '../domain/certificates/presented-chain.ts'
import type { CallSession } from '../domain/sessions/call-session.ts'
import type { Body } from './reading/body.ts'
import type { RequestHead } from './reading/header-fields.ts'
import type { Access, AuthenticatedAccess } from './route.ts'

/** `session` exists on routes that require one. */
export interface Call<A extends Access = Access> extends RequestHead {
  readonly method: string
  readonly query: FormFields
  /** The parts of the path that the route's url names, decoded. */
  readonly path: Readonly<Record<string, string>>
  readonly body: Body
  readonly wantsHtml: boolean
  /** Address, request id and user agent, for audit events. */
  readonly caller: Caller
  readonly session: A extends AuthenticatedAccess ? CallSession : undefined
  /** What the client presented on this connection; undefined when it presented nothing. Judged by nobody yet. */
  certificateChain(): PresentedChain | undefined
  /**
   * Names the identity, and the session if there is one, in the log line of the request. For routes that find out by
   * themselves whose request it is.
   */
  isFrom(who: { readonly identityId: IdentityId; readonly sessionId?: string }): void
}
