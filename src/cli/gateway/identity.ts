/** The files with a gateway's keys: its identity towards the controller, and the certificate of its listener. */
import {
  RefusedStart,
  readText,
  refuseWorldReadable,
} from '../../app/installation/private-files.ts'
import { isText, parseJson } from '../../base/json.ts'
import { Secret } from '../../base/secrets/secret.ts'
import type { GatewaySettings } from '../../gateway/settings/settings.ts'
import { identityFault, type RouterIdentity } from '../../router/router-identity.ts'

const DEEPEST = 4

/** Throws RefusedStart. */
export async function readIdentity(path: string): Promise<RouterIdentity> {
  await refuseWorldReadable(path)
  const text = await readText(path)
  if (text === undefined) throw new RefusedStart(`there is no identity file ${path}`)
  const value = parseJson(text, DEEPEST)?.value
  const { id, cert, key, ca } = (value ?? {}) as Readonly<Record<string, unknown>>
  if (!isText(id) || !isText(cert) || !isText(key) || !isText(ca)) {
    throw new RefusedStart(`the identity file ${path} is not JSON with the texts id, cert, key, ca`)
  }
  const identity = { id, cert, key: new Secret(key), ca }
  const fault = identityFault(identity)
  if (fault !== undefined) throw new RefusedStart(`the identity file ${path} ${fault}`)
  return identity
}

/** What clients of the listener see: `certificate` of the settings, or else the identity. Throws RefusedStart. */
export async function listenerCertificate(
  { certificate }: Pick<GatewaySettings, 'certificate'>,
  identity: RouterIdentity,
): Promise<{ readonly certificatePem: string; readonly keyPem: Secret }> {
  if (certificate === undefined) return { certificatePem: identity.cert, keyPem: identity.key }
  await refuseWorldReadable(certificate.key)
  const [cert, key] = await Promise.all([readText(certificate.cert), readText(certificate.key)])
  if (cert === undefined) throw new RefusedStart(`there is no certificate ${certificate.cert}`)
  if (key === undefined) throw new RefusedStart(`there is no key ${certificate.key}`)
  return { certificatePem: cert, keyPem: new Secret(key) }
}
