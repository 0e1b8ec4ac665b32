/**
 * Orders the guesses at one name from one origin. They are hashed in parallel, but a correct one is accepted only after
 * all earlier ones have been counted. So a correct guess in a parallel batch cannot get past a lock that the guesses
 * before it cause. This covers one instance; the store covers races between instances.
 */

export interface Guess {
  /** Settles when every earlier guess has ended. */
  readonly earlier: Promise<void>
  /** Reports that the guess was counted, accepted, or abandoned. */
  end(): void
}

export type BeginGuess = (lane: string) => Guess

export function createGuessOrder(): BeginGuess {
  /** The end of the last guess of each lane that has a guess in progress. */
  const lanes = new Map<string, Promise<void>>()

  return (lane) => {
    const earlier = lanes.get(lane) ?? Promise.resolve()
    const { promise, resolve } = Promise.withResolvers<void>()
    const ended = earlier.then(() => promise)
    lanes.set(lane, ended)
    return {
      earlier,
      end: () => {
        resolve()
        void ended.then(() => {
          if (lanes.get(lane) === ended) lanes.delete(lane)
        })
      },
    }
  }
}

/** Runs the work of one lane one at a time, so that refusals of one network do not occupy the database (D-207). */
export async function oneAfterTheOther<T>(
  begin: BeginGuess,
  lane: string,
  work: () => Promise<T>,
): Promise<T> {
  const turn = begin(lane)
  try {
    await turn.earlier
    return await work()
  } finally {
    turn.end()
  }
}
