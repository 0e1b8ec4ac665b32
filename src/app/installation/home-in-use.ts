/**
 * Detects a home that was used before: it contains the CAs that clients were given, and those are written after the
 * database has them. If the database of such a home is empty, it was lost or is the wrong one. Never install into it
 * again: the identities would be gone, there would be another administrator, and the new CAs would not be trusted by
 * any client (D-252).
 */
import { shellWord } from '../../base/shell-word.ts'
import type { Config } from '../../config/config.ts'
import { homeFiles } from './home.ts'
import { exists, RefusedStart } from './private-files.ts'

export function isHomeUsed({ home }: Pick<Config, 'home'>): Promise<boolean> {
  return exists(homeFiles(home).ca)
}

/** Checked on the file system, because opening the database would create the file. */
export async function isFileMissing({ db }: Pick<Config, 'db'>): Promise<boolean> {
  return db.kind === 'sqlite' && !(await exists(db.path))
}

/** For a command that needs an installation: either there was never one here, or its database is gone. */
export async function nothingInstalled(
  config: Pick<Config, 'home' | 'db'>,
  what: 'missing' | 'empty',
): Promise<RefusedStart> {
  if (await isHomeUsed(config)) return emptyBelowUsedHome(config, what)
  return neverInstalled(config.home)
}

export function neverInstalled(home: string): RefusedStart {
  return new RefusedStart(
    `nothing is installed in ${home} yet; run: latchkey init --home ${shellWord(home)}`,
  )
}

export function emptyBelowUsedHome(
  { home, db }: Pick<Config, 'home' | 'db'>,
  what: 'missing' | 'empty',
): RefusedStart {
  const database = db.kind === 'sqlite' ? `the database ${db.path}` : 'the database that "db" names'
  return new RefusedStart(
    `${database} is ${what}, but the home ${home} belongs to an installation; put the database back, set "db" to the ` +
      'right one, or restore a backup with "latchkey restore"; for a new installation use another home, or delete ' +
      `${homeFiles(home).ca} first`,
  )
}
