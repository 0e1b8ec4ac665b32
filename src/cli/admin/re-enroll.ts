/**
 * `latchkey re-enroll`: replaces a lost, stolen or forgotten credential by an invitation to create a new one, in one
 * step. API 3.3. The token is printed, because it cannot be shown again.
 */
import { pathOf } from '../api/edge-api.ts'
import { openApi } from '../api/open-api.ts'
import { EXIT, type ExitCode, type Io, Misuse } from '../terminal/io.ts'
import { plain, printJson } from '../terminal/output.ts'
import { type ConfirmedValues, confirm } from './entities/delete-entity.ts'
import { findNamed, idOf } from './entities/names.ts'
import { resourceOf } from './entities/resources.ts'
import { titleOf } from './entities/write-entity.ts'
import { type InvitationValues, showInvitation } from './invitation.ts'
import { askForProof, secondsOf } from './sessions/confirmations.ts'

const METHODS: Readonly<Record<string, string>> = { password: 'updb', cert: 'cert' }

/** By username, by the id of the authenticator, or by the identity. */
export async function reEnroll(
  values: ConfirmedValues &
    InvitationValues & { readonly method?: string; readonly 'expires-at'?: string },
  io: Io,
  [name = '']: readonly string[],
): Promise<ExitCode> {
  const { method, 'expires-at': expiresAt } = values
  if (method !== undefined && !Object.hasOwn(METHODS, method)) {
    throw new Misuse(`--method must be one of ${Object.keys(METHODS).join(', ')}`)
  }
  const seconds = secondsOf(values)
  const api = await openApi(values, io, { optionFor: (field) => OPTIONS[field] })
  const authenticators = resourceOf('authenticator')
  const among = method === undefined ? undefined : `method = "${METHODS[method]}"`
  const row = await findNamed(api, authenticators, name, among)
  const kind = row['method'] === 'cert' ? 'certificate' : 'password'
  await confirm(plain(`Invalidate the ${kind} of ${titleOf(row)}?`), values, io)
  const path = pathOf(authenticators.path, idOf(row), 're-enroll')
  const invited = await api.send('POST', path, expiresAt === undefined ? {} : { expiresAt })
  const proof = seconds === undefined ? undefined : await askForProof(api, seconds)
  if (values.json === true) {
    printJson(
      io,
      proof === undefined ? invited : { ...invited, confirmations: proof.confirmations },
    )
  } else {
    io.out(plain(`The ${kind} of ${titleOf(row)} is gone, and its sessions have ended.`))
    for (const line of proof?.lines ?? []) io.out(line)
    showInvitation(io, invited, values)
  }
  return proof?.isConfirmed === false ? EXIT.unconfirmed : EXIT.ok
}

const OPTIONS: Readonly<Record<string, string>> = { expiresAt: '--expires-at' }
