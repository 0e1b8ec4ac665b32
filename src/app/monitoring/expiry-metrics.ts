/**
 * The seconds that are left of everything that ends by itself: D-367. Negative once it has ended. Names are of this
 * installation and bounded; enrolled certificates, of which there may be any number, have the next end and two counts.
 */
import type { Clock } from '../../base/time/clock.ts'
import { type Duration, days, seconds } from '../../base/time/duration.ts'
import { atMostEvery } from '../../base/time/rarely.ts'
import { allExpiring, countEnrolledEnds, type Expiring } from '../../domain/overview/expiry.ts'
import type { Metrics } from '../../telemetry/metrics.ts'

export type ExpiryPorts = Parameters<typeof allExpiring>[0]

const READ: Duration = seconds(60)
const TIME_LIMIT: Duration = seconds(2)
/** Of each kind, the next to end: an installation with more CAs than this is still bounded. */
const MOST_SERIES = 50

const FAMILIES: Readonly<Record<Expiring['kind'], readonly [name: string, help: string]>> = {
  'own-ca': ['latchkey_own_ca_expiry_seconds', 'Seconds until a CA of our own PKI expires.'],
  'server-certificate': [
    'latchkey_server_certificate_expiry_seconds',
    'Seconds until the certificate of a listener expires.',
  ],
  'signing-key': [
    'latchkey_signing_key_expiry_seconds',
    'Seconds until a signing key is replaced by schedule or, after that, no longer published.',
  ],
  'third-party-ca': [
    'latchkey_third_party_ca_expiry_seconds',
    'Seconds until the certificate of a third-party CA expires.',
  ],
  'signer-certificate': [
    'latchkey_signer_certificate_expiry_seconds',
    'Seconds until the certificate of an external JWT signer expires.',
  ],
  'enrolled-certificate': [
    'latchkey_enrolled_certificate_expiry_seconds',
    'Seconds until the next enrolled certificate expires.',
  ],
}

const WITHIN = { '7d': days(7), '30d': days(30) } as const

export function addExpiry(metrics: Metrics, ports: ExpiryPorts, clock: Clock): void {
  const limits = { interval: READ, timeLimit: TIME_LIMIT, clock }
  const list = atMostEvery(limits, () => allExpiring(ports))
  for (const [kind, [name, help]] of Object.entries(FAMILIES)) {
    metrics.read({ name, help, type: 'gauge', over: 'min' }, async () => {
      const now = clock.now()
      const own = (await list()).filter((one) => one.kind === kind)
      if (kind === 'enrolled-certificate') {
        const next = own.find(({ endsAt }) => endsAt > now)
        return next === undefined ? [] : [{ value: (next.endsAt - now) / 1e3 }]
      }
      return own.slice(0, MOST_SERIES).map(({ name: named, endsAt }) => ({
        labels: { name: named },
        value: (endsAt - now) / 1e3,
      }))
    })
  }
  const counts = atMostEvery(limits, async () =>
    Promise.all(
      Object.entries(WITHIN).map(async ([within, duration]) => ({
        labels: { within },
        value: await countEnrolledEnds(ports, duration),
      })),
    ),
  )
  metrics.read(
    {
      name: 'latchkey_enrolled_certificates_expiring',
      help: 'Enrolled certificates that expire within 7 and within 30 days.',
      type: 'gauge',
      over: 'max',
    },
    counts,
  )
}
