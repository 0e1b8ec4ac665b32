/**
 * The nonces of DPoP proofs: RFC 9449 §8 and §9, D-451. A nonce is the keyed hash of the minute in which it was handed
 * out. Every instance and worker has the key, so each accepts the nonces of the others, and none is stored.
 */
import { BoundedMap } from '../../../base/collections/bounded-map.ts'
import type { Vault } from '../../../base/secrets/vault.ts'
import type { Clock } from '../../../base/time/clock.ts'
import { type Duration, minutes } from '../../../base/time/duration.ts'
import { type Instant, instant } from '../../../base/time/instant.ts'

const SLOT: Duration = minutes(1)
/** A nonce is accepted in its own minute and the next one; and in the one before it, by an instance whose clock is behind. */
const ACCEPTED = [0, -1, 1] as const
/** 128 bits. */
const LENGTH = 22

export interface DpopNonces {
  current(): string
  /** Returns when the nonce stops being accepted; undefined if it is not accepted now. */
  endOf(nonce: string): Instant | undefined
}

export function createDpopNonces({
  vault,
  clock,
}: {
  readonly vault: Pick<Vault, 'hash'>
  readonly clock: Pick<Clock, 'now'>
}): DpopNonces {
  const bySlot = new BoundedMap<number, string>(ACCEPTED.length + 1)
  const nonceOf = (slot: number): string => {
    const known = bySlot.get(slot)
    if (known !== undefined) return known
    const nonce = vault.hash('dpop-nonce', String(slot)).slice(0, LENGTH)
    bySlot.set(slot, nonce)
    return nonce
  }
  const now = () => Math.floor(clock.now() / SLOT)
  return {
    current: () => nonceOf(now()),
    endOf(nonce) {
      const slot = now()
      const age = ACCEPTED.find((offset) => nonceOf(slot + offset) === nonce)
      return age === undefined ? undefined : instant((slot + age + 2) * SLOT)
    },
  }
}
