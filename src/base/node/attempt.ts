/** Returns undefined if `work` throws: for parsers of the platform, which throw if the input is not valid. */
export function attempt<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}
