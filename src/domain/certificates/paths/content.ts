/**
 * The content of a certificate, as parsed by pkijs. Use it only for certificates that OpenSSL found to lead to a known
 * CA, so that pkijs never parses the bytes of an anonymous caller. Checks only whether the certificate can be parsed.
 */
import type { X509Certificate } from 'node:crypto'
import type {
  AltName,
  BasicConstraints,
  Certificate,
  Extension,
  ExtKeyUsage,
  NameConstraints,
} from 'pkijs'
import { validity } from '../../../base/certificates.ts'
import { BoundedMap } from '../../../base/collections/bounded-map.ts'
import { ATTRIBUTE, EXTENSION } from '../../../protocol/x509.ts'
import type { CertificateNames } from '../third-party/external-id.ts'

export type Library = typeof import('pkijs')

/** What a leaf states about itself. */
export interface LeafFacts extends CertificateNames {
  /** It has CA:TRUE, or its key may sign certificates. */
  readonly isCa: boolean
  /** Whether its key may sign a handshake (RFC 5280 §4.2.1.3). */
  readonly maySign: boolean
}

/** The extensions that the engine or this project handles. Any other critical extension is refused (RFC 5280 §4.2). */
const UNDERSTOOD: ReadonlySet<string> = new Set([
  EXTENSION.keyUsage,
  EXTENSION.subjectAltName,
  EXTENSION.basicConstraints,
  EXTENSION.nameConstraints,
  EXTENSION.extendedKeyUsage,
  EXTENSION.certificatePolicies,
  EXTENSION.policyMappings,
  EXTENSION.policyConstraints,
  EXTENSION.inhibitAnyPolicy,
])

const alreadyRead = new WeakMap<X509Certificate, Certificate | string>()

/**
 * Returns the certificate, or a short description of what is wrong with it. Each is parsed once and cached while it is
 * referenced: a CA for as long as it is registered, a client's certificate for all the paths it is on. The engine does
 * not modify it.
 */
export function readContent(library: Library, original: X509Certificate): Certificate | string {
  const content = alreadyRead.get(original) ?? readNow(library, original)
  alreadyRead.set(original, content)
  return content
}

/** A parsed certificate takes some tens of kilobytes; these are the few CAs between leaves and trust anchors. */
const MOST_ISSUERS = 64

const issuersRead = new BoundedMap<string, Certificate | string>(MOST_ISSUERS)

/** The same for a CA of a path. Every client sends a copy of it, so it is recognized by its fingerprint (D-283). */
export function readIssuer(library: Library, original: X509Certificate): Certificate | string {
  const { fingerprint256 } = original
  const content = issuersRead.get(fingerprint256) ?? readContent(library, original)
  issuersRead.set(fingerprint256, content)
  return content
}

function readNow(library: Library, original: X509Certificate): Certificate | string {
  let certificate: Certificate
  try {
    certificate = library.Certificate.fromBER(original.raw)
  } catch {
    return 'it cannot be read'
  }
  // The engine uses these dates, we use OpenSSL's. An invalid date would compare as neither before nor after anything.
  const { notBefore, notAfter } = validity(original)
  const isSame =
    certificate.notBefore.value.getTime() === notBefore &&
    certificate.notAfter.value.getTime() === notAfter
  if (!isSame) return 'its dates can be read in more than one way'
  const seen = new Set<string>()
  for (const extension of certificate.extensions ?? []) {
    const { extnID, critical } = extension
    // RFC 5280 §4.2: we might read one of two duplicates and the CA the other.
    if (seen.has(extnID)) return `it has the extension ${extnID} twice`
    seen.add(extnID)
    if (UNDERSTOOD.has(extnID)) {
      // The library returns an empty value for one it cannot parse, which would mean no constraint instead of a broken
      // one.
      if (!isReadable(extension)) return `its extension ${extnID} cannot be read`
    } else if (critical) {
      return `it has a critical extension that is not understood: ${extnID}`
    }
  }
  return certificate
}

function isReadable({ parsedValue }: Extension): boolean {
  return parsedValue !== undefined && !('parsingError' in parsedValue && parsedValue.parsingError)
}

export function factsOf(certificate: Certificate): LeafFacts {
  const usage = keyUsageOf(certificate)
  const { altNames = [] } = extensionOf<AltName>(certificate, EXTENSION.subjectAltName) ?? {}
  const ofType = (wanted: number) =>
    altNames.filter(({ type }) => type === wanted).map(({ value }) => String(value))
  return {
    isCa: basicConstraintsOf(certificate)?.cA === true || hasBit(usage, KEY_CERT_SIGN),
    maySign: usage === undefined || hasBit(usage, DIGITAL_SIGNATURE),
    commonNames: certificate.subject.typesAndValues
      .filter(({ type }) => type === ATTRIBUTE.CN)
      .map(({ value }) => String(value.valueBlock.value)),
    emails: ofType(RFC822_NAME),
    uris: ofType(URI),
  }
}

export function basicConstraintsOf(certificate: Certificate): BasicConstraints | undefined {
  return extensionOf<BasicConstraints>(certificate, EXTENSION.basicConstraints)
}

export function nameConstraintsOf(certificate: Certificate): NameConstraints | undefined {
  return extensionOf<NameConstraints>(certificate, EXTENSION.nameConstraints)
}

/** Extended key usages; undefined without the extension, which means all of them (RFC 5280 §4.2.1.12). */
export function purposesOf(certificate: Certificate): readonly string[] | undefined {
  return extensionOf<ExtKeyUsage>(certificate, EXTENSION.extendedKeyUsage)?.keyPurposes
}

/** Forms of GeneralName, RFC 5280 §4.2.1.6. */
const RFC822_NAME = 1
const URI = 6

/** Bits of the first octet, RFC 5280 §4.2.1.3: digitalSignature (0) and keyCertSign (5). */
const DIGITAL_SIGNATURE = 0b1000_0000
const KEY_CERT_SIGN = 0b0000_0100

interface BitString {
  readonly valueBlock: { readonly valueHexView: Uint8Array }
}

function keyUsageOf(certificate: Certificate): Uint8Array | undefined {
  return extensionOf<BitString>(certificate, EXTENSION.keyUsage)?.valueBlock.valueHexView
}

function hasBit(bits: Uint8Array | undefined, bit: number): boolean {
  return ((bits?.[0] ?? 0) & bit) !== 0
}

/** `readContent` has checked that these can be parsed, so the library has one type of value for each. */
function extensionOf<Value>({ extensions }: Certificate, oid: string): Value | undefined {
  return extensions?.find(({ extnID }) => extnID === oid)?.parsedValue as Value | undefined
}
