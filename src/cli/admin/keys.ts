/** `latchkey keys list`, and `keys rotate` over the API. API 3.3, D-23, D-135. */
import { openApi, type SessionValues } from '../api/open-api.ts'
import { EXIT, type ExitCode, type Io } from '../terminal/io.ts'
import { printJson } from '../terminal/output.ts'
import type { Column } from './entities/columns.ts'
import { printRows, readAll } from './entities/list-entities.ts'
import { type NewKey, printNewKeys } from './new-keys.ts'

const PATH = '/signing-keys'

const COLUMNS: readonly Column[] = [
  { title: 'KID', path: 'kid' },
  { title: 'SIGNS', path: 'purpose' },
  { title: 'ALGORITHM', path: 'algorithm' },
  { title: 'STATE', path: 'state' },
  { title: 'SIGNS FROM', path: 'activeFrom', as: 'time' },
  { title: 'PUBLISHED UNTIL', path: 'publishedUntil', as: 'time' },
]

export async function listKeys(values: SessionValues, io: Io): Promise<ExitCode> {
  const api = await openApi(values, io)
  const { rows } = await readAll(api, PATH, {}, () => undefined)
  if (values.json === true) printJson(io, rows)
  else printRows(io, rows, COLUMNS)
  return EXIT.ok
}

export async function rotateKeysByApi(
  values: SessionValues & { readonly 'revoke-now'?: boolean },
  io: Io,
): Promise<ExitCode> {
  const revokeNow = values['revoke-now'] === true
  const api = await openApi(values, io)
  const made = await api.send('POST', PATH, { revokeNow })
  if (values.json === true) {
    printJson(io, made)
    return EXIT.ok
  }
  // The answer names the keys: after --revoke-now our own token is rejected, and could not fetch them.
  printNewKeys(io, made['keys'] as readonly NewKey[], revokeNow ? 'older-keys' : 'nothing')
  return EXIT.ok
}
