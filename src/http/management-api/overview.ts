/** /overview and /expiry of the management API: API 3.3, D-367 to D-370. */
import { toRfc3339 } from '../../base/time/instant.ts'
import * as contract from '../../contract/management/overview.ts'
import { EXPIRY_FIELDS } from '../../domain/lists/fields.ts'
import type { Interval } from '../../domain/overview/counted-intervals.ts'
import { type Expiring, listExpiring } from '../../domain/overview/expiry.ts'
import { type Overview, readOverview } from '../../domain/overview/overview.ts'
import type { OverviewPorts } from '../../domain/overview/ports.ts'
import { found, listed } from '../edge-api/answers.ts'
import type { Api } from '../edge-api/api.ts'

export function addOverview(api: Api, ports: OverviewPorts): void {
  api.add(
    {
      method: 'GET',
      path: '/overview',
      access: 'admin',
      summary: 'Read the overview',
      description:
        'Sign-ins and failures over time, live sessions, locks, instances, what expires soon, and the last backup.',
      answers: { 200: contract.OverviewReply },
    },
    async () => found(overviewBody(await readOverview(ports))),
  )

  api.add(
    {
      method: 'GET',
      path: '/expiry',
      access: 'admin',
      summary: 'List what expires',
      description:
        'Our CAs, the certificates of the listeners of every instance, signing keys, third-party CAs, certificates of signers, and the 1000 enrolled certificates that expire next. What has expired stays for 30 days.',
      list: EXPIRY_FIELDS,
      answers: { 200: contract.ExpiryReply },
    },
    async ({ list }) => listed(EXPIRY_FIELDS, list, await listExpiring(ports, list), expiringBody),
  )
}

function expiringBody({ endsAt, identityId, ...rest }: Expiring): contract.Expiring {
  return { ...rest, endsAt: toRfc3339(endsAt), identityId: identityId ?? null }
}

function overviewBody(overview: Overview): contract.Overview {
  const { at, hours, days, sessions, proofs, lockedPasswords, instances, expiring } = overview
  const { lastBackup } = overview
  return {
    at: toRfc3339(at),
    signIns: { hours: hours.map(intervalBody), days: days.map(intervalBody) },
    sessions,
    sessionsOverTime: {
      quarters: overview.sessionsOverTime.quarters.map((sample) => ({
        ...sample,
        at: toRfc3339(sample.at),
      })),
      days: overview.sessionsOverTime.days.map(({ from, highest }) => ({
        from: toRfc3339(from),
        highest,
      })),
    },
    proofs: proofs.map(({ amr, sessions: number }) => ({ amr: [...amr], sessions: number })),
    lockedPasswords,
    instances: instances.map(
      ({ serverCertificates: _, place: _place, steps: _steps, ...instance }) => ({
        ...instance,
        startedAt: toRfc3339(instance.startedAt),
        seenAt: toRfc3339(instance.seenAt),
        failing: [...instance.failing],
        warnings: [...instance.warnings],
      }),
    ),
    expiring: {
      rows: expiring.rows.map(expiringBody),
      enrolledCertificates: expiring.enrolledCertificates,
    },
    lastBackup:
      lastBackup === undefined
        ? null
        : { at: toRfc3339(lastBackup.at), rows: lastBackup.rows ?? null },
  }
}

function intervalBody({ from, to, ...counts }: Interval) {
  return { from: toRfc3339(from), to: toRfc3339(to), ...counts }
}
