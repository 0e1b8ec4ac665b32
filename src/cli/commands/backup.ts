/** `latchkey backup`: the whole database in one file (D-158). */
import { makeBackup } from '../../app/backup/make.ts'
import { systemClock } from '../../base/time/clock.ts'
import { type HomeValues, readHomeOptions } from '../home/home-options.ts'
import { loadInstalled } from '../home/installed-config.ts'
import { newPassphrase } from '../home/passphrase.ts'
import { EXIT, type ExitCode, type Io, Misuse } from '../terminal/io.ts'
import { createProgress } from '../terminal/progress.ts'

export async function backUp(
  values: HomeValues & {
    readonly out?: string
    readonly 'with-secret'?: boolean
    readonly 'passphrase-file'?: string
    readonly force?: boolean
  },
  io: Io,
): Promise<ExitCode> {
  const { out, 'with-secret': withSecret = false, 'passphrase-file': file } = values
  if (out === undefined) throw new Misuse('"backup" needs --out')
  if (file !== undefined && !withSecret) {
    throw new Misuse('--passphrase-file needs --with-secret: only the secret is encrypted with it')
  }
  const config = await loadInstalled(readHomeOptions(values, io))
  const passphrase = withSecret ? await newPassphrase(file, io) : undefined
  const progress = createProgress('Backing up', systemClock, io.errorStream)
  const replaces = values.force === true
  const { path, rows, isRecorded } = await makeBackup(config, {
    path: io.resolve(out),
    replaces,
    passphrase,
    onRows: progress.tell,
  }).finally(progress.end)
  io.out(`The backup ${path} is written (${rows} rows).`)
  io.out(
    withSecret
      ? 'The installation secret is in it, encrypted with the passphrase.'
      : 'The installation secret is not in it, and the backup cannot be restored without it. Keep the secret elsewhere.',
  )
  if (!isRecorded) {
    io.err('The backup could not be recorded in the database; the overview does not know of it.')
  }
  return EXIT.ok
}
