/**
 * Finds an entity by id, name, username, or the identity that it belongs to. An id takes precedence over every name, so
 * that a script with ids always gets the right entity, whatever names users choose (D-167).
 */
import { type EdgeApi, pathOf, quoted } from '../../api/edge-api.ts'
import type { NamedEntity } from '../../table/command.ts'
import { CommandFailed, EXIT } from '../../terminal/io.ts'
import { plain } from '../../terminal/output.ts'
import { cellsOf, type Row } from './columns.ts'
import type { Resource } from './resource.ts'
import { resourceOf } from './resources.ts'

type Api = Pick<EdgeApi, 'list'>

/** The most matches that are listed if a name is ambiguous. */
const MOST_SHOWN = 10

/** Throws CommandFailed if there is no match, or more than one. */
export async function findNamed(
  api: Api,
  resource: Resource,
  name: string,
  /** Only among these. */
  filter?: string,
): Promise<Row> {
  const own = resource.names.filter((field) => field !== 'identity')
  const byName = own.map((field) => both(`${field} = ${quoted(name)}`, resource.open))
  const called = [`id = ${quoted(name)}`, ...byName].join(' or ')
  const { rows } = await api.list(resource.path, {
    filter: both(called, filter),
    limit: MOST_SHOWN,
  })
  const byId = rows.find(({ id }) => id === name)
  if (byId !== undefined) return byId
  if (rows.length > 0) return only(resource, name, rows)
  if (!resource.names.includes('identity')) throw nothing(resource.one, name)
  return only(resource, name, await ofIdentity(api, resource, name, filter))
}

/** Finds all of them before anything is done with the first. A name that is given twice counts once. */
export async function findAllNamed(
  api: Api,
  resource: Resource,
  names: readonly string[],
): Promise<readonly Row[]> {
  const rows = new Map<string, Row>()
  for (const name of names) {
    const row = await findNamed(api, resource, name)
    rows.set(idOf(row), row)
  }
  return [...rows.values()]
}

export async function idOfNamed(api: Api, resource: NamedEntity, name: string): Promise<string> {
  return idOf(await findNamed(api, resourceOf(resource), name))
}

export function idOf(row: Row): string {
  return String(row['id'])
}

/** Throws CommandFailed if there is no such identity, or it has none. */
async function ofIdentity(
  api: Api,
  { one, path, open }: Resource,
  name: string,
  filter: string | undefined,
): Promise<readonly Row[]> {
  const identities = resourceOf('identity')
  const called = `id = ${quoted(name)} or name = ${quoted(name)}`
  const { rows } = await api.list(identities.path, { filter: called, limit: MOST_SHOWN })
  const identity = rows.find(({ id }) => id === name) ?? rows[0]
  if (identity === undefined) throw nothing(one, name)
  const below = `${pathOf(identities.path, idOf(identity))}${path}`
  const among = filter === undefined ? open : both(filter, open)
  const { rows: found } = await api.list(below, { filter: among, limit: MOST_SHOWN })
  if (found.length > 0) return found
  const kind = among === undefined ? one : `matching ${one}`
  const whose = plain(JSON.stringify(name))
  throw new CommandFailed(`the identity ${whose} has no ${kind}`, EXIT.missing)
}

/** `rows`: at least one. */
function only(resource: Resource, name: string, rows: readonly Row[]): Row {
  const [first, second] = rows
  if (first !== undefined && second === undefined) return first
  const lines = rows.map((row) => `  ${cellsOf(resource.columns, row).filter(Boolean).join('  ')}`)
  throw new CommandFailed(
    [
      `${JSON.stringify(name)} matches several ${resource.many}; give the id of one of them:`,
      ...lines.map(plain),
    ].join('\n'),
    EXIT.usage,
  )
}

function nothing(one: string, name: string): CommandFailed {
  return new CommandFailed(`there is no ${one} ${plain(JSON.stringify(name))}`, EXIT.missing)
}

function both(one: string, other: string | undefined): string {
  return other === undefined ? one : `(${one}) and ${other}`
}
