/**
 * `latchkey completion names`: the names that a shell offers, from the server of the context. It runs at every Tab, so it
 * asks once, for a page of names that begin with what was typed, gives up after a second, and never says what went wrong:
 * a message would end up in the line that the user types. D-354.
 */

import type { Row } from '../admin/entities/columns.ts'
import { valueAt } from '../admin/entities/columns.ts'
import { resourceOf } from '../admin/entities/resources.ts'
import { createEdgeApi, type EdgeApi, quoted } from '../api/edge-api.ts'
import { openSession } from '../contexts/open-session.ts'
import { NAMED_ENTITIES, type NamedEntity } from '../table/command.ts'
import { EXIT, type ExitCode, type Io } from '../terminal/io.ts'

const MOST_NAMES = 100
const PATIENCE_MILLISECONDS = 1_000

export async function printNames(
  values: { readonly prefix?: string; readonly context?: string },
  io: Io,
  [entity = '']: readonly string[],
): Promise<ExitCode> {
  const kind = NAMED_ENTITIES.find((one) => one === entity)
  if (kind === undefined) return EXIT.ok
  try {
    // Completion must never ask for anything: the shell would hang.
    const quiet: Io = { ...io, isInteractive: false, progress: () => undefined }
    const session = await openSession(values, quiet, PATIENCE_MILLISECONDS)
    const api = createEdgeApi(session, 'management')
    for (const name of await namesOf(api, kind, values.prefix ?? '')) io.out(name)
  } catch {
    // Not logged in, not an administrator, no server: there is nothing to offer.
  }
  return EXIT.ok
}

/** Returns at most a hundred, in order, each once. Names with characters that no shell can complete are left out. */
export async function namesOf(
  api: Pick<EdgeApi, 'list'>,
  kind: NamedEntity,
  prefix: string,
): Promise<readonly string[]> {
  const { path, names } = resourceOf(kind)
  const [field = 'name'] = names
  const isOwn = field !== 'identity'
  // What belongs to an identity is named by it, and cannot be filtered by that name.
  const query = isOwn ? { filter: startsWith(field, prefix), sort: field } : {}
  const { rows } = await api.list(path, { ...query, limit: MOST_NAMES })
  const found = rows.flatMap((row) => nameIn(row, isOwn ? field : 'identity.name'))
  const fitting = found.filter((name) => name.startsWith(prefix) && !UNFIT.test(name))
  return [...new Set(fitting)].sort()
}

function nameIn(row: Row, path: string): readonly string[] {
  const name = valueAt(row, path)
  return typeof name === 'string' && name !== '' ? [name] : []
}

/** Lists compare by code point, so a range is a prefix. */
function startsWith(field: string, prefix: string): string | undefined {
  if (prefix === '') return undefined
  return `${field} >= ${quoted(prefix)} and ${field} < ${quoted(`${prefix}\u{10ffff}`)}`
}

/** Control characters, line ends, and what reverses or hides text: a name with them is typed by its id. */
const UNFIT = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u
