/** What a policy currently demands, given the current state of signers and CAs: D-232. */

import { factorDemands } from '../../protocol/factors/second-factors.ts'
import type { PolicyDemands } from '../../protocol/policy-demands.ts'
import type { Ca } from '../certificates/third-party/ca.ts'
import type { ExternalJwtSigner } from '../ext-jwt/signer.ts'
import { type AuthPolicy, allowsSigner } from './auth-policy.ts'

export function demandsOf(
  policy: AuthPolicy,
  signers: readonly ExternalJwtSigner[],
  cas: readonly Ca[],
): PolicyDemands {
  const { primary, secondary } = policy
  const required = secondary.requireExtJwt
  const issuer = signers.find(({ id }) => id === required)?.issuer ?? null
  return {
    id: policy.id,
    allowsPassword: primary.updb.allowed,
    allowsCertificate: primary.cert.allowed,
    allowsPasskey: primary.passkey.allowed,
    signers: signers
      .filter(({ id, enabled }) => enabled && allowsSigner(policy, id))
      .map(({ id }) => id),
    cas: cas.filter((ca) => ca.isVerified && ca.isAuthEnabled).map(({ id }) => id),
    ...factorDemands(secondary),
    requireExtJwt: required === undefined ? null : { id: required, issuer },
    bindTokens: primary.cert.bindTokens,
    requireBoundToken: secondary.requireBoundToken,
  }
}
