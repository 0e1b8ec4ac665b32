/**
 * Recognizes a server with another history than the one this service has written to. After a failover the old primary
 * can come back and accept writes, with an older state: what was ended or spent since would be valid again. D-296.
 *
 * PostgreSQL numbers histories: a standby that is promoted begins the next timeline. The number alone does not tell two
 * standbys apart that were both promoted, so the service gives each timeline a random name when it first writes to it,
 * in a table that is replicated like all others. A server is used if it is on the timeline that was last used, or on a
 * later one that has grown out of it.
 */
import { randomUUID } from 'node:crypto'
import { readFile, rename, writeFile } from 'node:fs/promises'
import type { Link } from './link.ts'

/** The last timeline that was written to. */
export interface Timeline {
  /** Identifies the cluster and the database in it: copies have the same. */
  readonly system: string
  readonly number: number
  readonly name: string
}

/** A table of this dialect alone: it describes the server, so it is neither backed up nor moved. */
const TIMELINES_TABLE = 'database_timelines'
export const CREATE_TIMELINES_TABLE = `
  create table if not exists ${TIMELINES_TABLE} (number bigint primary key, name text not null)`

export interface Timelines {
  /** Throws if this server must not be used. Names its timeline if it has no name yet. */
  admit(link: Link): Promise<void>
  /** Calls the listener when a later timeline is used: connections to servers on the former one must be dropped. */
  onAdvance(listener: () => void): void
}

/** `file` remembers the timeline over restarts; undefined if nothing does. */
export function createTimelines(file: string | undefined): Timelines {
  let last: Promise<Timeline | undefined> | undefined
  let onAdvance = () => {}

  return {
    onAdvance(listener) {
      onAdvance = listener
    },

    async admit(link) {
      last ??= readTimeline(file)
      const server = await describe(link)
      // A standby writes nothing; whether one is acceptable is decided elsewhere.
      if (server === undefined) return
      const before = await last
      const known = before?.system === server.system ? before : undefined
      if (known !== undefined) refuseStranger(known, server)
      if (!server.hasTable || known?.number === server.number) return
      const timeline = { ...server, name: await nameTimeline(link, server.number) }
      last = Promise.resolve(timeline)
      if (file !== undefined) await writeTimeline(file, timeline)
      if (known !== undefined) onAdvance()
    },
  }
}

interface Server extends Pick<Timeline, 'system' | 'number'> {
  readonly hasTable: boolean
  readonly names: ReadonlyMap<number, string>
}

async function describe(link: Link): Promise<Server | undefined> {
  const { rows } = await link.run({
    text: `select system_identifier || '/' || pg_database.oid as system,
      case when not pg_is_in_recovery() then pg_walfile_name(pg_current_wal_insert_lsn()) end as wal,
      to_regclass($1) is not null as has_table
      from pg_control_system(), pg_database where datname = current_database()`,
    values: [TIMELINES_TABLE],
  })
  const [{ system, wal, has_table: hasTable }] = rows as [
    { system: string; wal: string | null; has_table: boolean },
  ]
  // The name of a WAL file begins with its timeline, in eight hexadecimal digits.
  if (wal === null) return undefined
  const names = new Map<number, string>()
  if (hasTable) {
    const named = await link.run({ text: `select number, name from ${TIMELINES_TABLE}` })
    for (const { number, name } of named.rows as { number: number; name: string }[]) {
      names.set(number, name)
    }
  }
  return { system, number: Number.parseInt(wal.slice(0, 8), 16), hasTable, names }
}

function refuseStranger(known: Timeline, { number, names }: Server): void {
  if (number < known.number) {
    throw new Error(
      `the server is on timeline ${number}, but timeline ${known.number} is in use: it is a former primary`,
    )
  }
  if (names.get(known.number) !== known.name) {
    throw new Error(
      `the server does not have the history that is in use (timeline ${known.number}): treat it as a restored backup`,
    )
  }
}

/** Two instances may do it at once: the first one's name stays. */
async function nameTimeline(link: Link, number: number): Promise<string> {
  const { rows } = await link.run({
    text: `with added as (
        insert into ${TIMELINES_TABLE} (number, name) values ($1, $2) on conflict do nothing returning name
      )
      select name from added union all select name from ${TIMELINES_TABLE} where number = $1 limit 1`,
    values: [number, randomUUID()],
  })
  const [row] = rows as { name: string }[]
  // Inserted by another instance after this statement began.
  return row?.name ?? nameTimeline(link, number)
}

async function readTimeline(file: string | undefined): Promise<Timeline | undefined> {
  if (file === undefined) return undefined
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (text === undefined) return undefined
  const [, system, number, name] = /^([\d/]+) (\d+) ([\w-]+)\n$/.exec(text) ?? []
  if (system === undefined || number === undefined || name === undefined) {
    throw new Error(`${file} is damaged; delete it if ${REMEDY}`)
  }
  return { system, number: Number(number), name }
}

const REMEDY = 'the database server is the right one'

async function writeTimeline(file: string, { system, number, name }: Timeline): Promise<void> {
  const temporary = `${file}.${randomUUID()}`
  await writeFile(temporary, `${system} ${number} ${name}\n`, { mode: 0o600 })
  await rename(temporary, file)
}
