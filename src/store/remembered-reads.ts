/**
 * The reads that every instance repeats all the time to keep its copies in memory up to date. If nothing was committed since
 * the last one, its result is returned again and the database is not queried (D-306).
 */
import type { Stores } from '../domain/stores.ts'

/** Changes whenever anything was committed; undefined if that is not known. May be a promise. */
export type CurrentVersion = () => unknown

export function rememberReads(stores: Stores, version: CurrentVersion): Stores {
  const { installation, ruleVersions, sessionEndings, signingKeys, authorities } = stores
  return {
    ...stores,
    installation: { ...installation, find: remembered(installation.find, version) },
    ruleVersions: { ...ruleVersions, current: remembered(ruleVersions.current, version) },
    sessionEndings: { ...sessionEndings, listAfter: remembered(sessionEndings.listAfter, version) },
    signingKeys: { ...signingKeys, list: remembered(signingKeys.list, version) },
    authorities: { ...authorities, list: remembered(authorities.list, version) },
  }
}

/** Remembers the last result only: followers repeat the same read. */
export function remembered<Args extends readonly (string | number)[], Result>(
  read: (...args: Args) => Promise<Result>,
  version: CurrentVersion,
): (...args: Args) => Promise<Result> {
  let last: { readonly version: unknown; readonly args: Args; readonly result: Result } | undefined
  return async (...args) => {
    // Before the read: what is committed during it is read again next time.
    const now = await version()
    const known = now !== undefined && last?.version === now ? last : undefined
    if (known !== undefined && args.every((arg, i) => arg === known.args[i])) return known.result
    const result = await read(...args)
    last = { version: now, args, result }
    return result
  }
}
