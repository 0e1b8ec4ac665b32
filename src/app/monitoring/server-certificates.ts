/** When the certificates of the listeners end, for the report of an instance: D-368. */
import { readCertificates, validity } from '../../base/certificates.ts'
import type { Config } from '../../config/config.ts'
import type { ServerCertificateEnd } from '../../domain/overview/instance.ts'
import { homeFiles } from '../installation/home.ts'
import { readText } from '../installation/private-files.ts'

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
