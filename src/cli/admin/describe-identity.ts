/** `latchkey describe identity`: everything that an administrator looks at first, on one page. */
import { pathOf, quoted } from '../api/edge-api.ts'
import { openApi, type SessionValues } from '../api/open-api.ts'
import type { Run } from '../table/command.ts'
import { EXIT, type Io } from '../terminal/io.ts'
import { printFields, printJson } from '../terminal/output.ts'
import { type Column, detailsOf, type Row } from './entities/columns.ts'
import { printRows } from './entities/list-entities.ts'
import { findNamed, idOf } from './entities/names.ts'
import { resourceOf } from './entities/resources.ts'
import { EVENT_COLUMNS, printEvents } from './events/events.ts'

const IDENTITIES = resourceOf('identity')
/** How many rows of each kind. `list` and `events` show all of them. */
const MOST_ROWS = 10
/** All are of this identity. */
const OWN_EVENT_COLUMNS = EVENT_COLUMNS.filter(({ path }) => path !== 'identity')

interface Part {
  readonly title: string
  readonly name: string
  readonly columns: readonly Column[]
  readonly rows: readonly Row[]
  readonly total: number
}

export const describeIdentity: Run<SessionValues> = async (values, io, [name = '']) => {
  const api = await openApi(values, io)
  const identity = await findNamed(api, IDENTITIES, name)
  const own = pathOf(IDENTITIES.path, idOf(identity))
  const parts: Part[] = []
  for (const one of ['authenticator', 'enrollment', 'session'] as const) {
    const { path, columns, many } = resourceOf(one)
    const { rows, total } = await api.list(`${own}${path}`, { limit: MOST_ROWS })
    parts.push({
      title: `${many[0]?.toUpperCase()}${many.slice(1)}`,
      name: many,
      columns,
      rows,
      total,
    })
  }
  const events = await api.list('/events', {
    filter: `identityId = ${quoted(idOf(identity))}`,
    sort: 'at desc',
    limit: MOST_ROWS,
  })
  const { rows, total } = events
  const newest = [...rows].reverse()
  parts.push({ title: 'Events', name: 'events', columns: OWN_EVENT_COLUMNS, rows: newest, total })

  if (values.json === true) {
    const rows = Object.fromEntries(parts.map((part) => [part.name, part.rows]))
    return printJson(io, { identity, ...rows })
  }
  printFields(io, detailsOf(identity))
  for (const part of parts) show(part, io)
  return EXIT.ok
}

function show({ title, name, columns, rows, total }: Part, io: Io): void {
  io.out('')
  if (rows.length === 0) {
    io.out(`${title}: none`)
    return
  }
  io.out(rows.length < total ? `${title} (${rows.length} of ${total})` : title)
  if (name === 'events') printEvents(io, rows, columns)
  else printRows(io, rows, columns)
}
