/**
 * The session of our own pages, as the browser holds it: the access token, sealed for one site, the account or the
 * console, and bound to the address where it was created (D-161, D-355). It is not stored, so a stolen database does not reveal it (R110), and it is useless as a bearer
 * token. Every request is checked like an API call, so that an ending takes effect immediately.
 *
 * Also the token of each form, which proves that the page came from us, for this session and this form (D-162).
 */

import { fromUtf8, utf8 } from '../../base/encoding.ts'
import { Secret } from '../../base/secrets/secret.ts'
import { equalInConstantTime } from '../../base/secrets/vault.ts'
import { type Duration, minutes } from '../../base/time/duration.ts'
import { plus } from '../../base/time/instant.ts'
import { Failure } from '../../errors/catalogue.ts'
import { bearerInvalid } from '../../protocol/challenge.ts'
import type { Issuer } from '../../protocol/oidc.ts'
import { authenticateCall } from '../calls/authenticate-call.ts'
import { type CallNeeds, type CallSession, findCallSession } from '../sessions/call-session.ts'
import type { AccountPorts } from './ports.ts'

/** D-162: how long a login counts as fresh. */
export const FRESH: Duration = minutes(5)

/** Our own pages, each with a login and cookies of its own. */
export type OwnSite = 'account' | 'console' | 'device'

/** What a browser sends with a request. */
export interface ShownAccountSession {
  readonly site: OwnSite
  readonly cookie: string | undefined
  readonly issuer: Issuer
  readonly certificate: () => string | undefined
}

export function sealAccountSession(
  { vault }: Pick<AccountPorts, 'vault'>,
  site: OwnSite,
  accessToken: Secret,
  issuer: Issuer,
): string {
  return vault.seal(`${site}-session`, utf8(accessToken.reveal()), issuer)
}

/** Throws UNAUTHORIZED, with the secondary challenge if that JWT is missing; NOT_READY. */
export async function authenticateAccount(
  ports: AccountPorts,
  { site, cookie, issuer, certificate }: ShownAccountSession,
  needs: CallNeeds,
): Promise<CallSession> {
  const bytes = cookie && ports.vault.open(`${site}-session`, cookie, issuer)
  const token = bytes && fromUtf8(bytes)
  if (!token) {
    const challenges = [bearerInvalid(ports.brand)]
    throw new Failure('UNAUTHORIZED', { challenges, detail: `no session of the ${site} pages` })
  }
  const bearers = [new Secret(token)]
  return authenticateCall(
    ports,
    { bearers, ztSession: undefined, certificate, isSealed: true },
    needs,
  )
}

/** Whether the login of the session is fresh. Throws UNAUTHORIZED if the session has ended meanwhile. */
export async function isFreshLogin(
  ports: Pick<AccountPorts, 'brand' | 'clock' | 'apiSessions'>,
  call: CallSession,
): Promise<boolean> {
  const session = await findCallSession(ports, ports, call)
  return plus(session.primary.at, FRESH) > ports.clock.now()
}

/** `form` names the action of the form. */
export function formToken(
  { vault }: Pick<AccountPorts, 'vault'>,
  site: OwnSite,
  { sessionId }: CallSession,
  form: string,
): string {
  return vault.hash(`${site}-form`, `${sessionId} ${form}`)
}

export function isFormToken(
  ports: Pick<AccountPorts, 'vault'>,
  site: OwnSite,
  call: CallSession,
  form: string,
  given: string,
): boolean {
  return equalInConstantTime(formToken(ports, site, call, form), given)
}
