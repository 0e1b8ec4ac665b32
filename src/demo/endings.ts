/** Ends everything that was opened, the last one first, even if ending another one fails. */

export interface Endings {
  /** Returns the thing, which is ended with the others from now on. Throws the reason of the signal. */
  opened<T>(thing: T, end: (thing: T) => void | Promise<void>): T
  /** Throws the first failure, after everything has been tried. */
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
