/**
 * Logout in a browser without a hint: the user is asked, and a confirmation ends the session of this browser, which is
 * the one of the account page (D-161, D-242). The page with the question changes nothing; the confirmation proves that
 * our page sent it (D-162).
 */

import type { AccountPorts } from '../../domain/account/ports.ts'
import { formToken } from '../../domain/account/session.ts'
import { invalid } from '../../domain/refusals.ts'
import { currentIdentity, logOut } from '../../domain/sessions/current-session.ts'
import { formActionSource } from '../../protocol/redirect-uri.ts'
import { ACCOUNT_PATH } from '../../web/account/layout.ts'
import {
  notSignedInPage,
  signedOutPage,
  signOutPage,
} from '../../web/login/pages/signed-out-page.ts'
import { ACCOUNT_SITE } from '../account/account-route.ts'
import { type Answer, page, redirect, withCookies } from '../answer.ts'
import type { Call } from '../call.ts'
import type { ListenerParts } from '../listener-parts.ts'
import { type ReadEnd, withEnding } from '../own-site/ending-proof.ts'
import { refuseForeign, refuseForged } from '../own-site/form-checks.ts'
import { seeOther } from '../own-site/site.ts'
import { isUnauthorized, sessionToEnd } from '../own-site/visitor.ts'
import { bodyFields } from '../reading/body.ts'
import { PATHS } from './paths.ts'

/** Where to redirect to after a logout. */
export interface WayOn {
  readonly clientId: string | undefined
  /** Checked against the allowed addresses. */
  readonly location: string | undefined
  readonly state: string | undefined
}

const { cookies } = ACCOUNT_SITE

/** The field that marks a POST as the confirmation. */
export const CONFIRMATION = 'formToken'

/** The longest address that every browser and proxy accepts. */
const LONGEST_ADDRESS = 8_000

/** GET: shows the question, or says that there is no session. */
export async function askToSignOut(
  ports: AccountPorts,
  call: Call,
  way: WayOn,
  listener: Pick<ListenerParts, 'addresses'>,
): Promise<Answer> {
  const session = await sessionToEnd({ site: ACCOUNT_SITE, ports, listener }, call)
  if (session === undefined) return nothingToEnd(call, way)
  try {
    const { identity } = await currentIdentity(ports, session)
    const token = formToken(ports, ACCOUNT_SITE.name, session, PATHS.endSession)
    const html = signOutPage(call.presentation, {
      name: identity.name,
      action: PATHS.endSession,
      fields: { [CONFIRMATION]: token, ...parametersOf(way) },
      stay: ACCOUNT_PATH,
    })
    const formAction = way.location === undefined ? [] : [formActionSource(way.location)]
    return page(200, html, { formAction })
  } catch (error) {
    // A concurrent call ended the session.
    if (isUnauthorized(error)) return nothingToEnd(call, way)
    throw error
  }
}

/**
 * POST without the confirmation: the form of an application. Browsers send no Lax cookie with a form of another site,
 * so whether there is a session is only known after a redirect to the GET.
 */
export async function toTheQuestion(_: AccountPorts, __: Call, way: WayOn): Promise<Answer> {
  const query = Object.entries(parametersOf(way))
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('&')
  if (query.length > LONGEST_ADDRESS) throw invalid('state', 'is too long')
  return seeOther(query === '' ? PATHS.endSession : `${PATHS.endSession}?${query}`)
}

/** POST with the confirmation. */
export async function signOutOfBrowser(
  ports: AccountPorts,
  call: Call,
  way: WayOn,
  listener: Pick<ListenerParts, 'addresses'> & { readonly readEnd: ReadEnd },
): Promise<Answer> {
  refuseForeign(call, listener)
  const session = await sessionToEnd({ site: ACCOUNT_SITE, ports, listener }, call)
  if (session === undefined) return nothingToEnd(call, way)
  call.isFrom(session)
  const sent = { form: PATHS.endSession, fields: bodyFields(call.body) }
  refuseForged(ports, ACCOUNT_SITE, session, sent)
  const caller = { ...call.caller, actorId: session.identityId }
  const { ended } = await ports.collectedEndings.collect(() => logOut(ports, session, caller))
  const answer =
    goOn(way) ??
    page(200, signedOutPage(call.presentation, ACCOUNT_PATH, await listener.readEnd(ended)))
  return withCookies(withEnding(ports, answer, ended), [cookies.session.clear()])
}

/** Redirects to the requested address; undefined if there is none. */
export function goOn({ location, state }: WayOn): Answer | undefined {
  if (location === undefined) return undefined
  if (state === undefined) return redirect(location)
  const joint = location.includes('?') ? '&' : '?'
  return redirect(`${location}${joint}state=${encodeURIComponent(state)}`)
}

function nothingToEnd(call: Call, way: WayOn): Answer {
  const answer = goOn(way) ?? page(200, notSignedInPage(call.presentation, ACCOUNT_PATH))
  return withCookies(answer, cookies.session.clearIfSent(call))
}

function parametersOf({ clientId, location, state }: WayOn): Readonly<Record<string, string>> {
  return {
    ...(location === undefined ? {} : { post_logout_redirect_uri: location }),
    ...(state === undefined ? {} : { state }),
    ...(clientId === undefined ? {} : { client_id: clientId }),
  }
}
