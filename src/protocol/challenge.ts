/**
 * The `WWW-Authenticate` field of a 401: the rows of the table in SPEC 401 challenges as data, one function that writes
 * them into a header field, and one that parses such a field.
 * D-1 for the realms, D-37 for the form; RFC 9110 §11 for the grammar, RFC 6750 §3 for the attributes.
 */

import { DPOP_ALGORITHMS } from './dpop/public-jwk.ts'

export interface Challenge {
  readonly scheme: 'zt-session' | 'Bearer' | 'DPoP'
  readonly realm: string
  readonly error: Fault | DpopFault | 'insufficient_scope' | 'insufficient_user_authentication'
  readonly errorDescription: string
  /** The External JWT Signer that must be satisfied; only in external JWT realms. */
  readonly id?: string
  /** That signer's issuer: where a client finds the OIDC flow to start. */
  readonly issuer?: string
  /** The algorithms of proofs, separated by spaces; only with DPoP (RFC 9449 §7.1). */
  readonly algs?: string
  /** What is missing, by the names of the parameters. */
  readonly missing?: Readonly<Record<string, string>>
}

/** SPEC: no supported token provided. Also used if no other row fits (D-37). `zt-session` comes first. */
export function missingToken(brand: string): readonly Challenge[] {
  const fault = { error: 'missing', errorDescription: DESCRIPTIONS.missing } as const
  return [
    { ...ZT_SESSION, ...fault },
    { ...bearer(brand), ...fault },
  ]
}

/** SPEC: bearer token expired. */
export function bearerExpired(brand: string): Challenge {
  return { ...bearer(brand), error: 'expired', errorDescription: DESCRIPTIONS.expired }
}

/** SPEC: bearer token invalid. */
export function bearerInvalid(brand: string): Challenge {
  return { ...bearer(brand), ...INVALID }
}

/** D-36: the legacy token is unknown or its session has ended. */
export function ztSessionInvalid(): Challenge {
  return { ...ZT_SESSION, ...INVALID }
}

/** RFC 9449 §7.1, §9: what is wrong with the proof, not with the token. */
export type DpopFault = 'invalid_dpop_proof' | 'use_dpop_nonce'

/** D-452: for a token that is bound to a key: the words of the SPEC about the token, those of RFC 9449 about the proof. */
export function dpopChallenge(brand: string, error: 'invalid' | 'expired' | DpopFault): Challenge {
  return {
    scheme: 'DPoP',
    realm: `${brand}-oidc`,
    error,
    errorDescription: { ...DESCRIPTIONS, ...DPOP_DESCRIPTIONS }[error],
    algs: DPOP_ALGORITHMS.join(' '),
  }
}

/** RFC 6750 §3.1: the token is valid, and its identity may not do this (D-404). */
export function insufficientScope(
  brand: string,
  missing: Readonly<Record<string, string>>,
): Challenge {
  const errorDescription = 'this identity is not allowed here'
  return { ...bearer(brand), error: 'insufficient_scope', errorDescription, missing }
}

/** RFC 9470 §3: another or a more recent authentication is needed (D-404). */
export function insufficientAuthentication(
  brand: string,
  missing: Readonly<Record<string, string>>,
): Challenge {
  const errorDescription = 'a different authentication is required here'
  const error = 'insufficient_user_authentication'
  return { ...bearer(brand), error, errorDescription, missing }
}

export type Fault = 'missing' | 'invalid' | 'expired'

/** SPEC: a primary external JWT is required and absent, expired or invalid. */
export function primaryExtJwt(brand: string, fault: Fault, signer: ChallengedSigner): Challenge {
  return extJwt(`${brand}-primary-ext-jwt`, fault, signer)
}

/** SPEC: a secondary external JWT is required and absent, expired or invalid. */
export function secondaryExtJwt(brand: string, fault: Fault, signer: ChallengedSigner): Challenge {
  return extJwt(`${brand}-secondary-ext-jwt`, fault, signer)
}

export interface ChallengedSigner {
  readonly id: string
  readonly issuer: string
}

const DESCRIPTIONS: Readonly<Record<Fault, string>> = {
  missing: 'no matching token was provided',
  expired: 'token expired',
  invalid: 'token is invalid',
}

const DPOP_DESCRIPTIONS: Readonly<Record<DpopFault, string>> = {
  invalid_dpop_proof: 'the DPoP proof is missing, not valid or was used before',
  use_dpop_nonce: 'the DPoP proof must have the nonce of the DPoP-Nonce field',
}

function extJwt(realm: string, error: Fault, { id, issuer }: ChallengedSigner): Challenge {
  return { scheme: 'Bearer', realm, error, errorDescription: DESCRIPTIONS[error], id, issuer }
}

const ZT_SESSION = { scheme: 'zt-session', realm: 'zt-session' } as const
const INVALID = { error: 'invalid', errorDescription: DESCRIPTIONS.invalid } as const
const bearer = (brand: string) => ({ scheme: 'Bearer', realm: `${brand}-oidc` }) as const

/** Returns the value of the one header field (D-37). Always printable ASCII. */
export function formatChallenges(challenges: readonly Challenge[]): string {
  return challenges
    .map(({ scheme, realm, error, errorDescription, id, issuer, algs, missing }) => {
      const attributes = [
        ['realm', realm],
        ['error', error],
        ['error_description', errorDescription],
        ['id', id],
        ['issuer', issuer],
        ['algs', algs],
        ...Object.entries(missing ?? {}),
      ] as const
      const given = attributes.flatMap(([name, value]) =>
        value === undefined ? [] : [`${name}=${quotedString(value)}`],
      )
      return `${scheme} ${given.join(', ')}`
    })
    .join(', ')
}

/**
 * RFC 9110 §5.6.4. Line breaks and control characters must not reach a header (R066), and beyond ASCII its encoding is
 * undefined. So such characters are percent-encoded as UTF-8, as RFC 3987 §3.1 does for an issuer that is not yet a
 * URI.
 */
function quotedString(value: string): string {
  const printable = value.replace(/[^ -~]+/gu, (run) =>
    Buffer.from(run).toString('hex').toUpperCase().replace(/../g, '%$&'),
  )
  return `"${printable.replace(/["\\]/g, '\\$&')}"`
}

/** One challenge from any server. The caller decides which schemes and parameters it supports. */
export interface ReceivedChallenge {
  readonly scheme: string
  /** The credentials of schemes such as Negotiate; then there are no parameters. */
  readonly token68: string | undefined
  /** By lower-case name: names are case-insensitive (RFC 9110 §11.2). */
  readonly parameters: ReadonlyMap<string, string>
}

/**
 * Parses a `WWW-Authenticate` value, RFC 9110 §11.6.1, from any server; several fields joined with a comma are one
 * value. Undefined if the text breaks the grammar or repeats a parameter in one challenge.
 */
export function parseChallenges(header: string): readonly ReceivedChallenge[] | undefined {
  let at = 0
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at
    const match = pattern.exec(header)
    if (match !== null) at = pattern.lastIndex
    return match
  }

  const challenges: ReceivedChallenge[] = []
  // Where a parameter is stored; undefined if none may follow. A comma separates both parameters and challenges, so
  // only the form distinguishes a parameter from a scheme.
  let parameters: Map<string, string> | undefined

  take(LEADING_COMMAS)
  while (at < header.length) {
    let parameter = take(PARAMETER)
    if (parameter === null) {
      const scheme = take(TOKEN)?.[0]
      if (scheme === undefined) return undefined
      const hasMore = take(SPACES) !== null
      const token68 = hasMore ? take(TOKEN68)?.[0] : undefined
      const fresh = new Map<string, string>()
      challenges.push({ scheme, token68, parameters: fresh })
      parameters = hasMore && token68 === undefined ? fresh : undefined
      parameter = parameters === undefined ? null : take(PARAMETER)
    }
    if (parameter !== null) {
      const [, name = '', token, quoted = ''] = parameter
      const key = name.toLowerCase()
      // RFC 9110 §11.2: a name occurs only once in a challenge.
      if (parameters === undefined || parameters.has(key)) return undefined
      parameters.set(key, token ?? quoted.replace(/\\(.)/g, '$1'))
    }
    if (take(COMMAS_OR_END) === null) return undefined
  }
  return challenges
}

// RFC 9110 §5.6.1 lets a recipient skip empty list elements, §5.6.2 and §5.6.4 define token and quoted-string, §11.2
// token68. A token68 may look like the start of a parameter: only what follows distinguishes them.
const TOKEN_SOURCE = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
const QUOTED_SOURCE = String.raw`"((?:[\t !#-\[\]-~\x80-\xff]|\\[\t -~\x80-\xff])*)"`
const LEADING_COMMAS = /[ \t,]*/y
const COMMAS_OR_END = /[ \t]*(?:,[ \t,]*|$)/y
const SPACES = / +/y
const TOKEN = new RegExp(TOKEN_SOURCE, 'y')
const TOKEN68 = /[A-Za-z0-9._~+/-]+=*(?=[ \t]*(?:,|$))/y
const PARAMETER = new RegExp(
  String.raw`(${TOKEN_SOURCE})[ \t]*=[ \t]*(?:(${TOKEN_SOURCE})|${QUOTED_SOURCE})`,
  'y',
)
