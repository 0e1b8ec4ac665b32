/**
 * `latchkey reset password` and `latchkey reset mfa`: a link with which a person replaces a forgotten password, or the
 * second factors of a lost phone. D-375. Nothing changes until the link is used.
 */
import { openApi, type SessionValues } from '../api/open-api.ts'
import { EXIT, type ExitCode, type Io } from '../terminal/io.ts'
import { plain, printJson } from '../terminal/output.ts'
import { findNamed, idOf } from './entities/names.ts'
import { resourceOf } from './entities/resources.ts'
import { titleOf } from './entities/write-entity.ts'
import { type InvitationValues, showInvitation } from './invitation.ts'

export interface ResetValues extends SessionValues, InvitationValues {
  readonly 'expires-at'?: string
}

export const resetPassword = resetBy(
  'reset-password',
  'can choose a new password. The current one works until the link is used; then all sessions end',
)
export const resetMfa = resetBy(
  'reset-mfa',
  'can remove its second factors. They work until the link is used; then all sessions end',
)

function resetBy(method: string, what: string) {
  return async (values: ResetValues, io: Io, [name = '']: readonly string[]): Promise<ExitCode> => {
    const { 'expires-at': expiresAt } = values
    const api = await openApi(values, io, { optionFor: (field) => OPTIONS[field] })
    const identity = await findNamed(api, resourceOf('identity'), name)
    const body = { method, identityId: idOf(identity) }
    const made = await api.send(
      'POST',
      resourceOf('enrollment').path,
      expiresAt === undefined ? body : { ...body, expiresAt },
    )
    if (values.json === true) return printJson(io, made)
    io.out(plain(`The identity ${titleOf(identity)} ${what}.`))
    showInvitation(io, made, values)
    return EXIT.ok
  }
}

const OPTIONS: Readonly<Record<string, string>> = { expiresAt: '--expires-at' }
