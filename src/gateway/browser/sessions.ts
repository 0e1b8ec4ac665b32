/**
 * The sessions of browsers: the tokens that the gateway holds, by the hash of the cookie. D-410, D-412. They are in
 * memory and bounded. Only a finished login adds one, and one user cannot displace the sessions of others.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../../base/log.ts'
import type { Random } from '../../base/secrets/random.ts'
import { type Duration, seconds } from '../../base/time/duration.ts'
import type { Instant } from '../../base/time/instant.ts'
import { ServerUnavailable, type Session, SessionEnded } from '../../client/client.ts'
import type { Accepted, Refused, Router } from '../../router/router.ts'
import { hashOfCookie, newCookieValue, readSessionCookie } from './cookies.ts'
import type { StepUp } from './step-up.ts'
import type { Visit } from './visit.ts'

export interface BrowserSession {
  readonly origin: string
  readonly begunAt: Instant
  /** What its sign-in was asked for. */
  readonly stepUp: StepUp
  readonly session: Pick<
    Session,
    'id' | 'identityId' | 'accessToken' | 'refresh' | 'logout' | 'claims'
  >
}

export interface BrowserSessions {
  /** Returns the value of its cookie, which is new for every login (session fixation). */
  begin(browserSession: BrowserSession): string
  /** A cookie counts only at the origin where it was set. */
  find(cookie: string, origin: string): BrowserSession | undefined
  /** Checks its token, and refreshes it first if needed. A session that has ended is forgotten. */
  check(browserSession: BrowserSession): Promise<Accepted | Refused>
  /** Calls back when the session ends here, whether or not the controller knows. Keeps it alive until released. */
  hold(browserSession: BrowserSession, close: () => void): () => void
  /** Closes what is open, and drops the tokens for every other request. */
  forget(browserSession: BrowserSession): void
  /** Forgets it, and ends it at the controller. Tries again for a while if the controller cannot be reached. */
  end(browserSession: BrowserSession): Promise<void>
  /** Refreshes the sessions that only an open connection uses. Called every few seconds. */
  refreshHeld(): Promise<void>
  size(): number
}

const MOST_SESSIONS = 10_000
export const MOST_OF_ONE_IDENTITY = 50

/** Refreshes at the same time: after an outage all are due, and the controller has just started. */
const MOST_REFRESHES = 8

/** Between attempts to end a session at a controller that cannot be reached. */
const PAUSES: readonly Duration[] = [seconds(1), seconds(5), seconds(30), seconds(60)]

interface Entry {
  readonly hash: string
  readonly of: BrowserSession
  readonly held: Set<() => void>
  unwatch: (() => void) | undefined
}

export function createBrowserSessions(deps: {
  readonly router: Pick<Router, 'checkHeldToken' | 'watch'>
  readonly random: Random
  readonly log: Log
  readonly most?: number
}): BrowserSessions {
  const { router, random, log, most = MOST_SESSIONS } = deps
  /** Least recently used first. */
  const byHash = new Map<string, Entry>()
  /** In the order in which they are refreshed. */
  const entries = new Map<BrowserSession, Entry>()
  const byIdentity = new Map<string, Set<Entry>>()
  let refreshing: Promise<void> | undefined

  function watch(entry: Entry): void {
    if (entry.unwatch !== undefined) return
    let isOver = false
    const stop = router.watch({ subjects: [entry.of.session.id] }, (why) => {
      isOver = true
      entry.unwatch = undefined
      // Cut off from the controller: the session may be alive, and the next check watches again.
      if (why === 'ended') forget(entry)
    })
    if (!isOver) entry.unwatch = stop
  }

  function forget(entry: Entry): void {
    if (!entries.delete(entry.of)) return
    byHash.delete(entry.hash)
    const { identityId } = entry.of.session
    const others = byIdentity.get(identityId)
    others?.delete(entry)
    if (others?.size === 0) byIdentity.delete(identityId)
    entry.unwatch?.()
    for (const close of [...entry.held]) close()
  }

  function forgetSession(browserSession: BrowserSession): void {
    const entry = entries.get(browserSession)
    if (entry !== undefined) forget(entry)
  }

  async function end(browserSession: BrowserSession): Promise<void> {
    forgetSession(browserSession)
    const { session } = browserSession
    for (const pause of PAUSES) {
      try {
        await session.logout()
        return
      } catch (error) {
        // The tokens are gone with the entry, so nothing can use the session until it ends by itself.
        log.warn({ err: error, sessionId: session.id }, 'a session could not be ended')
        if (!(error instanceof ServerUnavailable)) return
        await sleep(pause, undefined, { ref: false })
      }
    }
  }

  function makeRoom(identityId: string): void {
    const [oldest] = byIdentity.get(identityId) ?? []
    if ((byIdentity.get(identityId)?.size ?? 0) >= MOST_OF_ONE_IDENTITY && oldest !== undefined) {
      void end(oldest.of)
    }
    const [leastUsed] = byHash.values()
    if (byHash.size >= most && leastUsed !== undefined) void end(leastUsed.of)
  }

  async function refreshAllHeld(): Promise<void> {
    const held = [...entries.values()].filter((entry) => entry.held.size > 0).values()
    await Promise.all(Array.from({ length: MOST_REFRESHES }, () => refreshInTurn(held)))
  }

  /** Takes one after the other from an iterator that several calls share. */
  async function refreshInTurn(held: Iterator<Entry>): Promise<void> {
    for (let next = held.next(); !next.done; next = held.next()) {
      const entry = next.value
      try {
        await entry.of.session.accessToken()
      } catch (error) {
        // Anything else is tried again: the end of the session comes over the feed.
        if (error instanceof SessionEnded) forget(entry)
        // The next one would probably not reach the controller either. If it would, its turn comes in the next round.
        if (error instanceof ServerUnavailable) {
          if (entries.delete(entry.of)) entries.set(entry.of, entry)
          return
        }
      }
    }
  }

  async function checkToken(entry: Entry): Promise<Accepted | Refused> {
    const { session } = entry.of
    const verdict = await router.checkHeldToken(await session.accessToken())
    const isStale =
      verdict.verdict === 'refused' &&
      (verdict.reason === 'token-invalid' || verdict.reason === 'token-expired')
    if (!isStale) return verdict
    // D-153: its key may have been withdrawn while the session is alive.
    await session.refresh()
    return router.checkHeldToken(await session.accessToken())
  }

  return {
    begin(browserSession) {
      const { identityId } = browserSession.session
      makeRoom(identityId)
      const value = newCookieValue(random)
      const hash = hashOfCookie(value)
      const entry: Entry = { hash, of: browserSession, held: new Set(), unwatch: undefined }
      byHash.set(hash, entry)
      entries.set(browserSession, entry)
      const others = byIdentity.get(identityId)
      if (others === undefined) byIdentity.set(identityId, new Set([entry]))
      else others.add(entry)
      watch(entry)
      return value
    },

    find(cookie, origin) {
      const hash = hashOfCookie(cookie)
      const entry = byHash.get(hash)
      if (entry === undefined || entry.of.origin !== origin) return undefined
      byHash.delete(hash)
      byHash.set(hash, entry)
      return entry.of
    },

    async check(browserSession) {
      const entry = entries.get(browserSession)
      if (entry === undefined) return ENDED
      watch(entry)
      try {
        const verdict = await checkToken(entry)
        if (verdict.verdict === 'refused' && verdict.reason === 'session-ended') forget(entry)
        // It may have been signed out meanwhile.
        return entries.has(browserSession) ? verdict : ENDED
      } catch (error) {
        if (error instanceof SessionEnded) {
          forget(entry)
          return ENDED
        }
        const why = error instanceof Error ? error.message : String(error)
        return { verdict: 'refused', reason: 'controller-unreachable', why }
      }
    },

    hold(browserSession, close) {
      const entry = entries.get(browserSession)
      if (entry === undefined) {
        close()
        return () => undefined
      }
      const own = () => close()
      entry.held.add(own)
      return () => void entry.held.delete(own)
    },

    forget: forgetSession,
    end,

    async refreshHeld() {
      refreshing ??= refreshAllHeld().finally(() => {
        refreshing = undefined
      })
      await refreshing
    },

    size: () => entries.size,
  }
}

const ENDED: Refused = { verdict: 'refused', reason: 'session-ended' }

/** The session of the cookie, if there is exactly one. */
export function sessionOf(
  sessions: Pick<BrowserSessions, 'find'>,
  { fields, origin }: Pick<Visit, 'fields' | 'origin'>,
): BrowserSession | undefined {
  const cookie = readSessionCookie(fields)
  return cookie.outcome === 'one' ? sessions.find(cookie.value, origin) : undefined
}
