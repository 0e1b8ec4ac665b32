/** A service on SQLite whose machine loses its power: of the database, only what was synced is certainly there. */
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { type ChildService, startChild } from '../process/child-service.ts'
import { isContinued } from './keep-synced.ts'

const KEEP_SYNCED = new URL('./keep-synced.ts', import.meta.url)

export interface DoomedHome {
  /** Starts the service, and remembers from then on what the disk has. */
  start(): Promise<ChildService>
  /**
   * After a kill: the files become what a power cut at that moment may leave. `part`, from 0 to 1, says how much of what was
   * not synced has reached the disk. Returns whether anything was lost.
   */
  cutPower(part: number): Promise<boolean>
}

export function doomedHome(t: TestContext, home: string): DoomedHome {
  const database = join(home, 'latchkey.db')
  const folder = join(home, 'synced')
  const preload = `${KEEP_SYNCED}?${new URLSearchParams({ folder, database })}`
  return {
    async start() {
      await rm(folder, { recursive: true, force: true })
      await mkdir(folder)
      return startChild(t, {
        home,
        nodeArguments: ['--import', preload],
      })
    },
    async cutPower(part) {
      const names = (await readdir(folder)).filter((name) => /^\d+$/.test(name))
      const latest = names.reduce((a, b) => (BigInt(a) > BigInt(b) ? a : b))
      const synced = await readFile(join(folder, latest, 'wal'))
      const wal = await readFile(`${database}-wal`)
      const rest = isContinued(synced, wal) ? wal.subarray(synced.length) : Buffer.alloc(0)
      const kept = rest.subarray(0, Math.floor(rest.length * part))
      await writeFile(database, await readFile(join(folder, latest, 'database')))
      await writeFile(`${database}-wal`, Buffer.concat([synced, kept]))
      await rm(`${database}-shm`, { force: true })
      return kept.length < rest.length
    },
  }
}
