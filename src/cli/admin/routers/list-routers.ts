/** `latchkey list routers`: edge routers, with the time of their last contact. D-381. */
import { openApi, type SessionValues } from '../../api/open-api.ts'
import { EXIT, type ExitCode, type Io } from '../../terminal/io.ts'
import { printJson } from '../../terminal/output.ts'
import type { Column } from '../entities/columns.ts'
import { printRows, readAll } from '../entities/list-entities.ts'

const COLUMNS: readonly Column[] = [
  { title: 'NAME', path: 'name' },
  { title: 'ID', path: 'id' },
  { title: 'HOSTS', path: 'hosts', as: 'list' },
  { title: 'CONNECTED', path: 'isConnected', as: 'truth' },
  { title: 'LAST CONTACT', path: 'lastContactAt', as: 'time' },
  { title: 'CONFIRMS', path: 'confirms', as: 'truth' },
  { title: 'PROGRAMS', path: 'programs' },
]

export async function listRouters(values: SessionValues, io: Io): Promise<ExitCode> {
  const api = await openApi(values, io)
  const { rows } = await readAll(api, '/routers', {}, () => undefined)
  if (values.json === true) printJson(io, rows)
  else printRows(io, rows, COLUMNS)
  return EXIT.ok
}
