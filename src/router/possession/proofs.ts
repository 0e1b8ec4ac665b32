/**
 * Proofs of a key at a router: DPoP, RFC 9449; D-457. In addition to the certificate, which a connection always needs, so a
 * proof that was recorded is worth nothing elsewhere: no nonce is asked for, and used proofs are remembered in memory.
 */
import { BoundedMap } from '../../base/collections/bounded-map.ts'
import type { Clock } from '../../base/time/clock.ts'
import { minutes } from '../../base/time/duration.ts'
import { plus } from '../../base/time/instant.ts'
import { checkProof } from '../../protocol/dpop/proof.ts'

/** A token in the scheme DPoP, with what its proof is about. */
export interface DpopToken {
  readonly dpop: string
  /** The `DPoP` field; undefined if there is not exactly one. */
  readonly proof: string | undefined
  readonly method: string
  /** The URI that the request was sent to. */
  readonly uri: string
}

/** How far `iat` may be from our time. */
const SKEW = minutes(1)
/** The oldest are forgotten first; only holders of a valid token and certificate add any. */
const MOST_PROOFS = 100_000

/** Returns why the proof does not show this key, now and for the first time; undefined if it does. */
type ProofFault = (token: DpopToken, boundKey: string) => Promise<string | undefined>

export function createProofFault(clock: Pick<Clock, 'now'>): ProofFault {
  const used = new BoundedMap<string, number>(MOST_PROOFS)
  return async ({ dpop: accessToken, proof, method, uri: target }, boundKey) => {
    if (proof === undefined) return 'there is not exactly one proof'
    const now = clock.now()
    const verdict = await checkProof(proof, { method, target, now, accessToken, skew: SKEW })
    if (verdict.outcome === 'nonce') return 'its nonce is not valid'
    if (verdict.outcome === 'invalid') return verdict.why
    if (verdict.jkt !== boundKey) return 'it is of another key than the token'
    const name = `${verdict.jkt} ${verdict.jti}`
    const until = used.get(name)
    if (until !== undefined && until > now) return 'it was used before'
    used.set(name, plus(now, minutes(3)))
    return undefined
  }
}
