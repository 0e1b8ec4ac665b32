/**
 * Hashes passwords: argon2id in the thread pool, a few at a time, the rest in a bounded queue that is fair to every
 * network (API 4.2, D-22, D-215). A full queue rejects at once, so that guessing cannot use up the machine (R081).
 */
import { hash, type Options, verify } from '@node-rs/argon2'
import { base64url } from '../../../base/encoding.ts'
import type { Random } from '../../../base/secrets/random.ts'
import type { Secret } from '../../../base/secrets/secret.ts'
import type { Load, Turns } from '../guessing/turns.ts'

export interface PasswordHashing {
  /** A PHC string with its parameters and salt. */
  hash(password: Secret): Promise<string>
  /** `from` names the network, or the known devices, that wait for it (`turns.ts`). */
  verify(passwordHash: string, password: Secret, from: string): Promise<boolean>
  /** Takes as long as `verify` and always fails: for names that do not exist (R077). */
  verifyNothing(password: Secret, from: string): Promise<void>
  /** Whether the hash was made with less work than the current settings. */
  isWeak(passwordHash: string): boolean
}

export type MeasuredHashing = PasswordHashing & { load(): Load }

/** The work of one hash, by the names of argon2: KiB of memory, passes, lanes. */
export interface HashStrength {
  readonly memoryCost: number
  readonly timeCost: number
  readonly parallelism: number
}

/** OWASP's minimum for argon2id: 19 MiB, 2 passes, 1 lane (API 4.2). */
const STRENGTH: HashStrength = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

/**
 * R076: a manipulated record must not exhaust the memory. Four times the current strength leaves room for the future.
 */
const STRONGEST: HashStrength = { memoryCost: 4 * 19_456, timeCost: 8, parallelism: 4 }

export function createPasswordHashing(deps: {
  readonly random: Random
  /** How many run at the same time, and how many may wait. */
  readonly turns: Turns
  /** The strength of new hashes. */
  readonly strength?: HashStrength | undefined
}): MeasuredHashing {
  const { random, turns, strength: { memoryCost, timeCost, parallelism } = STRENGTH } = deps
  // `Algorithm.Argon2id` is 2.
  const options: Options = { memoryCost, timeCost, parallelism, algorithm: 2 }

  // Well-formed and of the current strength, but not the hash of any known password.
  const dummyHash = `$argon2id$v=19$m=${memoryCost},t=${timeCost},p=${parallelism}$${phc(random.bytes(16))}$${phc(random.bytes(32))}`

  return {
    hash: (password) => turns.run(undefined, () => hash(prepare(password), options)),
    verify: async (passwordHash, password, from) => {
      const strength = readStrength(passwordHash)
      if (strength === undefined || isBeyond(strength)) {
        throw new Error('a stored password hash is not argon2id within the allowed strength')
      }
      return turns.run(from, () => verify(passwordHash, prepare(password)))
    },
    verifyNothing: async (password, from) => {
      await turns.run(from, () => verify(dummyHash, prepare(password)))
    },
    load: () => turns.load(),
    isWeak: (passwordHash) => {
      const strength = readStrength(passwordHash)
      return (
        strength === undefined || strength.memoryCost < memoryCost || strength.timeCost < timeCost
      )
    },
  }
}

/** API 4.2: passwords are compared after NFKC; nothing is trimmed (R073). */
function prepare(password: Secret): string {
  return password.reveal().normalize('NFKC')
}

function phc(bytes: Uint8Array): string {
  return base64url(bytes).replaceAll('-', '+').replaceAll('_', '/')
}

function readStrength(passwordHash: string): HashStrength | undefined {
  const match = /^\$argon2id\$v=19\$m=(\d{1,9}),t=(\d{1,9}),p=(\d{1,9})\$/.exec(passwordHash)
  if (match === null) return undefined
  return { memoryCost: Number(match[1]), timeCost: Number(match[2]), parallelism: Number(match[3]) }
}

function isBeyond(strength: HashStrength): boolean {
  return (
    strength.memoryCost > STRONGEST.memoryCost ||
    strength.timeCost > STRONGEST.timeCost ||
    strength.parallelism > STRONGEST.parallelism
  )
}
