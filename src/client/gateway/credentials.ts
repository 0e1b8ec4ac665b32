/**
 * What a program shows to gateways for as long as it runs: the access token of its session, and a certificate of that
 * session whose key stays in memory. Both are renewed before they expire. D-424.
 */
import type { Clock } from '../../base/time/clock.ts'
import type { SessionCertificate } from '../certificates/session-certificate.ts'
import { ServerUnavailable } from '../errors.ts'
import type { Session } from '../session.ts'
import type { GatewayCredential } from './tunnel.ts'

export interface GatewayCredentials {
  /** Returns fresh ones. Throws SessionEnded, ServerUnavailable and what a session throws. */
  current(): Promise<GatewayCredential>
  /** A gateway refused the token: gets another one. Throws SessionEnded if the session has ended. */
  replaceToken(): Promise<void>
  /** A gateway refused the certificate: the next `current` gets another one. */
  dropCertificate(): void
  /** Removes the certificates from the server; connections that rely on them end. Never throws. */
  close(): Promise<void>
}

interface Held extends Pick<SessionCertificate, 'certificate' | 'cas' | 'remove'> {
  readonly keyPem: string
  readonly renewAt: number
  readonly expiresAt: number
}

/** A certificate is renewed when this part of its life is over. */
const RENEW_AFTER = 2 / 3

export function createGatewayCredentials(deps: {
  readonly session: Pick<Session, 'accessToken' | 'refresh' | 'certificate'> &
    Partial<Pick<Session, 'authorization'>>
  readonly clock: Pick<Clock, 'now'>
}): GatewayCredentials {
  const { session, clock } = deps
  /** Old ones stay: open connections rely on them. */
  const all: Held[] = []
  let held: Held | undefined
  let renewing: Promise<Held> | undefined

  function renew(): Promise<Held> {
    renewing ??= requestOne().finally(() => {
      renewing = undefined
    })
    return renewing
  }

  async function requestOne(): Promise<Held> {
    const begun = clock.now()
    const { certificate, cas, key, validTo, remove } = await session.certificate()
    const expiresAt = validTo.getTime()
    const keyPem = key.export({ type: 'pkcs8', format: 'pem' }).toString()
    const renewAt = begun + (expiresAt - begun) * RENEW_AFTER
    held = { certificate, cas, keyPem, remove, renewAt, expiresAt }
    all.push(held)
    return held
  }

  async function certificate(): Promise<Held> {
    const now = clock.now()
    if (held === undefined || now >= held.expiresAt) return renew()
    if (now < held.renewAt) return held
    const before = held
    return renew().catch((error: unknown) => {
      // The old one is still good; the next call tries again.
      if (error instanceof ServerUnavailable) return before
      throw error
    })
  }

  return {
    async current() {
      const token = await session.accessToken()
      const { certificate: cert, keyPem: key, cas } = await certificate()
      return { token, authorize: session.authorization, cert, key, cas }
    },
    replaceToken: () => session.refresh(),
    dropCertificate() {
      held = undefined
    },
    async close() {
      const live = all.splice(0).filter(({ expiresAt }) => expiresAt > clock.now())
      // A server that cannot be reached keeps them until they expire.
      await Promise.all(live.map((one) => one.remove().catch(() => undefined)))
    },
  }
}
