/**
 * A home that has been used knows it: the CAs that clients were given lie in it, written after the database had them. An
 * empty database below it is a lost one, or a wrong one, and must not be installed anew: the identities would be gone, another
 * administrator there, and the CAs replaced by others that no client trusts (D-252).
 */
import type { Config } from '../../config/config.ts'
import { homeFiles } from './home.ts'
import { exists, RefusedStart } from './private-files.ts'

export function isHomeUsed({ home }: Pick<Config, 'home'>): Promise<boolean> {
  return exists(homeFiles(home).ca)
}

/** Opening such a database would make the file. */
export async function isFileMissing({ db }: Pick<Config, 'db'>): Promise<boolean> {
  return db.kind === 'sqlite' && !(await exists(db.path))
}

/** For a command that needs an installation: none was made here yet, or the database of it is gone. */
export async function nothingInstalled(
  config: Pick<Config, 'home' | 'db'>,
  what: 'missing' | 'empty',
): Promise<RefusedStart> {
  if (await isHomeUsed(config)) return emptyBelowUsedHome(config, what)
  return new RefusedStart(`nothing is installed in ${config.home} yet; run: latchkey init`)
}

export function emptyBelowUsedHome(
  { home, db }: Pick<Config, 'home' | 'db'>,
  what: 'missing' | 'empty',
): RefusedStart {
  const database = db.kind === 'sqlite' ? `the database ${db.path}` : 'the database that "db" names'
  return new RefusedStart(
    `${database} is ${what}, but the home ${home} belongs to an installation; put the database back, set "db" to the ` +
      'right one, or restore a backup with "latchkey restore"; to begin a new installation take another home, or delete ' +
      `${homeFiles(home).ca} first`,
  )
}
