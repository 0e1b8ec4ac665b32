/** The source of randomness. Code that needs random values takes a Random, so that tests can control them. */
import { randomBytes, randomFillSync } from 'node:crypto'

export interface Random {
  bytes(count: number): Uint8Array
}

/** One call of the system's generator costs as much as some hundred bytes of it, and an id needs twelve. */
const POOL_BYTES = 4096
const LARGEST_FROM_POOL = 64

const pool = Buffer.alloc(POOL_BYTES)
let used = POOL_BYTES

export const systemRandom: Random = {
  bytes(count) {
    if (count > LARGEST_FROM_POOL) return randomBytes(count)
    if (used + count > POOL_BYTES) {
      randomFillSync(pool)
      used = 0
    }
    const part = pool.subarray(used, used + count)
    const bytes = new Uint8Array(part)
    // No second copy of what may become a credential stays behind.
    part.fill(0)
    used += count
    return bytes
  },
}
