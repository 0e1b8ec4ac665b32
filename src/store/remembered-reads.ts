/**
 * The reads by which an instance keeps its copies in memory fresh, several times a second: while nothing was committed
 * to the database, the last result is still right and is returned without reading it again (D-298).
 */
import type { Stores } from '../domain/stores.ts'

/** Returns a text that differs if anything was committed since; undefined if that is not known. */
export type ReadMark = () => Promise<string | undefined>

export function rememberReads(stores: Stores, readMark: ReadMark): Stores {
  const { installation, ruleVersions, sessionEndings, signingKeys, authorities } = stores
  const remember = <A extends readonly unknown[], T>(read: (...args: A) => Promise<T>) =>
    remembered(read, readMark)
  return {
    ...stores,
    installation: { ...installation, find: remember(installation.find) },
    ruleVersions: { ...ruleVersions, current: remember(ruleVersions.current) },
    sessionEndings: { ...sessionEndings, listAfter: remember(sessionEndings.listAfter) },
    signingKeys: { ...signingKeys, list: remember(signingKeys.list) },
    authorities: { ...authorities, list: remember(authorities.list) },
  }
}

function remembered<A extends readonly unknown[], T>(
  read: (...args: A) => Promise<T>,
  readMark: ReadMark,
): (...args: A) => Promise<T> {
  let last: { readonly mark: string; readonly args: A; readonly result: T } | undefined
  return async (...args) => {
    // Before the read: what is committed meanwhile changes the mark again, and is read next time.
    const mark = await readMark()
    const isSame = last?.args.every((argument, i) => argument === args[i])
    if (mark !== undefined && last?.mark === mark && isSame) return last.result
    const result = await read(...args)
    last = mark === undefined ? undefined : { mark, args, result }
    return result
  }
}
