/**
 * What an authentication policy demands right now, as the router feed tells it, and whether what a session has proven is
 * enough. D-52, D-232. The controller and every router ask the same function, so that no door is more lenient than
 * another.
 */
import { AMR_TOTP, primaryMethodOf } from './amr.ts'
import type { ChallengedSigner } from './challenge.ts'

export interface PolicyDemands {
  readonly id: string
  readonly allowsPassword: boolean
  readonly allowsCertificate: boolean
  /** The signers whose JWT may begin a session: enabled ones. */
  readonly signers: readonly string[]
  /** The third-party CAs whose certificates may begin a session: verified and enabled ones. */
  readonly cas: readonly string[]
  readonly requireTotp: boolean
  /** A JWT of this signer must be beside every request; without an issuer where the signer is gone. */
  readonly requireExtJwt: { readonly id: string; readonly issuer: string | null } | null
  /** A token that is bound to a certificate counts beside that certificate alone (D-24). */
  readonly bindTokens: boolean
}

/** What a token, or a session, tells of its login. */
export interface LoginProof {
  readonly amr: readonly string[]
  /** Of a login by external JWT; tokens from before D-232 do not tell. */
  readonly signerId: string | undefined
  /** Of a login by a certificate of a third-party CA. */
  readonly caId: string | undefined
}

export type UnmetDemand =
  | 'policy-gone'
  | 'method-not-allowed'
  | 'signer-not-trusted'
  | 'ca-not-trusted'
  | 'totp-missing'

/** Undefined when the login is enough. The external JWT and the certificate of a request are judged where they are. */
export function unmetDemand(
  demands: PolicyDemands | undefined,
  { amr, signerId, caId }: LoginProof,
): UnmetDemand | undefined {
  if (demands === undefined) return 'policy-gone'
  switch (primaryMethodOf(amr)) {
    case 'password':
      if (!demands.allowsPassword) return 'method-not-allowed'
      break
    case 'cert':
      if (!demands.allowsCertificate) return 'method-not-allowed'
      if (caId !== undefined && !demands.cas.includes(caId)) return 'ca-not-trusted'
      break
    case 'ext-jwt':
      if (demands.signers.length === 0) return 'method-not-allowed'
      if (signerId !== undefined && !demands.signers.includes(signerId)) return 'signer-not-trusted'
      break
  }
  return demands.requireTotp && !amr.includes(AMR_TOTP) ? 'totp-missing' : undefined
}

/**
 * Whether a token is bound to a certificate, by a policy that says so, and another one is shown. Thumbprints as in `cnf`,
 * RFC 8705 §3.1.
 */
export function isBoundElsewhere(
  { bindTokens }: Pick<PolicyDemands, 'bindTokens'>,
  boundTo: string | undefined,
  shown: () => string | undefined,
): boolean {
  return bindTokens && boundTo !== undefined && shown() !== boundTo
}

/** The signer of the JWT that is demanded beside every request, where it can still be named. */
export function challengedSigner({ requireExtJwt }: PolicyDemands): ChallengedSigner | undefined {
  if (requireExtJwt === null || requireExtJwt.issuer === null) return undefined
  return { id: requireExtJwt.id, issuer: requireExtJwt.issuer }
}
