/**
 * The certificates that a fake server shows: one of a CA that is in date, and one of a CA that expired yesterday. Clients
 * trust both CAs, so that nothing but the date is wrong with the second.
 */
import type { X509Certificate } from 'node:crypto'
import { writeCertificates } from '../base/certificates.ts'
import { systemRandom } from '../base/secrets/random.ts'
import { type Duration, days } from '../base/time/duration.ts'
import { type Instant, minus, plus } from '../base/time/instant.ts'
import { newKeyPair, signCertificate } from '../domain/certificates/write-certificate.ts'

export interface ShownCertificate {
  /** The leaf and its CA, in PEM. */
  readonly certificatePem: string
  readonly keyPem: string
  readonly ca: X509Certificate
}

const LIFE: Duration = days(30)

/** `endsAt`: of the CA. The leaf below it is in date in any case. */
export async function makeServerCertificate(
  name: string,
  now: Instant,
  endsAt: Instant,
): Promise<ShownCertificate> {
  const random = systemRandom
  const [caKey, key] = [await newKeyPair(), await newKeyPair()]
  const ca = signCertificate(
    {
      commonName: name,
      publicKey: caKey.publicKey,
      notBefore: minus(now, LIFE),
      notAfter: endsAt,
      profile: { kind: 'authority' },
    },
    caKey,
    random,
  )
  const leaf = signCertificate(
    {
      commonName: 'localhost',
      publicKey: key.publicKey,
      notBefore: minus(now, days(1)),
      notAfter: plus(now, LIFE),
      profile: {
        kind: 'server',
        names: [
          { type: 'dns', value: 'localhost' },
          { type: 'ip', value: '127.0.0.1' },
        ],
      },
    },
    { certificate: ca, privateKey: caKey.privateKey },
    random,
  )
  return {
    certificatePem: writeCertificates([leaf, ca]),
    keyPem: key.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    ca,
  }
}
