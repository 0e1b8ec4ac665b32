/** POST /invite/mfa: removes the second factors of a lost phone, then signs in and enrolls what the policy demands. */
import { Secret } from '../../base/secrets/secret.ts'
import { openInvitation } from '../../domain/enrollments/links/open-invitation.ts'
import { needsPassword, resetMfa } from '../../domain/enrollments/links/reset-mfa.ts'
import { Failure } from '../../errors/catalogue.ts'
import { ACCOUNT_PATH } from '../../web/account/layout.ts'
import { INVITE_PATHS } from '../../web/invite/layout.ts'
import { mfaPage } from '../../web/invite/mfa-page.ts'
import { accountErrorText } from '../../web/login/error-text.ts'
import type { Presentation } from '../../web/login/presentation.ts'
import { fieldOf } from '../own-site/form-checks.ts'
import { shownDevice } from '../reading/known-device.ts'
import { refusedInvite } from './answers.ts'
import { type InviteListener, type InvitePorts, type Submit, tokenOf } from './form-route.ts'
import { signIn, toAccount } from './sign-in.ts'

export function addMfaReset(submit: Submit, ports: InvitePorts, listener: InviteListener): void {
  submit(INVITE_PATHS.mfa, async (call, fields) => {
    const { caller, presentation } = call
    const token = tokenOf(fields)
    const opened = await openInvitation(ports, token, caller)
    const username = needsPassword(opened) ? opened.username : undefined
    const isTyped = (fields.get('password')?.[0] ?? '') !== ''
    const password = isTyped ? new Secret(fieldOf(fields, 'password')) : undefined
    try {
      await resetMfa(ports, { token, password, device: shownDevice(call, fields) }, caller)
    } catch (error) {
      const said = error instanceof Failure ? sentenceOf(presentation, error) : undefined
      if (!(error instanceof Failure) || said === undefined) throw error
      const page = { token: token.reveal(), name: opened.identity.name, username }
      return refusedInvite(ports, error, mfaPage(presentation, { ...page, error: said }))
    }
    if (username === undefined || password === undefined) return toAccount()
    const credentials = { username, password }
    return signIn(ports, call, listener, { credentials, to: ACCOUNT_PATH })
  })
}

/** Undefined if the form cannot correct it. */
function sentenceOf(presentation: Presentation, { code, field }: Failure): string | undefined {
  if (code === 'SERVER_TOO_BUSY' || code === 'RATE_LIMITED') {
    return accountErrorText(presentation, code).message
  }
  if (code !== 'COULD_NOT_VALIDATE' || field?.field !== 'password') return undefined
  const isMissing = field.reason === 'is missing'
  return presentation.say(isMissing ? 'resetMfa.missing' : 'resetMfa.wrong')
}
