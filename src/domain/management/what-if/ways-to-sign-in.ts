/**
 * The ways in which an identity could sign in with what is registered, as proofs that `refuseProof` judges: the same
 * function as for logins and refreshes. D-365. Whether the user knows the password or holds the key cannot be seen here.
 */
import { readCertificates, validity } from '../../../base/certificates.ts'
import type { Instant } from '../../../base/time/instant.ts'
import type { Ca } from '../../certificates/third-party/ca.ts'
import { type ProvenPrimary, proofBy } from '../../factors/proven.ts'
import type { Authenticator } from '../../identities/authenticator.ts'
import type { Identity } from '../../identities/identity.ts'
import { completeProof } from '../../login/again/complete-proof.ts'
import type { Rules } from '../../policies/rules.ts'

/** The claims of CAs, read once for any number of identities. */
export interface ClaimingCa {
  readonly ca: Ca
  readonly endsAt: Instant
}

export function claimingCas(rules: Pick<Rules, 'cas'>): readonly ClaimingCa[] {
  return rules.cas().flatMap((ca) => {
    const [certificate] = ca.externalIdClaim === undefined ? [] : readCertificates(ca.certPem)
    return certificate === undefined ? [] : [{ ca, endsAt: validity(certificate).notAfter }]
  })
}

export async function waysToSignIn(
  identity: Identity,
  { authenticators, hasPasskey }: Registered,
  { rules, cas, now }: Surroundings,
): Promise<readonly ProvenPrimary[]> {
  const base = proofBy(identity, now)
  const find = async (id: string) => authenticators.find((one) => one.id === id)
  const registered = await Promise.all(
    authenticators.map((authenticator) => {
      const { id, credentialVersion } = authenticator
      const proof = { ...base, authenticatorId: id, credentialVersion }
      if (authenticator.method === 'updb') return { ...proof, method: 'password' as const }
      const { fingerprint, isIssuedByNetwork } = authenticator
      const certificate = {
        fingerprint,
        isIssuedByNetwork,
        notAfter: undefined,
        trust: undefined,
      }
      return completeProof({ ...proof, method: 'cert', certificate }, { find }, rules)
    }),
  )
  const isNamed = identity.externalId !== undefined
  const bySigner = rules
    .signers()
    .filter(({ useExternalId }) => isNamed || !useExternalId)
    .map(({ id }) => ({ ...base, method: 'ext-jwt' as const, signerId: id }))
  const byClaim = (isNamed ? cas : []).map(({ ca, endsAt }) => ({
    ...base,
    method: 'cert' as const,
    // A certificate that this CA would issue: it expires with the CA at the latest.
    certificate: {
      fingerprint: '',
      isIssuedByNetwork: false,
      notAfter: endsAt,
      trust: { caId: ca.id, throughCaIds: [], casEndAt: endsAt },
    },
  }))
  const byPasskey = hasPasskey ? [{ ...base, method: 'passkey' as const }] : []
  return [...registered, ...byPasskey, ...bySigner, ...byClaim]
}

/** What an identity could prove. */
export interface Registered {
  readonly authenticators: readonly Authenticator[]
  readonly hasPasskey: boolean
}

export interface Surroundings {
  readonly rules: Pick<Rules, 'signers' | 'cas'>
  readonly cas: readonly ClaimingCa[]
  readonly now: Instant
}
