/** `latchkey keys list`, and `keys rotate` over the API. API 3.3, D-23, D-135. */
import { pathOf } from '../api/edge-api.ts'
import { openApi, type SessionValues } from '../api/open-api.ts'
import { EXIT, type ExitCode, type Io } from '../terminal/io.ts'
import { plain, printJson } from '../terminal/output.ts'
import type { Column } from './entities/columns.ts'
import { printRows, readAll } from './entities/list-entities.ts'
import { idOf } from './entities/names.ts'

const PATH = '/signing-keys'

const COLUMNS: readonly Column[] = [
  { title: 'KID', path: 'kid' },
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
  if (revokeNow) {
    // Our own token is one of those that are now rejected, so we cannot use it to fetch the new key.
    io.out(plain(`The signing key ${idOf(made)} signs from now on. All older keys are withdrawn.`))
    return EXIT.ok
  }
  const { kid, algorithm, activeFrom } = await api.get(pathOf(PATH, idOf(made)))
  io.out(plain(`The signing key ${kid} (${algorithm}) is published and signs from ${activeFrom}.`))
  return EXIT.ok
}
