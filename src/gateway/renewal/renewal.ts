/**
 * Renews the certificate of an enrolled gateway by itself, well before its end: D-395. It is due when a third of its
 * life is left. After a failure it tries again, with growing pauses of at most an hour.
 */
import { X509Certificate } from 'node:crypto'
import { validity } from '../../base/certificates.ts'
import type { Log } from '../../base/log.ts'
import type { Clock } from '../../base/time/clock.ts'
import { hours, milliseconds, minutes } from '../../base/time/duration.ts'
import { type Instant, plus, toRfc3339 } from '../../base/time/instant.ts'
import {
  confirmRenewed,
  type RenewedCertificate,
  renewCertificate,
} from '../../client/certificates/renew.ts'

/** What the home of a gateway stores: PEM. */
export interface StoredIdentity {
  readonly id: string
  readonly url?: string
  readonly cert: string
  readonly key: string
  readonly ca: string
  /** The controller has not confirmed the certificate yet: until then the previous one is valid too. */
  readonly isUnconfirmed?: true
}

export interface RenewalPorts {
  readonly clock: Pick<Clock, 'now'>
  readonly log: Log
  /** `https://HOST[:PORT]`. */
  readonly controller: () => string
  read(): Promise<StoredIdentity>
  /** Replaces it in one step, so that a crash leaves the old one or the new one. */
  store(identity: StoredIdentity): Promise<void>
  /** Called once it is stored and confirmed. */
  onRenewed(identity: StoredIdentity): void
}

export interface Renewal {
  /** Renews if it is due, one at a time. Never throws. Returns what happened. */
  look(): Promise<Outcome>
}

type Outcome = 'not-due' | 'waiting' | 'renewed' | 'confirmed' | 'failed'

const FIRST_PAUSE = minutes(1)
const LONGEST_PAUSE = hours(1)

export function createRenewal(ports: RenewalPorts): Renewal {
  const { clock, log } = ports
  let pause = FIRST_PAUSE
  let notBefore: Instant | undefined
  let looking: Promise<unknown> = Promise.resolve()

  async function look(): Promise<Outcome> {
    const now = clock.now()
    if (notBefore !== undefined && now < notBefore) return 'waiting'
    try {
      const identity = await ports.read()
      if (identity.isUnconfirmed !== true && !isDue(identity.cert, now)) return 'not-due'
      const outcome = await (identity.isUnconfirmed === true ? confirm(identity) : renew(identity))
      pause = FIRST_PAUSE
      notBefore = undefined
      return outcome
    } catch (error) {
      notBefore = plus(now, pause)
      pause = milliseconds(Math.min(pause * 2, LONGEST_PAUSE))
      const fields = { err: error, next: toRfc3339(notBefore) }
      log.error(fields, 'the certificate could not be renewed; it is tried again')
      return 'failed'
    }
  }

  async function renew(identity: StoredIdentity): Promise<Outcome> {
    const { isUnconfirmed: _, ...before } = identity
    const renewed = await renewCertificate(placeOf(identity), (next) =>
      ports.store({ ...before, ...next, isUnconfirmed: true }),
    )
    return settle({ ...before, ...renewed }, 'renewed')
  }

  /** After a crash between the two steps, or a lost response. */
  async function confirm(identity: StoredIdentity): Promise<Outcome> {
    const { isUnconfirmed: _, ...confirmed } = identity
    await confirmRenewed(placeOf(identity))
    return settle(confirmed, 'confirmed')
  }

  async function settle(identity: StoredIdentity, outcome: Outcome): Promise<Outcome> {
    await ports.store(identity)
    ports.onRenewed(identity)
    const { notAfter } = validity(new X509Certificate(identity.cert))
    log.info({ notAfter: toRfc3339(notAfter) }, 'the certificate was renewed')
    return outcome
  }

  const placeOf = ({ cert, key, ca }: StoredIdentity & Partial<RenewedCertificate>) => ({
    url: ports.controller(),
    ca,
    certificate: { cert, key },
  })

  return {
    look() {
      const next = looking.then(look, look)
      looking = next
      return next
    },
  }
}

/** A third of its life is left: for a year, four months. */
function isDue(certPem: string, now: Instant): boolean {
  const { notBefore, notAfter } = validity(new X509Certificate(certPem))
  return (notAfter - now) * 3 < notAfter - notBefore
}
