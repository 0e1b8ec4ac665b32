/**
 * Whether a call comes from the holder of the key that its token is bound to: RFC 9449 §7. A token that is bound is
 * accepted with a proof alone, and a proof with such a token alone (D-452).
 */
import type { Secret } from '../../base/secrets/secret.ts'
import { Failure } from '../../errors/catalogue.ts'
import { type DpopFault, dpopChallenge } from '../../protocol/challenge.ts'
import type { AccessToken } from '../tokens/access-token.ts'
import {
  judgePossession,
  type PossessionPorts,
  type PresentedProof,
  type ProvenKey,
} from '../tokens/possession/proven-key.ts'

/** What a request has in the scheme DPoP. */
export interface DpopCredentials extends PresentedProof {
  readonly tokens: readonly Secret[]
}

/** Returns the proven key; undefined if the token is bound to none. Throws UNAUTHORIZED. */
export async function provePossession(
  ports: PossessionPorts & { readonly brand: string },
  { boundKey }: Pick<AccessToken, 'boundKey'>,
  own: Secret,
  dpop: DpopCredentials | undefined,
): Promise<ProvenKey | undefined> {
  const { brand } = ports
  const isDpop = dpop?.tokens.includes(own) === true
  if (boundKey === undefined) {
    if (!isDpop) return undefined
    throw refused(brand, 'invalid', 'the token is bound to no key')
  }
  if (dpop === undefined || !isDpop) {
    const detail = 'the token is bound to a key, and came as a bearer token'
    const challenges = [dpopChallenge(brand, 'invalid')]
    throw new Failure('UNAUTHORIZED', { challenges, detail, next: 'prove-key' })
  }
  const verdict = await judgePossession(ports, dpop, own.reveal())
  if (verdict.outcome === 'nonce') {
    throw refused(brand, 'use_dpop_nonce', 'the DPoP proof has no current nonce')
  }
  if (verdict.outcome === 'invalid') {
    throw refused(brand, 'invalid_dpop_proof', `the DPoP proof is not valid: ${verdict.why}`)
  }
  if (verdict.key.jkt !== boundKey) {
    throw refused(brand, 'invalid', 'the DPoP proof is of another key than the token')
  }
  return verdict.key
}

/** Throws UNAUTHORIZED if the proof was used before, here or on another instance. */
export function refuseReplay(brand: string): Failure {
  return refused(brand, 'invalid_dpop_proof', 'the DPoP proof was used before')
}

function refused(brand: string, error: 'invalid' | DpopFault, detail: string): Failure {
  return new Failure('UNAUTHORIZED', { challenges: [dpopChallenge(brand, error)], detail })
}
