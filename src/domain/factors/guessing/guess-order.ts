/**
 * The order of guesses at one name from one place. They are hashed at the same time, but a right one is accepted only
 * when those that came before it have been counted: so of many at once none gets past a lock that those before it
 * cause. For one instance; the store does the rest.
 */

export interface Guess {
  /** Settles when every guess that came before has ended. */
  readonly earlier: Promise<void>
  /** It has been counted, accepted, or given up. */
  end(): void
}

export type BeginGuess = (lane: string) => Guess

export function createGuessOrder(): BeginGuess {
  /** The end of the last guess of each lane that has one under way. */
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
