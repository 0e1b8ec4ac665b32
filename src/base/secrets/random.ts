/** The source of randomness. Code that needs random values takes a Random, so that tests can control them. */
import { randomBytes } from 'node:crypto'

export interface Random {
  bytes(count: number): Uint8Array
}

export const systemRandom: Random = { bytes: (count) => randomBytes(count) }
