/**
 * Writes a backup to a temporary file with mode 0600, syncs it to disk, and only then gives it its name. If the process
 * is killed before, the previous file is unchanged.
 */
import { createHash } from 'node:crypto'
import { type FileHandle, link, open, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { base64url } from '../../base/encoding.ts'
import type { Random } from '../../base/secrets/random.ts'
import { toRfc3339 } from '../../base/time/instant.ts'
import type { Row, TableName } from '../../store/whole/read-whole.ts'
import { writingFile } from '../installation/file-faults.ts'
import { RefusedStart, syncFolderOf } from '../installation/private-files.ts'
import { FORMAT, type Header, proofOf, VERSION } from './format.ts'

/** How many characters are written at once. */
const CHUNK = 256 * 1024

export interface Content {
  readonly header: Header
  /** In order; `rows` is read once. */
  readonly tables: readonly {
    readonly table: TableName
    readonly count: number
    readonly rows: AsyncIterable<readonly Row[]>
  }[]
}

/** `replaces`: whether an existing file of that name may be replaced. */
export async function writeBackupFile(
  path: string,
  content: Content,
  deps: { readonly secret: Uint8Array; readonly random: Random; readonly replaces: boolean },
): Promise<void> {
  const { secret, random } = deps
  const beside = join(dirname(path), `.${basename(path)}.${base64url(random.bytes(6))}`)
  try {
    const file = await writingFile(path, () => open(beside, 'wx', 0o600))
    try {
      const sha256 = await writeLines(path, file, linesOf(content))
      const proof = proofOf(sha256, secret, random)
      await file.write(`${JSON.stringify({ sha256, proof })}\n`)
      await file.sync()
    } finally {
      await file.close()
    }
    await writingFile(path, () => (deps.replaces ? rename(beside, path) : place(beside, path)))
  } finally {
    await rm(beside, { force: true })
  }
  await syncFolderOf(path)
}

async function place(beside: string, path: string): Promise<void> {
  try {
    // Unlike a rename, it never replaces a file.
    await link(beside, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    throw alreadyThere(path)
  }
}

/**
 * Throws RefusedStart if there is something at `path` that must stay. D-495: even with `--force`, only an earlier
 * backup or an empty file is replaced. A wrong name would otherwise destroy the database, its secret or a device.
 */
export async function refuseToReplace(path: string, replaces: boolean): Promise<void> {
  const existing = await stat(path).catch(() => undefined)
  if (existing === undefined) return
  if (existing.isDirectory()) throw new RefusedStart(`${path} is a folder; name a file in it`)
  if (!replaces) throw alreadyThere(path)
  if (existing.isFile() && (existing.size === 0 || (await isBackup(path)))) return
  throw new RefusedStart(
    `${path} is not a backup, so --force does not replace it; choose another name`,
  )
}

async function isBackup(path: string): Promise<boolean> {
  const start = `{"format":${JSON.stringify(FORMAT)},`
  const file = await writingFile(path, () => open(path, 'r'))
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(start.length))
    return buffer.toString('latin1', 0, bytesRead) === start
  } finally {
    await file.close()
  }
}

function alreadyThere(path: string): RefusedStart {
  return new RefusedStart(`${path} already exists; pass --force to replace it`)
}

async function writeLines(
  path: string,
  file: FileHandle,
  lines: AsyncIterable<object>,
): Promise<string> {
  const hash = createHash('sha256')
  let waiting = ''
  const flush = async () => {
    hash.update(waiting)
    await writingFile(path, () => file.writeFile(waiting))
    waiting = ''
  }
  for await (const line of lines) {
    waiting += `${JSON.stringify(line)}\n`
    if (waiting.length >= CHUNK) await flush()
  }
  await flush()
  return hash.digest('hex')
}

async function* linesOf({ header, tables }: Content): AsyncIterable<object> {
  const { takenAt, shape, counts, secretFingerprint, secret } = header
  const first = { format: FORMAT, version: VERSION, takenAt: toRfc3339(takenAt), shape, counts }
  yield { ...first, secretFingerprint, ...(secret === undefined ? {} : { secret }) }
  for (const { table, count, rows } of tables) {
    let columns: readonly string[] | undefined
    for await (const batch of rows) {
      if (columns === undefined) {
        columns = Object.keys(batch[0] ?? {})
        yield { table, count, columns }
      }
      for (const row of batch) yield columns.map((name) => row[name])
    }
    if (columns === undefined) yield { table, count, columns: [] }
  }
}
