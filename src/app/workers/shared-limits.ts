/**
 * The limits of all workers together, as the supervisor keeps them and as a worker sees them (D-290). A place under a
 * limit is held by a ticket; when a worker ends, it gives back all of its places.
 */

import type { AddressFailures } from '../../domain/factors/guessing/failures.ts'
import { createTurns, type Turns } from '../../domain/factors/guessing/turns.ts'
import { type Limits, MOST_HASHING } from '../compose/limits.ts'
import type { Channel, Handlers } from './channel.ts'
import type { Place, ToSupervisor } from './messages.ts'

type LimitQuestions = Pick<ToSupervisor, 'enter' | 'leave' | 'countRenewal'>

/** Answers the questions of one worker. */
export function serveLimits(limits: Limits): Handlers<LimitQuestions> & { giveBackAll(): void } {
  /** By ticket: ends the stay, and says whether what was done in it failed. */
  const stays = new Map<number, (hasFailed: boolean) => void>()
  let isGone = false

  /** Waits for the place, answers the worker, and stays until the worker leaves. */
  function enter(
    ticket: number,
    take: (stay: () => Promise<boolean>) => Promise<unknown>,
  ): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const stay = () =>
      new Promise<boolean>((leave) => {
        if (isGone) {
          leave(false)
          return
        }
        stays.set(ticket, leave)
        resolve()
      })
    take(stay).catch(reject)
    return promise
  }

  return {
    enter({ place, from, ticket }) {
      return enter(ticket, (stay) => takePlace(limits, place, from, stay))
    },
    leave({ ticket, hasFailed }) {
      stays.get(ticket)?.(hasFailed)
      stays.delete(ticket)
    },
    countRenewal: ({ id }) => limits.countRenewal(id),
    giveBackAll() {
      isGone = true
      for (const leave of stays.values()) leave(false)
      stays.clear()
    },
  }
}

function takePlace(
  limits: Limits,
  place: Place,
  from: string | undefined,
  stay: () => Promise<boolean>,
): Promise<unknown> {
  const limit = limits[place]
  if ('run' in limit) return limit.run(from, stay)
  return limit.guard(from ?? '', async (fail) => {
    if (await stay()) fail()
  })
}

/** The same limits, in a worker. */
export function askForLimits(supervisor: Channel<ToSupervisor>): Limits {
  let tickets = 0

  async function within<T>(
    place: Place,
    from: string | undefined,
    work: (fail: () => void) => Promise<T>,
  ): Promise<T> {
    tickets += 1
    const ticket = tickets
    let hasFailed = false
    await supervisor.ask('enter', { place, ticket, ...(from === undefined ? {} : { from }) })
    try {
      return await work(() => {
        hasFailed = true
      })
    } finally {
      // Not awaited: the caller has its result. If the supervisor is gone, so are its limits.
      supervisor.ask('leave', { ticket, hasFailed }).catch(() => {})
    }
  }

  const turns = (place: Place): Turns => ({
    run: (from, work) => within(place, from, work),
    // The supervisor has the numbers of all workers.
    load: () => ({ running: 0, queued: 0, refused: 0 }),
  })
  const failures = (place: Place): AddressFailures => ({
    guard: (address, guess) => within(place, address, guess),
  })
  return {
    hashingTurns: sparingThreads(turns('hashingTurns')),
    returnTurns: turns('returnTurns'),
    addressFailures: failures('addressFailures'),
    enrollmentFailures: failures('enrollmentFailures'),
    userCodeFailures: failures('userCodeFailures'),
    allUserCodeFailures: failures('allUserCodeFailures'),
    countRenewal: async (id) => supervisor.ask('countRenewal', { id }),
  }
}

/** The supervisor may let more passwords be hashed than one process should: one thread stays free (R081). */
function sparingThreads(shared: Turns): Turns {
  const here = createTurns({
    purpose: 'password hashing in this worker',
    concurrency: MOST_HASHING,
    queue: Number.POSITIVE_INFINITY,
  })
  return {
    load: shared.load,
    run: (from, work) => shared.run(from, () => here.run(from, work)),
  }
}
