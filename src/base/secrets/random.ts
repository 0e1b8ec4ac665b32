/**
 * Where chance comes from. Everything that draws takes a Random.
 */
import { randomBytes } from 'node:crypto'

export interface Random {
  bytes(count: number): Uint8Array
}

export const systemRandom: Random = { bytes: (count) => randomBytes(count) }
