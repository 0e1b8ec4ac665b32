/** The files with a gateway's keys: its identity towards the controller, and the certificate of its listener. */
import { readingFile } from '../../app/installation/file-faults.ts'
import {
  RefusedStart,
  readText,
  refuseWorldReadable,
  replacePrivateFile,
} from '../../app/installation/private-files.ts'
import { isText, parseJson } from '../../base/json.ts'
import { systemRandom } from '../../base/secrets/random.ts'
import { Secret } from '../../base/secrets/secret.ts'
import type { Instant } from '../../base/time/instant.ts'
import {
  checkListener,
  type ListenerCertificate,
} from '../../gateway/listener/listener-problems.ts'
import type { StoredIdentity } from '../../gateway/renewal/renewal.ts'
import type { CertificateFiles, GatewaySettings } from '../../gateway/settings/settings.ts'
import { identityFault, type RouterIdentity } from '../../router/router-identity.ts'

const DEEPEST = 4

/** Throws RefusedStart. */
export async function readIdentity(path: string): Promise<RouterIdentity> {
  const { id, cert, key, ca } = await readStored(path)
  return { id, cert, key: new Secret(key), ca }
}

/** Returns everything that is in the file, for renewal. Throws RefusedStart. */
export async function readStored(path: string): Promise<StoredIdentity> {
  const text = await readPrivate(path)
  if (text === undefined) throw new RefusedStart(`there is no identity file ${path}`)
  const value = (parseJson(text, DEEPEST)?.value ?? {}) as Readonly<Record<string, unknown>>
  const { id, url, cert, key, ca, isUnconfirmed } = value
  if (!isText(id) || !isText(cert) || !isText(key) || !isText(ca)) {
    throw new RefusedStart(`the identity file ${path} is not JSON with the texts id, cert, key, ca`)
  }
  const fault = identityFault({ id, cert, key: new Secret(key), ca })
  if (fault !== undefined) throw new RefusedStart(`the identity file ${path} ${fault}`)
  const place = isText(url) ? { url } : {}
  return { id, ...place, cert, key, ca, ...(isUnconfirmed === true ? { isUnconfirmed } : {}) }
}

/** In one step: after a crash the file is the old one or the new one. */
export function writeStored(path: string, identity: StoredIdentity): Promise<void> {
  const text = `${JSON.stringify(identity, undefined, 2)}\n`
  return replacePrivateFile(path, text, { random: systemRandom })
}

export interface Listener extends ListenerCertificate {
  readonly notAfter: Instant
  /** Warnings that prevent nothing. */
  readonly notes: readonly string[]
}

/**
 * What clients of the listener see: `certificate` of the settings, or else the identity. Throws RefusedStart if browsers
 * or clients could not accept it (D-394).
 */
export async function readListener(
  { certificate, upstreams }: Pick<GatewaySettings, 'certificate' | 'upstreams'>,
  identity: RouterIdentity,
  now: Instant,
): Promise<Listener> {
  const given =
    certificate === undefined
      ? { certificatePem: identity.cert, keyPem: identity.key }
      : await readFiles(certificate)
  const checked = checkListener(given, upstreams, now)
  if ('problems' in checked) {
    const where = certificate === undefined ? 'the certificate of its identity' : certificate.cert
    const remedy =
      certificate === undefined
        ? '; enroll again ("latchkey re-enroll", then --enroll), or give the listener a certificate of its own'
        : ''
    throw new RefusedStart(
      `the listener cannot use ${where}: ${checked.problems.join('; ')}${remedy}`,
    )
  }
  return { ...checked.certificate, notAfter: checked.notAfter, notes: checked.notes }
}

/** Returns undefined if there is no such file. Throws RefusedStart if it cannot be read, or if all users can read it. */
function readPrivate(path: string): Promise<string | undefined> {
  return readingFile(path, async () => {
    await refuseWorldReadable(path)
    return readText(path)
  })
}

async function readFiles({ cert, key }: CertificateFiles) {
  const keyPem = await readPrivate(key)
  const certificatePem = await readingFile(cert, () => readText(cert))
  if (certificatePem === undefined) throw new RefusedStart(`there is no certificate ${cert}`)
  if (keyPem === undefined) throw new RefusedStart(`there is no key ${key}`)
  return { certificatePem, keyPem: new Secret(keyPem) }
}
