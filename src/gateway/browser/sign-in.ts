/**
 * Signing in through the gateway: the way to the controller and back. D-411. Authorization code with PKCE (RFC 7636),
 * state in a sealed cookie of this browser (RFC 6749 §10.12), nonce (OIDC Core §15.5.2), iss (RFC 9207); the client
 * library checks them.
 */
import { parseForm } from '../../base/form.ts'
import type { Log } from '../../base/log.ts'
import type { Vault } from '../../base/secrets/vault.ts'
import type { Clock } from '../../base/time/clock.ts'
import {
  type Client,
  ClientError,
  RateLimited,
  Refused,
  ServerUnavailable,
  type Session,
} from '../../client/client.ts'
import { shortened } from '../passing/exchange.ts'
import { clearLogin, clearOldLogins, keepLogin, keepSession, readLoginCookie } from './cookies.ts'
import type { Exchanges } from './exchanges.ts'
import { callbackOf, openLogin, sealLogin } from './login-cookie.ts'
import { NOT_STORED, type PageReason, refusalPage } from './pages.ts'
import { refusedPage } from './refusals.ts'
import { type BrowserSession, type BrowserSessions, sessionOf } from './sessions.ts'
import type { StepUp } from './step-up.ts'
import { type BrowserAnswer, safeTarget, type Visit } from './visit.ts'

export interface SignInPorts {
  readonly client: () => Promise<Pick<Client, 'beginRedirectLogin' | 'finishRedirectLogin'>>
  readonly sessions: BrowserSessions
  readonly exchange: Exchanges
  readonly vault: Vault
  readonly clock: Pick<Clock, 'now'>
  readonly log: Log
}

/**
 * Redirects to the login. `again`: the controller asks, even if the browser is signed in there. `stepUp`: what the
 * upstream demands of the login.
 */
export async function beginSignIn(
  ports: SignInPorts,
  visit: Visit,
  wish: {
    readonly target: string | undefined
    readonly again?: boolean
    readonly stepUp?: StepUp
  },
): Promise<BrowserAnswer> {
  const { origin, fields } = visit
  const target = safeTarget(wish.target, origin)
  const { stepUp = {} } = wish
  try {
    const { url, proof } = (await ports.client()).beginRedirectLogin(callbackOf(origin))
    const to = new URL(url)
    if (wish.again === true) to.searchParams.set('prompt', 'login')
    for (const [name, value] of Object.entries(stepUp)) to.searchParams.set(name, value)
    const kept = keepLogin(proof.state, sealLogin(ports, origin, { proof, target, stepUp }))
    return {
      status: 302,
      body: '',
      fields: [
        ['location', to.href],
        ...NOT_STORED,
        kept,
        ...clearOldLogins(fields, kept[1].length),
      ],
    }
  } catch (error) {
    ports.log.warn({ requestId: visit.requestId, ...describe(error) }, 'a sign-in could not begin')
    return refusalPage(visit, 503, 'unavailable', target)
  }
}

/** What comes back from the login. */
export async function finishSignIn(ports: SignInPorts, visit: Visit): Promise<BrowserAnswer> {
  const { origin, fields } = visit
  const [, query = ''] = visit.target.split('?')
  const state = onlyOf(query, 'state') ?? ''
  const sealed = readLoginCookie(fields, state)
  const login = sealed === undefined ? undefined : openLogin(ports, origin, sealed)
  if (login === undefined) return refusalPage(visit, 400, 'sign-in-failed', '/')
  const { proof, target, stepUp } = login
  const failed = (status: number, reason: PageReason) =>
    refusalPage(visit, status, reason, target, [clearLogin(state)])

  let session: Session
  try {
    session = await ports.exchange(async () =>
      (await ports.client()).finishRedirectLogin(proof, query),
    )
  } catch (error) {
    ports.log.warn({ requestId: visit.requestId, ...describe(error) }, 'a sign-in did not finish')
    if (error instanceof ServerUnavailable || error instanceof RateLimited) {
      return failed(503, 'unavailable')
    }
    return error instanceof Refused ? failed(403, 'sign-in-refused') : failed(400, 'sign-in-failed')
  }
  const begun: BrowserSession = { origin, session, begunAt: ports.clock.now(), stepUp }
  const value = ports.sessions.begin(begun)
  // What the gateway would refuse is refused here: otherwise the browser would be sent around in a circle.
  const verdict = await ports.sessions.check(begun)
  if (verdict.verdict === 'refused') {
    void ports.sessions.end(begun)
    ports.log.warn({ requestId: visit.requestId, ...verdict }, 'a session was refused at its start')
    return refusedPage(visit, verdict, target, [clearLogin(state)])
  }
  return {
    status: 303,
    body: '',
    afterwards: () => endPrevious(ports, visit),
    fields: [['location', target], ...NOT_STORED, keepSession(value), clearLogin(state)],
  }
}

/** Any visitor can cause these lines, so they are short; only a fault of our own needs a stack trace. */
function describe(error: unknown): object {
  if (!(error instanceof ClientError)) return { err: error }
  return { code: error.code, why: shortened(error.message) }
}

/** The session that the new cookie replaces: nothing could use or end it any more. */
function endPrevious({ sessions }: SignInPorts, visit: Visit): void {
  const previous = sessionOf(sessions, visit)
  if (previous !== undefined) void sessions.end(previous)
}

export function onlyOf(query: string, name: string): string | undefined {
  const values = parseForm(query)?.get(name)
  return values?.length === 1 ? values[0] : undefined
}
