/** `latchkey restore`: restores a backup into an empty database, or only checks it (D-159). */
import { access, constants, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { restoreBackup, verifyBackup } from '../../app/backup/restore.ts'
import { whyUnreadable } from '../../app/installation/file-faults.ts'
import { openHome } from '../../app/installation/home.ts'
import { exists } from '../../app/installation/private-files.ts'
import type { Secret } from '../../base/secrets/secret.ts'
import { systemClock } from '../../base/time/clock.ts'
import { toRfc3339 } from '../../base/time/instant.ts'
import { CONFIG_FILE } from '../../config/load.ts'
import { type HomeOptions, type HomeValues, readHomeOptions } from '../home/home-options.ts'
import { loadInstalled } from '../home/installed-config.ts'
import { readPassphrase } from '../home/passphrase.ts'
import type { Run } from '../table/command.ts'
import { CommandFailed, EXIT, type ExitCode, type Io, Misuse } from '../terminal/io.ts'
import { createProgress } from '../terminal/progress.ts'

interface RestoreValues extends HomeValues {
  readonly verify?: boolean
  readonly 'passphrase-file'?: string
  readonly force?: boolean
}

export const restore: Run<RestoreValues> = async (values, io, [path = '']) => {
  const isVerifying = values.verify === true
  if (isVerifying && values.force === true) throw new Misuse('--verify replaces nothing')
  const file = io.resolve(path)
  // Before anything else: a mistyped name must not create a home.
  await refuseUnreadable(file, path)
  const options = readHomeOptions(values, io)
  return isVerifying ? verify(options, file, values, io) : replace(options, file, values, io)
}

/** `typed` is the path as the user typed it. */
async function refuseUnreadable(file: string, typed: string): Promise<void> {
  try {
    await access(file, constants.R_OK)
  } catch (error) {
    const why = whyUnreadable(error) ?? (error as Error).message
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT'
    throw new CommandFailed(
      isMissing ? `there is no file ${typed}` : `${typed} cannot be read: ${why}`,
      EXIT.missing,
    )
  }
  if ((await stat(file)).isDirectory()) {
    throw new CommandFailed(`${typed} cannot be read: it is a folder`, EXIT.missing)
  }
}

async function verify(
  options: HomeOptions,
  path: string,
  values: RestoreValues,
  io: Io,
): Promise<ExitCode> {
  const { file, home } = options
  // A machine that only stores backups needs no home.
  const hasHome = file !== undefined || (await exists(join(home, CONFIG_FILE)))
  const source = hasHome ? (await loadInstalled(options)).secret : undefined
  const progress = createProgress('Checking', systemClock, io.errorStream)
  const passphrase = passphraseFrom(values, 'where-given', io)
  const found = await verifyBackup(path, { source, passphrase }, progress.tell).finally(
    progress.end,
  )
  io.out(`The backup of ${toRfc3339(found.takenAt)} is complete (${found.rows} rows).`)
  if (found.provenBy === 'home') io.out('It matches the installation secret of this home.')
  else if (found.provenBy === 'backup') {
    io.out('It matches the installation secret that it contains.')
  } else {
    const remedy = found.hasSecret ? '--passphrase-file opens the one in it' : 'it has none in it'
    io.out(`Its origin was not checked: there is no installation secret here; ${remedy}.`)
  }
  return EXIT.ok
}

async function replace(
  options: HomeOptions,
  path: string,
  values: RestoreValues,
  io: Io,
): Promise<ExitCode> {
  const { config } = await openHome({ ...options, purpose: 'prepare' })
  const checking = createProgress('Checking', systemClock, io.errorStream)
  const restoring = createProgress('Restoring', systemClock, io.errorStream)
  const { takenAt, rows, withoutRecoveryCodes } = await restoreBackup(config, {
    path,
    replaces: values.force === true,
    passphrase: passphraseFrom(values, 'asked-for', io),
    onCheck: checking.tell,
    onRows(done, total) {
      checking.end()
      restoring.tell(done, total)
    },
  }).finally(() => {
    checking.end()
    restoring.end()
  })
  io.out(`The backup of ${toRfc3339(takenAt)} was restored (${rows} rows).`)
  io.out('Earlier sessions, tokens, codes and open enrollments are void: all users log in again.')
  if (withoutRecoveryCodes > 0) {
    io.out(`Recovery codes are void too: ${withoutRecoveryCodes} identities must create new ones.`)
  }
  io.out('Running instances stop now with exit code 75; start them again.')
  return EXIT.ok
}

function passphraseFrom(
  { 'passphrase-file': file }: RestoreValues,
  otherwise: 'asked-for' | 'where-given',
  io: Io,
): (() => Promise<Secret>) | undefined {
  const canAsk = otherwise === 'asked-for' && io.isInteractive
  return file !== undefined || canAsk ? () => readPassphrase(file, io) : undefined
}
