/**
 * Where in a certificate of a third-party CA the external id of its identity stands: the CA's `externalIdClaim`
 * applied to the leaf (API 4.6). Only for leaves whose path to that CA was validated.
 */
import type { ExternalIdClaim } from './ca.ts'

/** The names of a certificate that a claim can point to, each in the order of the certificate. */
export interface CertificateNames {
  readonly commonNames: readonly string[]
  /** Subject alternative names: uniformResourceIdentifier. */
  readonly uris: readonly string[]
  /** Subject alternative names: rfc822Name. */
  readonly emails: readonly string[]
}

/** Undefined when no value matches, when there is none at the index, and when it is empty. */
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

/** The value, without its prefix or suffix; none when it does not match. */
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

/** RFC 3986 §3.1: letters of a scheme have no case. */
function schemeOf(value: string): string | undefined {
  return /^([a-z][a-z0-9+.-]*):/i.exec(value)?.[1]?.toLowerCase()
}

function pick(
  { parser, parserCriteria, index }: ExternalIdClaim,
  values: readonly string[],
): string | undefined {
  if (parser === 'NONE') return values[index]
  // Between every two letters nobody means to split.
  return parserCriteria === '' ? undefined : values[0]?.split(parserCriteria)[index]
}
