/** `latchkey describe session`: everything that happened to a session, and who has confirmed its end. D-384. */
import { ApiRefused, pathOf } from '../../api/edge-api.ts'
import { openApi, type SessionValues } from '../../api/open-api.ts'
import type { Run } from '../../table/command.ts'
import { CommandFailed, EXIT } from '../../terminal/io.ts'
import { plain, printFields, printJson } from '../../terminal/output.ts'
import { type Column, type Row, valueAt } from '../entities/columns.ts'
import { printRows } from '../entities/list-entities.ts'
import { confirmationLines } from './confirmations.ts'

const COLUMNS: readonly Column[] = [
  { title: 'TIME', path: 'at', as: 'time' },
  { title: 'WHAT', path: 'what' },
  { title: 'REASON', path: 'reason' },
  { title: 'ADDRESS', path: 'address' },
  { title: 'BY', path: 'by' },
]

export const describeSession: Run<SessionValues> = async (values, io, [id = '']) => {
  const api = await openApi(values, io)
  const ledger = await api.get(pathOf('/api-sessions', id, 'ledger')).catch((error: unknown) => {
    // The API says only that there is nothing at this address.
    const isMissing = error instanceof ApiRefused && error.code === 'NOT_FOUND'
    throw isMissing
      ? new CommandFailed(`there is no session ${JSON.stringify(id)}, now or before`, EXIT.missing)
      : error
  })
  if (values.json === true) return printJson(io, ledger)
  const { identityName, identityId, isActive, omitted, end } = ledger
  printFields(io, [
    ['session', String(ledger['sessionId'])],
    ['identity', `${identityName ?? 'deleted'} (${identityId ?? 'unknown'})`],
    ['active', isActive === true ? 'yes' : 'no'],
  ])
  io.out('')
  const entries = Array.isArray(ledger['entries']) ? (ledger['entries'] as Row[]) : []
  printRows(io, entries.map(shownEntry), COLUMNS)
  if (typeof omitted === 'number' && omitted > 0) {
    io.err(`${omitted} events after the first one are left out; latchkey events shows them.`)
  }
  const confirmations = valueAt(end, 'confirmations')
  if (typeof confirmations === 'object' && confirmations !== null) {
    io.out('')
    for (const line of confirmationLines(confirmations as Row)) io.out(line)
  }
  return EXIT.ok
}

function shownEntry(entry: Row): Row {
  if (entry['kind'] === 'router-contact') {
    const { at, routerName, routerId, lastAt } = entry
    const until = lastAt === at ? '' : `, last at ${lastAt}`
    return { at, what: plain(`admitted by router ${routerName ?? routerId}${until}`) }
  }
  const event = entry['event']
  return {
    at: entry['at'],
    what: valueAt(event, 'type'),
    reason: valueAt(event, 'reason'),
    address: valueAt(event, 'address'),
    by: valueAt(event, 'actorName') ?? valueAt(event, 'actorId'),
  }
}
