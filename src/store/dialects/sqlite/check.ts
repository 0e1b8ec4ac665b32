/**
 * Checks a SQLite file for damage before it is used: `pragma quick_check`, within a bounded time (D-254). SQLite cannot
 * be interrupted from here, so a large file is checked in a child process, which can be killed.
 */
import { execFile } from 'node:child_process'
import { stat } from 'node:fs/promises'
import { DatabaseSync } from 'node:sqlite'
import { promisify } from 'node:util'
import { type Duration, seconds } from '../../../base/time/duration.ts'

/** The damage, `sound`, or `unfinished` if there was not enough time. */
export type CheckOutcome = 'sound' | 'unfinished' | { readonly damage: string }

/** Up to this size the check takes a fraction of a second in this process; starting another one would take longer. */
const SMALL_BYTES = 16 * 2 ** 20
const LIMIT: Duration = seconds(10)

const SQLITE_CORRUPT = 11

const IN_A_PROCESS = `
  const { quickCheck } = await import(process.argv[1])
  console.log(JSON.stringify(quickCheck(process.argv[2])))
`

export async function checkFile(
  path: string,
  {
    small = SMALL_BYTES,
    limit = LIMIT,
  }: { readonly small?: number; readonly limit?: Duration } = {},
): Promise<CheckOutcome> {
  const file = await stat(path).catch(() => undefined)
  if (file === undefined || file.size === 0) return 'sound'
  if (file.size <= small) return quickCheck(path)
  const script = ['--input-type=module', '-e', IN_A_PROCESS, import.meta.url, path]
  try {
    const options = { timeout: limit, killSignal: 'SIGKILL' } as const
    const { stdout } = await promisify(execFile)(process.execPath, script, options)
    return JSON.parse(stdout)
  } catch {
    return 'unfinished'
  }
}

/** Blocks until the check is done. */
export function quickCheck(path: string): CheckOutcome {
  let database: DatabaseSync | undefined
  try {
    database = new DatabaseSync(path, { readOnly: true })
    const result = database.prepare('pragma quick_check(1)').get()?.['quick_check']
    return result === 'ok' ? 'sound' : { damage: firstLine(String(result)) }
  } catch (error) {
    const { errcode, message } = error as { errcode?: number; message: string }
    // Any other error (locked, not a database) is reported by the next code that opens the file.
    const isDamage = errcode !== undefined && (errcode & 0xff) === SQLITE_CORRUPT
    return isDamage ? { damage: firstLine(message) } : 'sound'
  } finally {
    database?.close()
  }
}

/** The first line may only name the database: `*** in database main ***`. */
function firstLine(text: string): string {
  return text.split('\n').find((line) => !line.startsWith('***')) ?? text
}
