/**
 * Which releases of SQLite may write a database that several processes share: D-472. Older ones can lose commits in a
 * checkpoint while another connection writes, and leave the file damaged (sqlite.org/wal.html#walresetbug).
 */
import type { DatabaseSync } from 'node:sqlite'
import { StoreUnavailable } from '../../../errors/store-unavailable.ts'

/** The first release with the correction, by the series of SQLite 3 that have one. All later series have it. */
const CORRECTED: Readonly<Record<number, number>> = { 44: 6, 50: 7, 51: 3 }
const LAST_SERIES = 51

/** Throws StoreUnavailable if the SQLite of this Node is one that can lose commits. */
export function refuseUnsafeVersion(database: DatabaseSync): void {
  const version = String(database.prepare('select sqlite_version() as version').get()?.['version'])
  if (isSafeVersion(version)) return
  throw new StoreUnavailable(
    `Node ${process.version} has SQLite ${version}, which can lose data that several processes write: update Node to one with SQLite 3.${LAST_SERIES}.${CORRECTED[LAST_SERIES]} or newer`,
  )
}

export function isSafeVersion(version: string): boolean {
  const [major = 0, series = 0, release = 0] = version.split('.').map(Number)
  if (major !== 3) return major > 3
  return series > LAST_SERIES || release >= (CORRECTED[series] ?? Number.POSITIVE_INFINITY)
}
