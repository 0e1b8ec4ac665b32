/** `latchkey list` and `latchkey get`: entities, in pages or all at once. API 2. */
import { LARGEST_PAGE } from '../../../contract/lists.ts'
import { type EdgeApi, type ListQuery, type Page, pathOf, quoted } from '../../api/edge-api.ts'
import { openApi, type SessionValues } from '../../api/open-api.ts'
import type { Run } from '../../table/command.ts'
import { EXIT, type ExitCode, type Io, Misuse } from '../../terminal/io.ts'
import { printFields, printJson, printTable } from '../../terminal/output.ts'
import { type Column, cellsOf, detailsOf, type Row } from './columns.ts'
import { numberOf } from './fields.ts'
import { findNamed, idOfNamed } from './names.ts'
import type { Resource } from './resource.ts'
import { resourceOf } from './resources.ts'

export interface ListValues extends SessionValues {
  readonly identity?: string
  readonly role?: string
  readonly filter?: string
  readonly sort?: string
  readonly limit?: string
  readonly offset?: string
  readonly all?: boolean
}

export async function listEntities(
  resource: Resource,
  values: ListValues,
  io: Io,
): Promise<ExitCode> {
  const query = queryOf(values)
  const api = await openApi(values, io)
  const path = await collectionOf(api, resource, values.identity)
  const { rows, offset, total } =
    values.all === true
      ? await readAll(api, path, query, (done, of) => {
          io.progress(`Reading ${resource.many}: ${done} of ${of}`)
        }).finally(() => io.progress(undefined))
      : await api.list(path, query)
  if (values.json === true) return printJson(io, rows)
  printRows(io, rows, resource.columns)
  // A truncated table looks complete, so tell the user that there is more.
  if (rows.length < total)
    io.err(`${rows.length} of ${total}, after ${offset}; --all shows every one.`)
  return EXIT.ok
}

/** Returns a command that lists everything at a path. */
export function listAll(path: string, columns: readonly Column[]): Run<SessionValues> {
  return async (values, io) => {
    const api = await openApi(values, io)
    const { rows } = await readAll(api, path, {})
    if (values.json === true) return printJson(io, rows)
    printRows(io, rows, columns)
    return EXIT.ok
  }
}

export async function getEntity(
  resource: Resource,
  name: string,
  values: SessionValues,
  io: Io,
): Promise<ExitCode> {
  const api = await openApi(values, io)
  const row = await findNamed(api, resource, name)
  if (values.json === true) printJson(io, row)
  else printFields(io, detailsOf(row))
  return EXIT.ok
}

/** Returns no row twice, even if others are created meanwhile. A deletion may hide a row at a page boundary. */
export async function readAll(
  api: Pick<EdgeApi, 'list'>,
  path: string,
  query: ListQuery,
  tell?: (done: number, total: number) => void,
): Promise<Page> {
  const rows = new Map<unknown, Row>()
  for (let offset = 0; ; ) {
    const page = await api.list(path, { ...query, limit: LARGEST_PAGE, offset })
    const before = rows.size
    for (const row of page.rows) rows.set(row['id'], row)
    offset += page.rows.length
    // A page without new rows is the last one, whatever total the server reports.
    if (rows.size === before || offset >= page.total) break
    tell?.(rows.size, page.total)
  }
  return { rows: [...rows.values()], offset: 0, total: rows.size }
}

export function printRows(io: Io, rows: readonly Row[], columns: readonly Column[]): void {
  const cells = rows.map((row) => cellsOf(columns, row))
  printTable(
    io,
    cells,
    columns.map(({ title }, at) => ({ title, value: (row: readonly string[]) => row[at] })),
  )
}

async function collectionOf(
  api: EdgeApi,
  { path }: Resource,
  identity: string | undefined,
): Promise<string> {
  if (identity === undefined) return path
  return `${pathOf(resourceOf('identity').path, await idOfNamed(api, 'identity', identity))}${path}`
}

function queryOf({ filter, role, sort, limit, offset, all }: ListValues): ListQuery {
  if (all === true && (limit ?? offset) !== undefined) {
    throw new Misuse('--all cannot be combined with --limit or --offset')
  }
  return {
    filter: role === undefined ? filter : withRole(role, filter),
    sort,
    limit: limit === undefined ? undefined : numberOf('limit', limit),
    offset: offset === undefined ? undefined : numberOf('offset', offset),
  }
}

function withRole(role: string, filter: string | undefined): string {
  const has = `anyOf(roleAttributes) = ${quoted(role)}`
  return filter === undefined ? has : `${has} and (${filter})`
}
