/**
 * Limits that hold for all processes of an instance together: with workers, the supervisor keeps them, and workers ask
 * it (D-290). Each guards work that takes far longer than the question.
 */
import { availableParallelism } from 'node:os'
import type { Clock } from '../../base/time/clock.ts'
import type { Config } from '../../config/config.ts'
import {
  type CountRenewal,
  createCountRenewal,
} from '../../domain/enrollments/renewal/renewal-limit.ts'
import {
  type AddressFailures,
  createAddressFailures,
} from '../../domain/factors/guessing/failures.ts'
import { createTurns, type Turns } from '../../domain/factors/guessing/turns.ts'

export interface Limits {
  readonly hashingTurns: Turns
  readonly returnTurns: Turns
  readonly addressFailures: AddressFailures
  readonly enrollmentFailures: AddressFailures
  readonly userCodeFailures: AddressFailures
  readonly allUserCodeFailures: AddressFailures
  readonly countRenewal: CountRenewal
}

/**
 * Hashing shares the four threads of a process with everything else that runs off the main thread; one stays free
 * (R081).
 */
export const MOST_HASHING = 3

/** D-155: how many returns from an IdP are completed at the same time, and how many may wait. */
const RETURNS = { concurrency: 16, queue: 256 }

/** D-441: wrong user codes a minute, of one address or identity, and of all callers together. */
const USER_CODES = { each: 10, all: 60 }

export function createLimits(
  config: Config,
  clock: Pick<Clock, 'uptime'>,
  /** How many processes use them. */
  processes = 1,
): Limits {
  /** D-22: failures are counted separately for each kind of guessable secret. */
  const countFailures = () =>
    createAddressFailures({ limit: config.limits.failuresPerAddress, clock })
  return {
    hashingTurns: createHashingTurns(config, processes),
    returnTurns: createTurns({ purpose: 'returns from an IdP', ...RETURNS }),
    addressFailures: countFailures(),
    enrollmentFailures: countFailures(),
    userCodeFailures: createAddressFailures({ limit: USER_CODES.each, clock }),
    allUserCodeFailures: createAddressFailures({ limit: USER_CODES.all, clock }),
    countRenewal: createCountRenewal({ clock }),
  }
}

export function createHashingTurns({ passwords }: Pick<Config, 'passwords'>, processes = 1): Turns {
  const { hashing, queue } = passwords
  const concurrency =
    hashing === 'auto' ? Math.min(availableParallelism(), MOST_HASHING * processes) : hashing
  return createTurns({ purpose: 'password hashing', concurrency, queue })
}
