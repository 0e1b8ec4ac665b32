/**
 * Finds the external id of an identity in a certificate of a third-party CA, by applying the CA's `externalIdClaim` to
 * the leaf (API 4.6). Only for leaves whose path to that CA was validated.
 */
import type { ExternalIdClaim } from './ca.ts'

/** The names in a certificate that a claim can refer to, each in the order of the certificate. */
export interface CertificateNames {
  readonly commonNames: readonly string[]
  /** Subject alternative names: uniformResourceIdentifier. */
  readonly uris: readonly string[]
  /** Subject alternative names: rfc822Name. */
  readonly emails: readonly string[]
}

/** Returns undefined if no value matches, if the index is out of range, or if the value is empty. */
export function externalId(claim: ExternalIdClaim, names: CertificateNames): string | undefined {
  const matching = valuesAt(claim, names).flatMap((value) => match(claim, value))
  return pick(claim, matching) || undefined
}

function valuesAt({ location }: ExternalIdClaim, names: CertificateNames): readonly string[] {
  switch (location) {
    case 'COMMON_NAME':
      return names.commonNames
    case 'SAN_URI':
      return names.uris
    case 'SAN_EMAIL':
      return names.emails
  }
}

/** Returns the value without its prefix or suffix, or nothing if it does not match. */
function match({ matcher, matcherCriteria }: ExternalIdClaim, value: string): readonly string[] {
  switch (matcher) {
    case 'ALL':
      return [value]
    case 'PREFIX':
      return value.startsWith(matcherCriteria) ? [value.slice(matcherCriteria.length)] : []
    case 'SUFFIX':
      return value.endsWith(matcherCriteria)
        ? [value.slice(0, value.length - matcherCriteria.length)]
        : []
    case 'SCHEME':
      return schemeOf(value) === matcherCriteria.toLowerCase() ? [value] : []
  }
}

/** RFC 3986 §3.1: schemes are case-insensitive. */
function schemeOf(value: string): string | undefined {
  return /^([a-z][a-z0-9+.-]*):/i.exec(value)?.[1]?.toLowerCase()
}

function pick(
  { parser, parserCriteria, index }: ExternalIdClaim,
  values: readonly string[],
): string | undefined {
  if (parser === 'NONE') return values[index]
  // An empty separator would split between every two letters, which is never intended.
  return parserCriteria === '' ? undefined : values[0]?.split(parserCriteria)[index]
}
