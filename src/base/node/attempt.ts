/** Returns undefined if `work` throws. For functions of the platform that throw if their input is not valid. */
export function attempt<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}
