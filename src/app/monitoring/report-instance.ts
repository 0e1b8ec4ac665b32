/** How an instance reports itself to the others, for the overview: D-368. */
import { createHash } from 'node:crypto'
import { hostname } from 'node:os'
import { readCertificates, validity } from '../../base/certificates.ts'
import type { Config } from '../../config/config.ts'
import { createCheckHealth } from '../../domain/health/check-health.ts'
import { allExpiring, countEnrolledEnds } from '../../domain/overview/expiry.ts'
import type { ServerCertificateEnd } from '../../domain/overview/instance.ts'
import { createReportInstance, REPORT_EVERY } from '../../domain/overview/report-instance.ts'
import type { RepeatedWork } from '../background.ts'
import type { Core } from '../core.ts'
import { homeFiles } from '../installation/home.ts'
import { readText } from '../installation/private-files.ts'
import type { ExpirySource } from './expiry-metrics.ts'

/** What metrics say about expiry; in one process of an instance, as each value has one home (D-291). */
export function expirySource({ ports }: Pick<Core, 'ports'>): ExpirySource {
  return {
    list: () => allExpiring(ports),
    countEnrolledEnds: (within) => countEnrolledEnds(ports, within),
  }
}

export function reportInstance(core: Core): RepeatedWork {
  const { config, ports, store, build, clock } = core
  const { installation, instances } = store.aside
  const stopping = new AbortController().signal
  const round = createReportInstance(
    {
      clock,
      instances,
      checkHealth: createCheckHealth({ ...ports, installation, stopping }),
      serverCertificates: () => serverCertificates(config),
    },
    { id: idOf(config), host: hostname(), version: build.version, revision: build.revision },
  )
  return { name: 'report', every: REPORT_EVERY, round, isUrgent: true }
}

/** A home belongs to one instance at a time, and an instance keeps its home. */
function idOf({ home }: Config): string {
  const digest = createHash('sha256').update(`${hostname()}\n${home}`).digest('hex')
  return digest.slice(0, 16)
}

/** Reads the files, because with workers no process has all certificates in memory. A file that is missing is left out. */
export async function serverCertificates({
  home,
  listeners,
}: Pick<Config, 'home' | 'listeners'>): Promise<readonly ServerCertificateEnd[]> {
  const own = homeFiles(home).serverCertificate
  const ends = await Promise.all(
    listeners.map(async ({ name, identity }) => {
      const pem = await readText(identity?.cert ?? own).catch(() => undefined)
      const [certificate] = pem === undefined ? [] : readCertificates(pem)
      if (certificate === undefined) return []
      const endsAt = validity(certificate).notAfter
      return [{ listener: name, endsAt, isOwn: identity === undefined }]
    }),
  )
  return ends.flat()
}
