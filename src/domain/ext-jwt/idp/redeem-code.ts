/**
 * Redeems the code that a user brought back from an IdP for an external token: RFC 6749 §4.1.3, RFC 7636 §4.5, OIDC
 * Core §3.1.3. The token comes over our own connection to the IdP and never reaches the browser; it is verified like
 * any other (verify.ts).
 */
import { decodeJwt } from 'jose'
import { isJsonObject, type JsonObject } from '../../../base/json.ts'
import { attempt } from '../../../base/node/attempt.ts'
import { Secret } from '../../../base/secrets/secret.ts'
import { equalInConstantTime } from '../../../base/secrets/vault.ts'
import type { Instant } from '../../../base/time/instant.ts'
import type { ExternalJwtPorts, PostForm } from '../ports.ts'
import type { ExternalJwtSigner } from '../signer.ts'
import { ageFault } from '../verify.ts'

export interface Redemption {
  readonly signer: Pick<ExternalJwtSigner, 'issuer' | 'targetToken'> & { readonly clientId: string }
  readonly tokenEndpoint: string
  readonly code: string
  readonly redirectUri: string
  readonly verifier: string
  readonly nonce: string
  /**
   * D-183, D-241: the ID token must show that the user authenticated since then. Undefined if any time is acceptable.
   */
  readonly since: Instant | undefined
}

export type Redeemed =
  | { readonly token: Secret }
  /** `unreachable`: the IdP did not answer correctly; retrying may help. `why` contains nothing of the answer. */
  | { readonly fault: 'unreachable' | 'refused'; readonly why: string }

/** RFC 6749 §5.2. Of the IdP's error texts, only these codes are repeated. */
const TOKEN_ERRORS = [
  'invalid_request',
  'invalid_client',
  'invalid_grant',
  'unauthorized_client',
  'unsupported_grant_type',
  'invalid_scope',
]

export async function redeemCode(
  { postForm, clock }: Pick<ExternalJwtPorts, 'postForm' | 'clock'>,
  { signer, tokenEndpoint, code, redirectUri, verifier, nonce, since }: Redemption,
): Promise<Redeemed> {
  let answer: Awaited<ReturnType<PostForm>>
  try {
    answer = await postForm(tokenEndpoint, {
      grant_type: 'authorization_code',
      code,
      redirect_uri: redirectUri,
      client_id: signer.clientId,
      code_verifier: verifier,
    })
  } catch (error) {
    const why = error instanceof Error ? error.message : 'the token endpoint failed'
    return { fault: 'unreachable', why: `the token endpoint: ${why}` }
  }
  const { status, value } = answer
  const fields: JsonObject = isJsonObject(value) ? value : {}
  if (status !== 200) {
    const word = TOKEN_ERRORS.find((known) => known === fields['error']) ?? `status ${status}`
    return refused(`the token endpoint answered ${word}`)
  }
  const { id_token: idToken, access_token: accessToken } = fields
  const claims = claimsOf(idToken)
  if (idToken !== undefined && !isAnswerTo(claims?.['nonce'], nonce)) {
    return refused('the ID token is not the answer to this login (nonce)')
  }
  const fault = since && ageFault(claims?.['auth_time'], since, clock.now())
  if (fault !== undefined) return refused(`${AGE_FAULTS[fault]} (auth_time)`)
  const token = signer.targetToken === 'ID' ? idToken : accessToken
  if (typeof token !== 'string') return refused(`the answer has no ${signer.targetToken} token`)
  if (claimsOf(token)?.iss !== signer.issuer) {
    return refused(`the ${signer.targetToken} token is not a JWT of the signer`)
  }
  return { token: new Secret(token) }
}

/** A code that another user obtained has the nonce of their login, or none (OIDC Core §3.1.3.7, 11). */
function isAnswerTo(claimed: unknown, nonce: string): boolean {
  return typeof claimed === 'string' && equalInConstantTime(claimed, nonce)
}

/**
 * OIDC Core §2 requires `auth_time` if the client asked for `max_age`. If the browser removed `max_age` from the
 * address, the IdP often omits `auth_time`, so a token without it proves nothing (D-183).
 */
const AGE_FAULTS = {
  'not-a-time': 'the IdP does not say when the user authenticated',
  past: 'the user authenticated at the IdP longer ago than this login allows',
  future: 'the user authenticated at the IdP in the future',
} as const

/** Unverified. Returns undefined if the text is not a JWT. */
function claimsOf(token: unknown): ReturnType<typeof decodeJwt> | undefined {
  return typeof token === 'string' ? attempt(() => decodeJwt(token)) : undefined
}

function refused(why: string): Redeemed {
  return { fault: 'refused', why }
}
