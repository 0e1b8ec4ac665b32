/**
 * Asks the controller about a `zt-session` token, the one thing that a router cannot check by itself: D-36, D-42. An
 * answer is cached for a second; concurrent checks of the same token share one request.
 */
import { Agent } from 'node:https'
import { base64url, sha256 } from '../base/encoding.ts'
import { isText, parseJson } from '../base/json.ts'
import type { Clock } from '../base/time/clock.ts'
import { type Duration, milliseconds, seconds } from '../base/time/duration.ts'
import { type Instant, instant } from '../base/time/instant.ts'
import { ROUTER_CHECKS_PATH } from './paths.ts'
import type { LoginUnderPolicy } from './policy-check.ts'
import { readFacts, readRoles, type SessionFacts } from './roles.ts'
import { postToController, type RouterIdentity } from './router-identity.ts'

export interface SessionChecks {
  ask(ztSession: string): Promise<SessionAnswer>
  stop(): void
}

export interface KnownSession {
  readonly sessionId: string
  readonly identityId: string
  readonly expiresAt: Instant
  /** Undefined with an older controller, which does not send it. */
  readonly login?: LoginUnderPolicy | undefined
  readonly facts?: SessionFacts
}

export type SessionAnswer =
  | ({ readonly outcome: 'active' } & KnownSession)
  | { readonly outcome: 'inactive' }
  /** The controller gave no usable answer. Never cached. */
  | { readonly outcome: 'unknown'; readonly why: string }

/** D-42. */
const KEPT_FOR: Duration = seconds(1)
const MOST_KEPT = 10_000
/** Each check uses memory here and a place there, so the number that waits for a silent controller is limited. */
const MOST_ASKED_AT_ONCE = 256
const MOST_CONNECTIONS = 16
const PATIENCE: Duration = seconds(5)
const DEEPEST = 8

/** 256 bits in base64url are 43 characters (D-36); other texts are refused without a request. */
const TOKEN = /^[\w-]{16,256}$/

export function createSessionChecks(deps: {
  readonly controller: URL
  readonly identity: RouterIdentity
  readonly clock: Pick<Clock, 'uptime'>
  /** The limit for an answer; default: 5 seconds. */
  readonly patience?: Duration
}): SessionChecks {
  const { controller, identity, clock, patience = PATIENCE } = deps
  const url = new URL(ROUTER_CHECKS_PATH, controller)
  const agent = new Agent({ keepAlive: true, maxSockets: MOST_CONNECTIONS })
  /** By the hash of the token, oldest first. */
  const kept = new Map<string, { readonly at: Duration; readonly answer: Promise<SessionAnswer> }>()
  let asked = 0

  async function askController(ztSession: string): Promise<SessionAnswer> {
    asked += 1
    try {
      const body = JSON.stringify({ ztSession })
      return readAnswer(await postToController(url, body, { identity, agent, patience }))
    } catch (error) {
      return { outcome: 'unknown', why: error instanceof Error ? error.message : String(error) }
    } finally {
      asked -= 1
    }
  }

  return {
    async ask(ztSession) {
      if (!TOKEN.test(ztSession)) return { outcome: 'inactive' }
      const key = base64url(sha256(ztSession))
      const now = clock.uptime()
      for (const [old, { at }] of kept) {
        if (milliseconds(now - at) < KEPT_FOR && kept.size <= MOST_KEPT) break
        kept.delete(old)
      }
      const known = kept.get(key)
      if (known !== undefined) return known.answer
      if (asked >= MOST_ASKED_AT_ONCE) {
        return { outcome: 'unknown', why: 'too many checks are waiting for a response' }
      }
      const answer = askController(ztSession)
      // From when the request was sent: the controller's answer may be as old as that.
      kept.set(key, { at: now, answer })
      const { outcome } = await answer
      if (outcome === 'unknown' && kept.get(key)?.answer === answer) kept.delete(key)
      return answer
    },

    stop: () => agent.destroy(),
  }
}

function readAnswer(bytes: Uint8Array): SessionAnswer {
  const body = parseJson(bytes, DEEPEST)?.value
  const data = (body as { readonly data?: Readonly<Record<string, unknown>> } | null)?.data
  if (data?.['isActive'] === false) return { outcome: 'inactive' }
  const { isActive, sessionId, identityId, expiresAt } = data ?? {}
  const until = typeof expiresAt === 'string' ? Date.parse(expiresAt) : Number.NaN
  if (isActive !== true || !isText(sessionId) || !isText(identityId) || Number.isNaN(until)) {
    return { outcome: 'unknown', why: 'the answer of the controller cannot be read' }
  }
  const login = readLogin(data ?? {})
  const { roleAttributes, roleVersion, authenticatedAt } = data ?? {}
  const at = isText(authenticatedAt) ? Date.parse(authenticatedAt) : Number.NaN
  const since = Number.isNaN(at) ? undefined : instant(at)
  const facts = readFacts(readRoles(roleAttributes, roleVersion), since)
  return { outcome: 'active', sessionId, identityId, expiresAt: instant(until), login, ...facts }
}

function readLogin(data: Readonly<Record<string, unknown>>): LoginUnderPolicy | undefined {
  const { authPolicyId, amr, externalJwtSignerId, caId } = data
  if (!isText(authPolicyId) || !Array.isArray(amr) || !amr.every(isText)) return undefined
  const signerId = isText(externalJwtSignerId) ? externalJwtSignerId : undefined
  return { policyId: authPolicyId, amr, signerId, caId: isText(caId) ? caId : undefined }
}
