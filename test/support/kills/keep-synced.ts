/**
 * Loaded before the command (`node --import`): keeps, beside the database, what a disk certainly has of it. Whenever a
 * sync of the WAL is done and before anybody is told, `folder` gets a folder with the database and the WAL as they were
 * when the sync began. `database` is the path of the database. The folder with the highest number is what a power cut
 * leaves.
 */
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import process from 'node:process'

// In the address and not in the environment: workers get the arguments of Node and none of our variables.
const { searchParams } = new URL(import.meta.url)
const [folder, database] = [searchParams.get('folder'), searchParams.get('database')]
if (folder !== null && database !== null) keepSynced(folder, database)

interface Image {
  readonly database: Buffer
  readonly wal: Buffer
}

function keepSynced(folder: string, database: string): void {
  const { fdatasync } = fs
  let latest = 0n
  fs.fdatasync = ((descriptor, callback) => {
    // Of one clock for all processes of the service.
    const begun = process.hrtime.bigint()
    const image = readImage(database)
    fdatasync(descriptor, (error) => {
      // Only the latest: they are whole databases, and after many rounds all of them would be gigabytes.
      if (error === null && begun > latest) {
        publish(join(folder, String(begun)), image)
        fs.rmSync(join(folder, String(latest)), { recursive: true, force: true })
        latest = begun
      }
      callback(error)
    })
  }) as typeof fs.fdatasync
  syncBuiltinESMExports()
}

/**
 * A checkpoint of another thread or process may copy frames of the WAL into the database while both are read: those frames
 * are in the WAL that is read last, unless it was begun anew meanwhile.
 */
function readImage(path: string): Image {
  for (;;) {
    const before = fs.readFileSync(`${path}-wal`)
    const database = fs.readFileSync(path)
    const wal = fs.readFileSync(`${path}-wal`)
    if (isContinued(before, wal)) return { database, wal }
  }
}

/** The header of a WAL, with its salts, is its first 32 bytes (https://sqlite.org/fileformat2.html#walformat). */
export function isContinued(before: Buffer, after: Buffer): boolean {
  return after.length >= before.length && after.subarray(0, 32).equals(before.subarray(0, 32))
}

function publish(path: string, { database, wal }: Image): void {
  const unfinished = `${path}.unfinished`
  fs.mkdirSync(unfinished)
  fs.writeFileSync(join(unfinished, 'database'), database)
  fs.writeFileSync(join(unfinished, 'wal'), wal)
  fs.renameSync(unfinished, path)
}
