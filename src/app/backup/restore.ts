/**
 * `latchkey restore`: checks the whole backup before changing anything, then writes it into an empty database in one
 * transaction. A new epoch begins (D-159, R042).
 */
import { rm } from 'node:fs/promises'
import { base64url } from '../../base/encoding.ts'
import { openWithPassphrase } from '../../base/secrets/passphrase.ts'
import { systemRandom } from '../../base/secrets/random.ts'
import type { Secret } from '../../base/secrets/secret.ts'
import { equalInConstantTime } from '../../base/secrets/vault.ts'
import { systemClock } from '../../base/time/clock.ts'
import type { Instant } from '../../base/time/instant.ts'
import type { Config, SecretSource } from '../../config/config.ts'
import { auditPorts } from '../../domain/audit/ports.ts'
import { beginEpoch, type NewEpoch } from '../../domain/installation/begin-epoch.ts'
import { secretFingerprint } from '../../domain/installation/installation.ts'
import { OccupiedDatabase, writeWhole } from '../../store/whole/write-whole.ts'
import { readInstallationSecret } from '../installation/installation-secret.ts'
import {
  createPrivateFile,
  RefusedStart,
  refuseWorldReadable,
} from '../installation/private-files.ts'
import { proofOf, totalOf } from './format.ts'
import { type BackupFile, readBackupFile } from './read-file.ts'

type OnRows = (done: number, total: number) => void

export interface VerifiedBackup {
  readonly takenAt: Instant
  readonly rows: number
  /** Where the installation secret that confirms its contents came from; undefined if none was available. */
  readonly provenBy: 'home' | 'backup' | undefined
  readonly hasSecret: boolean
}

/** Sources of the secret; a passphrase is requested only if it is needed. */
export interface Keys {
  readonly source: SecretSource | undefined
  readonly passphrase: (() => Promise<Secret>) | undefined
}

/** Reads the whole file and changes nothing. Throws RefusedStart. */
export async function verifyBackup(
  path: string,
  keys: Keys,
  onRows: OnRows,
): Promise<VerifiedBackup> {
  const file = await readThrough(path, onRows)
  const { header } = file
  const found = await findSecret(path, file, keys)
  return {
    takenAt: header.takenAt,
    rows: totalOf(header),
    provenBy: found && (found.isEnclosed ? 'backup' : 'home'),
    hasSecret: header.secret !== undefined,
  }
}

export interface Restored extends NewEpoch {
  readonly takenAt: Instant
  readonly rows: number
}

export async function restoreBackup(
  config: Config,
  options: {
    readonly path: string
    /** Whether an existing installation may be replaced. */
    readonly replaces: boolean
    readonly passphrase: Keys['passphrase']
    readonly onCheck: OnRows
    readonly onRows: OnRows
  },
): Promise<Restored> {
  const { path, replaces, onRows } = options
  const clock = systemClock
  const random = systemRandom
  if (config.db.kind === 'sqlite') await refuseWorldReadable(config.db.path)
  const checked = await readThrough(path, options.onCheck)
  const { passphrase } = options
  const found = await findSecret(path, checked, { source: config.secret, passphrase })
  if (found === undefined) throw secretMissing(path, checked, config.secret)
  const { secret } = found
  if (found.isEnclosed) await keepSecret(config.secret, secret)

  const { takenAt } = checked.header
  const audit = auditPorts({ clock, random })
  const occupied = replaces ? 'replace' : 'refuse'
  const content = async function* () {
    const again = yield* readBackupFile(path, onRows)
    // It was checked before: what is written must be identical to that.
    if (again.ending.sha256 !== checked.ending.sha256) {
      throw new RefusedStart(`${path} was changed in the meantime`)
    }
  }
  try {
    const epoch = await writeWhole(config.db, content, occupied, (tx, { epochs }) =>
      beginEpoch(audit, secret, tx, epochs, takenAt),
    )
    return { ...epoch, takenAt, rows: totalOf(checked.header) }
  } catch (error) {
    if (!(error instanceof OccupiedDatabase)) throw error
    // Nothing was committed, so nothing needs the secret.
    if (found.isEnclosed && config.secret.kind === 'file') await rm(config.secret.path)
    throw new RefusedStart(`${error.message}; pass --force to replace it`, { cause: error })
  }
}

async function readThrough(path: string, onRows: OnRows): Promise<BackupFile> {
  const rows = readBackupFile(path, onRows)
  for (;;) {
    const next = await rows.next()
    if (next.done === true) return next.value
  }
}

interface FoundSecret {
  readonly secret: Uint8Array
  /** It came out of the backup. */
  readonly isEnclosed: boolean
}

/** Returns the secret that the backup was made with, and that proves it; undefined if there is none to try. */
async function findSecret(
  path: string,
  { header, ending }: BackupFile,
  keys: Keys,
): Promise<FoundSecret | undefined> {
  const random = systemRandom
  const isOfBackup = (secret: Uint8Array) =>
    secretFingerprint(secret, random) === header.secretFingerprint
  const refuseUnproven = (secret: Uint8Array) => {
    if (equalInConstantTime(proofOf(ending.sha256, secret, random), ending.proof)) return
    throw new RefusedStart(
      `${path} was altered: the installation secret does not confirm its contents`,
    )
  }

  const { source } = keys
  const here = source && (await readInstallationSecret(source))
  if (here !== undefined && isOfBackup(here)) {
    refuseUnproven(here)
    return { secret: here, isEnclosed: false }
  }
  if (here !== undefined && source !== undefined) {
    throw new RefusedStart(
      `${path} was made with a different installation secret than the one in ${nameOf(source)}`,
    )
  }
  if (header.secret === undefined || keys.passphrase === undefined) return undefined
  const opened = await openWithPassphrase(
    await keys.passphrase(),
    header.secret,
    header.secretFingerprint,
  )
  if (opened === undefined) {
    throw new RefusedStart(`the passphrase does not open the installation secret in ${path}`)
  }
  if (!isOfBackup(opened)) throw new RefusedStart(`${path} contains a secret that is not its own`)
  refuseUnproven(opened)
  return { secret: opened, isEnclosed: true }
}

function secretMissing(path: string, { header }: BackupFile, source: SecretSource): RefusedStart {
  const missing = `the installation secret ${nameOf(source)} is missing`
  const remedy =
    header.secret === undefined
      ? 'and the backup does not have it; copy it here'
      : 'give the passphrase of the one in the backup'
  return new RefusedStart(`${missing}; ${path} needs it, ${remedy}`)
}

/** Call it before the database has any rows: beside an empty one, it is just the secret of the next installation. */
async function keepSecret(source: SecretSource, secret: Uint8Array): Promise<void> {
  if (source.kind === 'environment') throw new Error('a secret in a variable is never missing')
  const text = `${base64url(secret)}\n`
  if (await createPrivateFile(source.path, text, { random: systemRandom })) return
  throw new RefusedStart(`another process created ${source.path} in the meantime; try again`)
}

function nameOf(source: SecretSource): string {
  return source.kind === 'file' ? source.path : `the variable ${source.variable}`
}
