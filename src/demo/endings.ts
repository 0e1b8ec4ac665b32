/** Whatever was opened is ended, the last one first, also when the end of another one fails. */

export interface Endings {
  /** Answers the thing, which is ended with the others from now on. Thrown: the reason of the signal. */
  opened<T>(thing: T, end: (thing: T) => void | Promise<void>): T
  /** Thrown: the first failure, when everything has been tried. */
  endAll(): Promise<void>
}

export function createEndings(signal: AbortSignal): Endings {
  const endings: (() => void | Promise<void>)[] = []
  return {
    opened(thing, end) {
      endings.push(() => end(thing))
      signal.throwIfAborted()
      return thing
    },
    async endAll() {
      const failures: unknown[] = []
      for (const end of endings.splice(0).reverse()) {
        try {
          await end()
        } catch (error) {
          failures.push(error)
        }
      }
      if (failures.length > 0) throw failures[0]
    },
  }
}
