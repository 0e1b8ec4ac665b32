/**
 * Everything that ends by itself, with its end: our CAs, the certificates of our listeners, enrolled certificates,
 * third-party CAs, certificates of signers, and signing keys. D-367. What the service renews itself is there too, so that
 * a renewal that does not happen is seen.
 */
import type { X509Certificate } from 'node:crypto'
import { fingerprintOf, readCertificates, validity } from '../../base/certificates.ts'
import { type Duration, days } from '../../base/time/duration.ts'
import { type Instant, minus, plus } from '../../base/time/instant.ts'
import type { ExpiryKind } from '../../entities/expiring.ts'
import { listInMemory } from '../lists/evaluate.ts'
import type { ListQuery } from '../lists/list-query.ts'
import type { PageOf } from '../paging.ts'
import type { OverviewPorts } from './ports.ts'

/** Members have the names of the list's fields. */
export interface Expiring {
  /** Unique together with the kind. */
  readonly id: string
  readonly kind: ExpiryKind
  readonly name: string
  readonly endsAt: Instant
  /** Who must act: the service does it itself, its operator must, or the holder of the credential. */
  readonly renewedBy: 'service' | 'operator' | 'holder'
  /** Only for an enrolled certificate. */
  readonly identityId?: string
}

type Ports = Pick<
  OverviewPorts,
  'clock' | 'rules' | 'authorities' | 'signingKeys' | 'instances' | 'statistics' | 'keyRotation'
>

/** Of enrolled certificates, the next ones; of everything else there are few. */
const MOST_ENROLLED = 1_000
/** How long what has expired is still listed. */
const STILL_LISTED: Duration = days(30)

/** The next to expire first, unless the query has another order. */
export async function listExpiring(ports: Ports, query: ListQuery): Promise<PageOf<Expiring>> {
  return listInMemory(await allExpiring(ports), query)
}

/** How many enrolled certificates expire within the time, however many there are. */
export function countEnrolledEnds(
  { clock, statistics }: Pick<Ports, 'clock' | 'statistics'>,
  within: Duration,
): Promise<number> {
  const now = clock.now()
  return statistics.countCertificateEnds(now, plus(now, within))
}

export async function allExpiring(ports: Ports): Promise<readonly Expiring[]> {
  const { clock, rules, authorities, instances, statistics } = ports
  const listedFrom = minus(clock.now(), STILL_LISTED)
  const enrolled = await statistics.listCertificateEnds(listedFrom, MOST_ENROLLED)
  const own = authorities.anchorPems.flatMap((pem) => certificatesIn(pem))
  const all: Expiring[] = [
    ...own.map((certificate) => ({
      id: fingerprintOf(certificate),
      kind: 'own-ca' as const,
      name: commonName(certificate),
      endsAt: validity(certificate).notAfter,
      renewedBy: 'service' as const,
    })),
    ...(await instances.list()).flatMap(({ id, host, serverCertificates }) =>
      serverCertificates.map(({ listener, endsAt, isOwn }) => ({
        id: `${id}:${listener}`,
        kind: 'server-certificate' as const,
        name: `${listener} on ${host}`,
        endsAt,
        renewedBy: isOwn ? ('service' as const) : ('operator' as const),
      })),
    ),
    ...keysOf(ports),
    ...rules.cas().flatMap(({ id, name, certPem }) => held('third-party-ca', id, name, certPem)),
    ...rules
      .signers()
      .flatMap(({ id, name, keys }) =>
        keys.kind === 'certificate' ? held('signer-certificate', id, name, keys.certPem) : [],
      ),
    ...enrolled.map(({ id, identity, endsAt }) => ({
      id,
      kind: 'enrolled-certificate' as const,
      name: identity.name,
      endsAt,
      renewedBy: 'holder' as const,
      identityId: identity.id,
    })),
  ]
  return all
    .filter(({ endsAt }) => endsAt >= listedFrom)
    .toSorted((a, b) => a.endsAt - b.endsAt || (a.id < b.id ? -1 : 1))
}

/** A key without a successor ends when it is replaced by schedule; one that is retiring when no token needs it. */
function keysOf({
  signingKeys,
  keyRotation,
}: Pick<Ports, 'signingKeys' | 'keyRotation'>): readonly Expiring[] {
  return signingKeys.published().map(({ key, publishedUntil }) => ({
    id: key.kid,
    kind: 'signing-key',
    name: `${key.algorithm} ${key.kid}`,
    endsAt: publishedUntil ?? plus(key.activeFrom, keyRotation),
    renewedBy: 'service',
  }))
}

function held(
  kind: 'third-party-ca' | 'signer-certificate',
  id: string,
  name: string,
  pem: string,
): readonly Expiring[] {
  const [certificate] = certificatesIn(pem)
  if (certificate === undefined) return []
  const endsAt = validity(certificate).notAfter
  return [{ id, kind, name, endsAt, renewedBy: 'operator' }]
}

function certificatesIn(pem: string): readonly X509Certificate[] {
  return readCertificates(pem).filter((one) => one !== undefined)
}

function commonName({ subject }: X509Certificate): string {
  return /^CN=(.*)$/m.exec(subject)?.[1] ?? subject.replaceAll('\n', ', ')
}
