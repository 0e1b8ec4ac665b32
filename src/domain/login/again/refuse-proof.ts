/**
 * Decides whether what a login proved would still be accepted. Logins in progress, codes, refreshes and `zt-session`
 * calls all use this one function. Policies, signers and CAs are in memory (D-34), so it costs nothing. The identity
 * and the other factors are checked elsewhere. D-119, D-122, D-225, D-227.
 */
import type { Instant } from '../../../base/time/instant.ts'
import type { TokenRefusalReason } from '../../audit/reasons.ts'
import type { ProvenPrimary } from '../../factors/proven.ts'
import { type AuthPolicy, allowsSigner } from '../../policies/auth-policy.ts'
import type { Rules } from '../../policies/rules.ts'

export type ProofRefusal = Extract<
  TokenRefusalReason,
  | 'method-not-allowed'
  | 'signer-disabled'
  | 'ca-disabled'
  | 'certificate-untrusted'
  | 'certificate-unknown'
  | 'certificate-expired'
>

/** `primary` must be complete (`complete-proof.ts`). Returns what is wrong, or undefined. */
export function refuseProof(
  primary: ProvenPrimary,
  policy: AuthPolicy,
  rules: Pick<Rules, 'signer' | 'ca'>,
  now: Instant,
): ProofRefusal | undefined {
  const { signerId } = primary
  if (signerId !== undefined && rules.signer(signerId)?.enabled !== true) return 'signer-disabled'
  if (!allowsPrimary(policy, primary)) return 'method-not-allowed'
  return primary.method === 'cert' ? refuseCertificate(primary, policy, rules, now) : undefined
}

/** Whether a policy still allows the method of the login. */
export function allowsPrimary(policy: AuthPolicy, { method, signerId }: ProvenPrimary): boolean {
  switch (method) {
    case 'password':
      return policy.primary.updb.allowed
    case 'cert':
      return policy.primary.cert.allowed
    case 'ext-jwt':
      return signerId !== undefined && allowsSigner(policy, signerId)
    case 'passkey':
      return policy.primary.passkey.allowed
  }
}

function refuseCertificate(
  { certificate, authenticatorId }: ProvenPrimary,
  policy: AuthPolicy,
  rules: Pick<Rules, 'ca'>,
  now: Instant,
): ProofRefusal | undefined {
  if (certificate === undefined) return 'certificate-untrusted'
  const { isIssuedByNetwork, trust, notAfter } = certificate
  if (!isIssuedByNetwork) {
    const ca = trust && rules.ca(trust.caId)
    if (ca?.isVerified !== true || !ca.isAuthEnabled) return 'ca-disabled'
    // As at a login: a disabled CA on the path blocks it, a deleted one does not (D-21).
    const isClosed = trust?.throughCaIds.some((id) => {
      const through = rules.ca(id)
      return through?.isVerified === true && !through.isAuthEnabled
    })
    if (isClosed) return 'ca-disabled'
    if (trust === undefined || now > trust.casEndAt) return 'certificate-untrusted'
    // Only the claim of the CA connected the certificate with the identity.
    if (authenticatorId === undefined && ca.externalIdClaim === undefined) {
      return 'certificate-unknown'
    }
  }
  const isExpired = notAfter === undefined || now > notAfter
  return isExpired && !policy.primary.cert.allowExpiredCerts ? 'certificate-expired' : undefined
}
