/** How passwords are hashed in tests: the shipped strength took a third of their time, and these guard nothing. */
import type { HashStrength } from '../../../src/domain/factors/passwords/hashing.ts'

export const CHEAP: HashStrength = { memoryCost: 256, timeCost: 1, parallelism: 1 }
