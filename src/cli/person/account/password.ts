/**
 * `latchkey password`: changes the user's own password. API 3.1, D-123. It asks for the current one; all other
 * sessions end. Neither password is ever an argument, because other users of the machine can see arguments.
 */
import { idOf } from '../../admin/entities/names.ts'
import { pathOf } from '../../api/edge-api.ts'
import { openApi, type SessionValues } from '../../api/open-api.ts'
import { CommandFailed, EXIT, type ExitCode, type Io } from '../../terminal/io.ts'
import { askNewSecret } from '../../terminal/new-secret.ts'
import { printJson } from '../../terminal/output.ts'
import { TRIES } from '../ask-password.ts'

const PATH = '/current-identity/authenticators'

export async function changePassword(values: SessionValues, io: Io): Promise<ExitCode> {
  const api = await openApi(values, io, { optionFor: (field) => NAMES[field], which: 'client' })
  const { rows } = await api.list(PATH, { filter: 'method = "updb"' })
  const [own] = rows
  if (own === undefined) {
    throw new CommandFailed('you have no password; you log in with another method', EXIT.missing)
  }
  const currentPassword = await io.askSecret('Current password: ')
  const password = await askNewSecret(io, 'New password: ', TRIES)
  await api.send('PATCH', pathOf(PATH, idOf(own)), { password, currentPassword })
  if (values.json === true) printJson(io, { id: idOf(own) })
  else io.out('The password was changed. All your other sessions have ended.')
  return EXIT.ok
}

/** What messages call a field. */
const NAMES: Readonly<Record<string, string>> = {
  password: 'the new one',
  currentPassword: 'the current one',
}
