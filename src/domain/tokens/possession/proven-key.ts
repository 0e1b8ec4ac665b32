/**
 * Proof that the sender of a request has the key of a token: DPoP, RFC 9449. This file checks the proof and remembers
 * it, so that it counts once on all instances (D-450); the callers decide which key is needed.
 */
import { base64url, sha256 } from '../../../base/encoding.ts'
import type { Clock } from '../../../base/time/clock.ts'
import type { Instant } from '../../../base/time/instant.ts'
import { Failure } from '../../../errors/catalogue.ts'
import { checkProof, type ProofVerdict, type ValidProof } from '../../../protocol/dpop/proof.ts'
import type { UsedProof, UsedProofs } from '../stores.ts'
import type { DpopNonces } from './nonces.ts'

/** What a request says about its sender's key. */
export interface PresentedProof {
  /** Every `DPoP` header field. */
  readonly proofs: readonly string[]
  readonly method: string
  /** Returns the URI that the request was sent to; undefined if it is not at an address of ours. */
  readonly target: () => string | undefined
}

export interface ProvenKey {
  /** RFC 7638 thumbprint. */
  readonly jkt: string
  /** Store it before the request has an effect. */
  readonly use: UsedProof
}

export type PossessionVerdict =
  | { readonly outcome: 'proven'; readonly key: ProvenKey }
  | Exclude<ProofVerdict, ValidProof>

export interface PossessionPorts {
  readonly clock: Pick<Clock, 'now'>
  readonly dpopNonces: DpopNonces
}

/** Checks the proof of a request, except whether it was used before. */
export async function judgePossession(
  { clock, dpopNonces }: PossessionPorts,
  { proofs, method, target }: PresentedProof,
  accessToken: string | undefined,
): Promise<PossessionVerdict> {
  const [proof, ...others] = proofs
  // RFC 9449 §4.3: exactly one. Two readers could pick different ones.
  if (proof === undefined) return { outcome: 'invalid', why: 'the DPoP field is missing' }
  if (others.length > 0) return { outcome: 'invalid', why: 'there is more than one DPoP field' }
  const address = target()
  if (address === undefined)
    return { outcome: 'invalid', why: 'the Host is not an address of ours' }
  let end: Instant | undefined
  const verdict = await checkProof(proof, {
    method,
    target: address,
    now: clock.now(),
    accessToken,
    isNonce(nonce) {
      end = dpopNonces.endOf(nonce)
      return end !== undefined
    },
  })
  if (verdict.outcome !== 'valid') return verdict
  const { jkt, jti } = verdict
  const expiresAt = end ?? clock.now()
  const hash = base64url(sha256(`${jkt} ${jti}`))
  return { outcome: 'proven', key: { jkt, use: { hash, expiresAt } } }
}

/**
 * For the token endpoint: returns undefined if the request has no proof. Throws INVALID_DPOP_PROOF, USE_DPOP_NONCE.
 * Nothing is stored yet, so an anonymous caller costs one signature check.
 */
export async function readProvenKey(
  ports: PossessionPorts,
  presented: PresentedProof,
): Promise<ProvenKey | undefined> {
  if (presented.proofs.length === 0) return undefined
  const verdict = await judgePossession(ports, presented, undefined)
  if (verdict.outcome === 'proven') return verdict.key
  if (verdict.outcome === 'nonce') throw new Failure('USE_DPOP_NONCE')
  throw new Failure('INVALID_DPOP_PROOF', { detail: verdict.why })
}

/** Returns whether this is the first use of the proof, on any instance. A request without a proof uses none. */
export async function useProof(
  { usedProofs }: { readonly usedProofs: Pick<UsedProofs, 'insert'> },
  key: ProvenKey | undefined,
): Promise<boolean> {
  return key === undefined || usedProofs.insert(key.use)
}

/** D-454: nothing was spent, so the client may try again with a proof. */
export function proofRequired(): Failure {
  return new Failure('INVALID_DPOP_PROOF', { detail: 'the policy requires a bound token' })
}

export function replayed(): Failure {
  return new Failure('INVALID_DPOP_PROOF', { detail: 'the proof was used before' })
}
