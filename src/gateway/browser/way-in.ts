/**
 * Browsers at the gateway: a cookie instead of certificate and token, and a redirect or a page instead of a refusal.
 * D-410, D-411. Requests with a token are those of programs, and nothing here applies to them.
 */
import { constants } from 'node:http2'
import { isGone, isHttp2 } from '../../https-server/http2.ts'
import { missingToken } from '../../protocol/challenge.ts'
import type { Refused } from '../../router/router.ts'
import type { WayIn } from '../passing/admit.ts'
import type { Exchange } from '../passing/exchange.ts'
import { describeUnmet } from '../rules/answer-unmet.ts'
import type { UpstreamSettings } from '../settings/settings.ts'
import { clearSession, readSessionCookie } from './cookies.ts'
import { canSignIn, refusedPage } from './refusals.ts'
import { sendToBrowser, visitOf } from './send.ts'
import { type BrowserSession, type BrowserSessions, sessionOf } from './sessions.ts'
import { beginSignIn, type SignInPorts } from './sign-in.ts'
import { stepUpFor, wasInVain } from './step-up.ts'
import { type BrowserAnswer, isCrossSite, isNavigation, isOfBrowser } from './visit.ts'

export function createBrowserWay(ports: SignInPorts & { readonly brand: () => string }): WayIn {
  const { sessions, log } = ports

  return {
    async authenticate(exchange, upstream) {
      const visit = isOpen(upstream, exchange) ? visitOf(exchange) : undefined
      if (visit === undefined) return undefined
      const cookie = readSessionCookie(visit.fields)
      if (cookie.outcome === 'none') return undefined
      if (cookie.outcome === 'bad') return refused('the cookie is repeated or malformed')
      const session = sessions.find(cookie.value, visit.origin)
      if (session === undefined) return refused('no session has this cookie')
      if (isCrossSite(visit)) return refused('the request may come from another site')
      const verdict = await sessions.check(session)
      const isAccepted = verdict.verdict === 'accepted'
      if (isAccepted && !isGone(exchange.response)) holdWith(sessions, session, exchange)
      return verdict
    },

    refuse(exchange, upstream, refused) {
      const visit = isOpen(upstream, exchange) ? visitOf(exchange) : undefined
      if (visit === undefined) return false
      const { verdict: _, ...why } = refused
      exchange.note(why)
      const hasCookie = readSessionCookie(visit.fields).outcome !== 'none'
      if (hasCookie && isCrossSite(visit)) {
        exchange.answer({ code: 'CROSS_SITE' }, why)
        return true
      }
      if (isNavigation(visit)) {
        const { target } = visit
        answerLater(
          exchange,
          canSignIn(refused)
            ? beginSignIn(ports, visit, { target, stepUp: stepUpFor(upstream) ?? {} })
            : Promise.resolve(refusedPage(visit, refused, target)),
        )
        return true
      }
      if (!canSignIn(refused) || !(hasCookie || isOfBrowser(visit))) return false
      // A script of the application: it must learn that its user is not signed in, and a redirect would hide it.
      if (hasCookie) exchange.response.setHeader(...clearSession())
      const challenges = missingToken(ports.brand())
      exchange.answer({ code: 'UNAUTHORIZED', challenges }, why)
      return true
    },

    refuseUnmet(exchange, upstream, unmet) {
      const visit = isOpen(upstream, exchange) ? visitOf(exchange) : undefined
      if (visit === undefined || !isNavigation(visit)) return false
      const session = sessionOf(sessions, visit)
      const stepUp = stepUpFor(upstream, unmet)
      if (session === undefined || stepUp === undefined) return false
      if (wasInVain(session, unmet, stepUp, ports.clock.now())) return false
      exchange.note({ ...describeUnmet(unmet), stepUp })
      answerLater(exchange, beginSignIn(ports, visit, { target: visit.target, stepUp }))
      return true
    },
  }

  function answerLater(exchange: Exchange, answer: Promise<BrowserAnswer>): void {
    answer
      .then((ready) => sendToBrowser(exchange, ready))
      .catch((error: unknown) => {
        log.error({ requestId: exchange.requestId, err: error }, 'a request failed')
        exchange.socket.destroy()
      })
  }
}

/** D-410: for HTTP alone. A TCP service has no origins, so any script of a page could reach it with the cookie. */
function isOpen({ signIn, to }: UpstreamSettings, { inbound }: Exchange): boolean {
  return signIn && to.kind === 'http' && inbound.token === undefined
}

function refused(why: string): Refused {
  return { verdict: 'refused', reason: 'session-ended', why }
}

/**
 * Signing out closes what is open, even if the controller cannot be reached. D-416: with HTTP/2 only the stream, since the
 * page that says so comes over the same connection.
 */
function holdWith(
  sessions: BrowserSessions,
  session: BrowserSession,
  { socket, response, upgrade }: Exchange,
): void {
  const release = sessions.hold(session, () => {
    if (isHttp2(response)) response.stream.close(constants.NGHTTP2_CANCEL)
    else socket.destroy()
  })
  const open = upgrade === undefined ? response : socket
  open.once('close', release)
}
