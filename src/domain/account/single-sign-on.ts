/**
 * Single sign-on: a browser that signed in to the account page a short time ago proves to an application what it proved
 * there, without being asked again. D-345. Off unless `sso.duration` is set.
 *
 * What is reused is the stored session of the account page, so it ends with that session: at the sign-out, when an
 * administrator or another device ends it, when the identity is disabled. The proof is checked again as at every step of
 * a login, so a changed password or policy ends it too, and a factor that was set up since is asked for. `auth_time` and `amr` are those of the sign-in that really happened.
 */

import type { IdentityId } from '../../base/ids.ts'
import { type Duration, milliseconds } from '../../base/time/duration.ts'
import { plus } from '../../base/time/instant.ts'
import { Failure } from '../../errors/catalogue.ts'
import { unmetChoices } from '../../protocol/factors/second-factors.ts'
import type { Caller } from '../audit/events.ts'
import { isRecentLogin } from '../factors/recent-login.ts'
import { isStillRegistered } from '../login/again/check-finished.ts'
import { checkAgain } from '../login/check-again.ts'
import { findDemands, unprovenSigner } from '../login/demands.ts'
import { finishStep, type LoginStep } from '../login/finish.ts'
import { acceptPrimary, type ClientAsk } from '../login/request/auth-request.ts'
import type { OpenRequest } from '../login/request/find-request.ts'
import type { ApiSession } from '../sessions/api-session.ts'
import type { AccountPorts } from './ports.ts'
import { authenticateAccount, type ShownAccountSession } from './session.ts'

const SSO_OFF: Duration = milliseconds(0)

/** Whose session the browser has, if it may be reused for this request. */
export interface Reusable {
  readonly session: ApiSession
  readonly identityId: IdentityId
}

/** Returns the session of the account page, unless the client wants the user to be asked or the session is too old. */
export async function findReusable(
  ports: AccountPorts,
  ask: Pick<ClientAsk, 'prompt' | 'maxAge'>,
  shown: ShownAccountSession,
): Promise<Reusable | undefined> {
  const { ssoDuration, apiSessions, clock } = ports
  // OIDC Core §3.1.2.1: `prompt=login` asks again. `max_age` does too: the answer is then always fresh.
  const mustAsk = ask.prompt === 'login' || ask.maxAge !== undefined
  if (ssoDuration === SSO_OFF || mustAsk || shown.cookie === undefined) return undefined
  try {
    const { sessionId, identityId } = await authenticateAccount(ports, shown, 'full')
    const session = await apiSessions.find(sessionId)
    if (session === undefined || plus(session.primary.at, ssoDuration) <= clock.now()) {
      return undefined
    }
    return { session, identityId }
  } catch (error) {
    // The session has ended, or needs more than a cookie: the user is asked.
    if (error instanceof Failure && error.code === 'UNAUTHORIZED') return undefined
    throw error
  }
}

/** Continues a login with what the session proved. Returns undefined if it proves nothing any more. */
export async function reuseSession(
  ports: AccountPorts,
  request: OpenRequest,
  { session }: Reusable,
  caller: Caller,
): Promise<LoginStep | undefined> {
  const { primary, secondary } = session
  const owner = await checkAgain(ports, primary)
  if ('refusal' in owner) return undefined
  // A session outlives the renewal of its certificate; a login does not, and its code could not be exchanged (D-122).
  const registered = await ports.authenticators.listOf(primary.identityId)
  if (!(await isStillRegistered(ports, primary, registered, 'login'))) return undefined
  const demands = await findDemands(ports, owner.identity, owner.policy, request.ask.stepUp)
  const accepted = acceptPrimary(request, primary, undefined, request.ask.configTypes)
  const next = {
    ...accepted,
    secondary: { ...secondary, extJwt: undefined },
    reusedSession: session.id,
  }
  // A token of an IdP is proven with each login (D-14).
  if (unprovenSigner(demands, next.secondary) !== undefined) return undefined
  // D-465: an old session adds no factor, so the user signs in anew where one must be set up.
  const unmet = unmetChoices(demands.choices, (id) => secondary.factors.has(id))
  const mustAdd = unmet.some((choice) => !choice.some((id) => demands.enrolled.has(id)))
  if (mustAdd && !isRecentLogin(primary, ports.clock.now())) return undefined
  const step = await finishStep(ports, {
    previous: request,
    next,
    demands,
    caller,
    // Locked, because whatever ends the session deletes its row: if it ends at this moment, the code is not issued.
    take: async (tx) => (await tx.apiSessions.hold(session.id)) !== undefined,
  })
  return step === 'taken' ? undefined : step
}
