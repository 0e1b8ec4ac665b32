/**
 * `latchkey backup`: a consistent snapshot of the database in one file, while the service runs (D-158). Sealed values
 * stay sealed under the installation secret, which is included only if a passphrase is given.
 */
import { resolve } from 'node:path'
import { sealWithPassphrase } from '../../base/secrets/passphrase.ts'
import { systemRandom } from '../../base/secrets/random.ts'
import type { Secret } from '../../base/secrets/secret.ts'
import type { SecretHash } from '../../base/secrets/vault.ts'
import { systemClock } from '../../base/time/clock.ts'
import type { Config } from '../../config/config.ts'
import { auditPorts } from '../../domain/audit/ports.ts'
import { recordEvent } from '../../domain/audit/record.ts'
import { secretFingerprint } from '../../domain/installation/installation.ts'
import { SHAPE } from '../../store/migrate.ts'
import { readWhole, type TableName, type WholeDatabase } from '../../store/whole/read-whole.ts'
import { OF_ONE_EPOCH, TABLES } from '../../store/whole/table-order.ts'
import { nothingInstalled } from '../installation/home-in-use.ts'
import { readInstallationSecret } from '../installation/installation-secret.ts'
import { openPrepared } from '../installation/prepare.ts'
import { exists, RefusedStart, refuseWorldReadable } from '../installation/private-files.ts'
import { type Header, totalOf } from './format.ts'
import { type Content, refuseToReplace, writeBackupFile } from './write-file.ts'

export interface MadeBackup {
  readonly path: string
  readonly rows: number
  /** D-370: false if the database takes no writes. The backup is as good. */
  readonly isRecorded: boolean
}

export async function makeBackup(
  config: Config,
  options: {
    readonly path: string
    /** Whether an existing file may be replaced. */
    readonly replaces: boolean
    /** Encrypts the installation secret into the backup. */
    readonly passphrase: Secret | undefined
    readonly onRows: (done: number, total: number) => void
  },
): Promise<MadeBackup> {
  const { replaces, passphrase, onRows } = options
  const path = resolve(options.path)
  const random = systemRandom
  await refuseToReplace(path, replaces)
  const { db } = config
  if (db.kind === 'sqlite') {
    await refuseWorldReadable(db.path)
    // Opening a database would create it.
    if (!(await exists(db.path))) throw await nothingInstalled(config, 'missing')
  }
  const secret = await readInstallationSecret(config.secret)
  if (secret === undefined) throw new RefusedStart('there is no installation secret')
  const fingerprint = secretFingerprint(secret, random)
  const box = passphrase && (await sealWithPassphrase(passphrase, secret, fingerprint, random))

  const made = await readWhole(db, async (whole) => {
    await refuseForeign(whole, config, fingerprint)
    const counts = new Map<TableName, number>()
    for (const table of IN_BACKUP) counts.set(table, await whole.count(table))
    const header: Header = {
      takenAt: systemClock.now(),
      shape: SHAPE,
      counts: Object.fromEntries(counts),
      secretFingerprint: fingerprint,
      secret: box,
    }
    const rows = totalOf(header)
    const content = { header, tables: tablesOf(whole, counts, (done) => onRows(done, rows)) }
    await writeBackupFile(path, content, { secret, random, replaces })
    return { path, rows }
  })
  return { ...made, isRecorded: await record(config, made, passphrase) }
}

/** D-370: the event is how the overview knows of the last backup. */
async function record(
  config: Config,
  { rows }: Pick<MadeBackup, 'rows'>,
  passphrase: Secret | undefined,
): Promise<boolean> {
  try {
    const { store } = await openPrepared(config, systemRandom)
    try {
      const ports = auditPorts({ clock: systemClock, random: systemRandom })
      const details = { rows, withSecret: passphrase !== undefined }
      const made = { type: 'installation.backed-up', details } as const
      await store.events.insert(recordEvent(ports, undefined, made))
      return true
    } finally {
      await store.close()
    }
  } catch {
    return false
  }
}

const IN_BACKUP = TABLES.filter((table) => !OF_ONE_EPOCH.includes(table))

function tablesOf(
  whole: WholeDatabase,
  counts: ReadonlyMap<TableName, number>,
  onRows: (done: number) => void,
): Content['tables'] {
  let done = 0
  async function* counted(table: TableName) {
    for await (const rows of whole.rows(table)) {
      yield rows
      done += rows.length
      onRows(done)
    }
  }
  return [...counts].map(([table, count]) => ({ table, count, rows: counted(table) }))
}

/** A backup that its secret cannot decrypt could not be restored. */
async function refuseForeign(
  whole: WholeDatabase,
  config: Config,
  fingerprint: SecretHash,
): Promise<void> {
  for await (const [row] of whole.rows('installation')) {
    if (row?.['moved_to'] != null) {
      throw new RefusedStart(`this database was moved to ${row['moved_to']}; set "db" to that one`)
    }
    if (row?.['secret_fingerprint'] === fingerprint) return
    throw new RefusedStart('this database was made with a different installation secret')
  }
  throw await nothingInstalled(config, 'empty')
}
