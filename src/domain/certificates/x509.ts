/**
 * Signing X.509 certificates: the only file that knows @peculiar/x509. What goes into a certificate is fixed
 * here by its profile; who gets one is decided elsewhere. RFC 5280.
 *
 * The library takes over 100 ms to load and a normal start issues nothing, so it is loaded on first use.
 */
import { generateKeyPair, type KeyObject, webcrypto, X509Certificate } from 'node:crypto'
import { promisify } from 'node:util'
import type { NonEmpty } from '../../base/non-empty.ts'
import type { Random } from '../../base/secrets/random.ts'
import type { Instant } from '../../base/time/instant.ts'
import type { ServerName } from './own/server-name.ts'

export interface CertificateTemplate {
  readonly commonName: string
  readonly publicKey: KeyObject
  readonly notBefore: Instant
  readonly notAfter: Instant
  readonly profile: CertificateProfile
}

export type CertificateProfile =
  | { readonly kind: 'authority'; readonly pathLength?: number }
  | { readonly kind: 'server'; readonly names: NonEmpty<ServerName> }

/** An authority that can sign: its certificate and the private key that belongs to it. */
export interface Issuer {
  readonly certificate: X509Certificate
  readonly privateKey: KeyObject
}

// One curve for the whole PKI: every TLS stack knows it, and it signs fastest.
const CURVE = 'P-256'
const ALGORITHM = { name: 'ECDSA', namedCurve: CURVE }

// RFC 5280 §4.1.2.2 allows 20 octets; 16 stay below that with the zero octet that a leading 1-bit adds.
const SERIAL_BYTES = 16

const generate = promisify(generateKeyPair)

export function newKeyPair(): Promise<{ publicKey: KeyObject; privateKey: KeyObject }> {
  return generate('ec', { namedCurve: CURVE })
}

/** A certificate signed by the authority's P-256 key, or by its own when `issuer` is only a key (a root). */
export async function signCertificate(
  template: CertificateTemplate,
  issuer: Issuer | Pick<Issuer, 'privateKey'>,
  random: Random,
): Promise<X509Certificate> {
  if (template.notAfter <= template.notBefore) {
    throw new Error(`a certificate for "${template.commonName}" would end before it begins`)
  }
  const library = await loadLibrary()
  // As a typed string: the library reads a plain one as an expression with escapes.
  const subject = new library.Name([{ CN: [{ utf8String: template.commonName }] }])
  const publicKey = template.publicKey.export({ format: 'der', type: 'spki' })
  const parent =
    'certificate' in issuer ? new library.X509Certificate(issuer.certificate.raw) : undefined

  const certificate = await library.X509CertificateGenerator.create(
    {
      serialNumber: Buffer.from(random.bytes(SERIAL_BYTES)).toString('hex'),
      subject,
      issuer: parent?.subjectName ?? subject,
      notBefore: new Date(template.notBefore),
      notAfter: new Date(template.notAfter),
      publicKey,
      signingKey: issuer.privateKey.toCryptoKey(ALGORITHM, false, ['sign']),
      signingAlgorithm: { name: 'ECDSA', hash: 'SHA-256' },
      extensions: [
        ...profileExtensions(library, template.profile),
        await library.SubjectKeyIdentifierExtension.create(publicKey, false, webcrypto),
        await library.AuthorityKeyIdentifierExtension.create(
          parent?.publicKey ?? publicKey,
          false,
          webcrypto,
        ),
      ],
    },
    webcrypto,
  )
  return new X509Certificate(Buffer.from(certificate.rawData))
}

type Library = typeof import('@peculiar/x509')

async function loadLibrary(): Promise<Library> {
  // The library's container reads decorator metadata while it loads: this must be there before.
  await import('reflect-metadata')
  return import('@peculiar/x509')
}

function profileExtensions(library: Library, profile: CertificateProfile) {
  const { KeyUsageFlags } = library
  if (profile.kind === 'authority') {
    return [
      new library.BasicConstraintsExtension(true, profile.pathLength, true),
      new library.KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
    ]
  }
  return [
    new library.BasicConstraintsExtension(false, undefined, true),
    new library.KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
    new library.ExtendedKeyUsageExtension([library.ExtendedKeyUsage.serverAuth]),
    new library.SubjectAlternativeNameExtension([...profile.names]),
  ]
}
