/**
 * Reads a backup line by line without trusting it: a file that is truncated, altered, of another version or not a
 * backup is refused with a message that says which. docs/backup.md has the format.
 */
import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import { areStrings, isJsonObject, type JsonObject, parseJson } from '../../base/json.ts'
import type { PassphraseBox } from '../../base/secrets/passphrase.ts'
import type { SecretHash } from '../../base/secrets/vault.ts'
import { fromRfc3339 } from '../../base/time/instant.ts'
import { BATCH_ROWS } from '../../domain/paging.ts'
import { SHAPE } from '../../store/migrate.ts'
import type { Row, TableName } from '../../store/whole/read-whole.ts'
import { TABLES } from '../../store/whole/table-order.ts'
import type { RowsOfTable } from '../../store/whole/write-whole.ts'
import { RefusedStart } from '../installation/private-files.ts'
import { type Ending, FORMAT, type Header, totalOf, type Value, VERSION } from './format.ts'

export interface BackupFile {
  readonly header: Header
  readonly ending: Ending
}

/** Yields some rows of one table at a time; returns the file's own summary at the end. Throws RefusedStart. */
export type BackupRows = AsyncGenerator<RowsOfTable, BackupFile, undefined>

const CUT_OFF = 'is cut off: its end is missing'

/** A row has a few texts of at most 1 MiB (D-44). */
const LONGEST_LINE = 64 * 2 ** 20
const NEW_LINE = 0x0a
const DEEPEST = 8

export async function* readBackupFile(
  path: string,
  onRows: (done: number, total: number) => void = () => {},
): BackupRows {
  const refuse = (why: string) => new RefusedStart(`${path} ${why}`)
  const hash = createHash('sha256')
  let header: Header | undefined
  let open: OpenTable | undefined
  let ending: Ending | undefined
  let done = 0

  for await (const line of linesOf(path, refuse)) {
    if (ending !== undefined) throw refuse('has data after its end')
    const value = readLine(line)
    if (header === undefined) {
      header = readHeader(value, refuse)
    } else if (open !== undefined && open.missing > 0) {
      const row = readRow(value, open)
      if (row === undefined) throw refuse(`is damaged: a row of ${open.table} cannot be read`)
      open.missing--
      open.batch.push(row)
      if (open.batch.length === BATCH_ROWS || open.missing === 0) {
        yield { table: open.table, rows: open.batch }
        done += open.batch.length
        onRows(done, totalOf(header))
        open = { ...open, batch: [] }
      }
    } else if (isJsonObject(value) && 'sha256' in value) {
      ending = readEnding(value)
      if (ending?.sha256 !== hash.digest('hex')) {
        throw refuse('is damaged or was altered: its SHA-256 does not match')
      }
      continue
    } else {
      open = readTable(value, open?.table)
      if (open === undefined) throw refuse('is damaged: a table was expected')
      if (open.missing !== header.counts[open.table]) {
        throw refuse(`is damaged: the number of rows of ${open.table} does not match`)
      }
    }
    hash.update(line).update('\n')
  }
  if (header === undefined) throw refuse('is not a backup of Latchkey')
  if (ending === undefined) throw refuse(CUT_OFF)
  if (done !== totalOf(header)) throw refuse('is damaged: a table is missing')
  return { header, ending }
}

interface OpenTable {
  readonly table: TableName
  readonly columns: readonly string[]
  missing: number
  readonly batch: Row[]
}

type Refuse = (why: string) => RefusedStart

/** Splits at newlines. Bytes after the last newline are not a line: the file is truncated there. */
async function* linesOf(path: string, refuse: Refuse): AsyncIterable<Buffer> {
  const file = await open(path)
  let isFirst = true
  let parts: Buffer[] = []
  let length = 0
  for await (const chunk of file.createReadStream() as AsyncIterable<Buffer>) {
    let start = 0
    for (let end = chunk.indexOf(NEW_LINE); end >= 0; end = chunk.indexOf(NEW_LINE, start)) {
      parts.push(chunk.subarray(start, end))
      yield Buffer.concat(parts)
      isFirst = false
      parts = []
      length = 0
      start = end + 1
    }
    parts.push(chunk.subarray(start))
    length += chunk.length - start
    if (length > LONGEST_LINE) throw refuse('is not a backup of Latchkey')
  }
  if (length > 0) throw refuse(isFirst ? 'is not a backup of Latchkey' : CUT_OFF)
}

function readLine(bytes: Uint8Array): unknown {
  return parseJson(bytes, DEEPEST)?.value
}

function readHeader(value: unknown, refuse: Refuse): Header {
  if (!isJsonObject(value) || value['format'] !== FORMAT)
    throw refuse('is not a backup of Latchkey')
  const { version, takenAt, shape, counts, secretFingerprint, secret } = value
  const known = new Set(SHAPE)
  const isNewer =
    (typeof version === 'number' && version > VERSION) ||
    (areStrings(shape) && shape.some((name) => !known.has(name)))
  if (isNewer) {
    throw refuse('was made by a newer version of Latchkey; restore it with that one or a later one')
  }
  if (version !== VERSION || !areStrings(shape))
    throw refuse('is damaged: its header cannot be read')
  if (shape.length !== SHAPE.length) {
    throw refuse('was made by an older version of Latchkey; restore it with that one, then update')
  }
  const at = typeof takenAt === 'string' ? fromRfc3339(takenAt) : undefined
  const box = secret === undefined ? undefined : readBox(secret)
  const isWhole =
    at !== undefined &&
    isCounts(counts) &&
    typeof secretFingerprint === 'string' &&
    (secret === undefined || box !== undefined)
  if (!isWhole) throw refuse('is damaged: its header cannot be read')
  return {
    takenAt: at,
    shape,
    counts,
    secretFingerprint: secretFingerprint as SecretHash,
    secret: box,
  }
}

function readBox(value: unknown): PassphraseBox | undefined {
  if (!isJsonObject(value)) return undefined
  const { salt, sealed } = value
  return typeof salt === 'string' && typeof sealed === 'string' ? { salt, sealed } : undefined
}

/** In the order of `TABLES`, each at most once. */
function readTable(value: unknown, before: TableName | undefined): OpenTable | undefined {
  if (!isJsonObject(value)) return undefined
  const { table, count, columns } = value
  const position = TABLES.indexOf(table as TableName)
  const isNext = position > (before === undefined ? -1 : TABLES.indexOf(before))
  if (position < 0 || !isNext || !isCount(count) || !areStrings(columns)) return undefined
  return { table: table as TableName, columns, missing: count, batch: [] }
}

function readRow(value: unknown, { columns }: OpenTable): Row | undefined {
  if (!Array.isArray(value) || value.length !== columns.length) return undefined
  if (!value.every(isValue)) return undefined
  return Object.fromEntries(columns.map((name, i) => [name, value[i] as Value]))
}

function readEnding({ sha256, proof }: JsonObject): Ending | undefined {
  if (typeof sha256 !== 'string' || typeof proof !== 'string') return undefined
  return { sha256, proof: proof as SecretHash }
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0
}

function isCounts(value: unknown): value is Header['counts'] {
  return isJsonObject(value) && Object.values(value).every(isCount)
}

function isValue(value: unknown): value is Value {
  return value === null || typeof value === 'string' || Number.isSafeInteger(value)
}
