/** POST /invite/password: the first password, or a new one for a forgotten one. Ends signed in at /account (D-376). */
import { Secret } from '../../base/secrets/secret.ts'
import { enrollByPassword } from '../../domain/enrollments/enroll.ts'
import {
  type OpenedInvitation,
  openInvitation,
} from '../../domain/enrollments/links/open-invitation.ts'
import { resetPassword } from '../../domain/enrollments/links/reset-password.ts'
import { PasswordRefused } from '../../domain/factors/passwords/new-password.ts'
import { Failure } from '../../errors/catalogue.ts'
import { PAGE_PATHS } from '../../web/account/layout.ts'
import { INVITE_PATHS } from '../../web/invite/layout.ts'
import { passwordPage, THEN_PASSKEY } from '../../web/invite/password-page.ts'
import { accountErrorText } from '../../web/login/error-text.ts'
import type { Presentation } from '../../web/login/presentation.ts'
import { passwordFault } from '../account/password.ts'
import type { Call } from '../call.ts'
import { fieldOf } from '../own-site/form-checks.ts'
import type { Fields } from '../reading/fields.ts'
import { invitePage, refusedInvite } from './answers.ts'
import { type InviteListener, type InvitePorts, type Submit, tokenOf } from './form-route.ts'
import { signIn } from './sign-in.ts'

export function addInvitedPassword(
  submit: Submit,
  ports: InvitePorts,
  listener: InviteListener,
): void {
  submit(INVITE_PATHS.password, async (call, fields) => {
    const { caller, presentation } = call
    const token = tokenOf(fields)
    const opened = await openInvitation(ports, token, caller)
    const page = passwordForm(opened, { token, call, listener })
    const { method, username } = page
    const typed = typedPassword(fields)
    if ('wrong' in typed) {
      const error = presentation.say(typed.wrong)
      return invitePage(400, passwordPage(presentation, { ...page, error }), { script: 'helpers' })
    }
    const { password } = typed
    let chosen: string
    try {
      chosen =
        method === 'updb'
          ? await enrollByPassword(ports, { token, username, password }, caller)
          : await resetPassword(ports, { token, password }, caller)
    } catch (error) {
      const said = error instanceof Failure ? sentenceOf(presentation, error) : undefined
      if (!(error instanceof Failure) || said === undefined) throw error
      return refusedInvite(ports, error, passwordPage(presentation, { ...page, error: said }))
    }
    const to = fields.get('then')?.[0] === THEN_PASSKEY ? PAGE_PATHS.passkeys : PAGE_PATHS.overview
    return signIn(ports, call, listener, { credentials: { username: chosen, password }, to })
  })
}

/** What the form shows. Throws INVALID_ENROLLMENT_TOKEN for an invitation that is not for a password. */
export function passwordForm(
  { enrollment: { method }, identity, policy, username }: OpenedInvitation,
  at: { readonly token: Secret; readonly call: Call; readonly listener: InviteListener },
) {
  if (username === undefined || (method !== 'updb' && method !== 'reset-password')) {
    throw new Failure('INVALID_ENROLLMENT_TOKEN')
  }
  const { primary, secondary } = policy
  const isDemanded = secondary.requirePasskey || secondary.requireTotpOrPasskey
  return {
    method,
    token: at.token.reveal(),
    name: identity.name,
    username,
    shortest: primary.updb.minPasswordLength,
    // D-447: one that is demanded follows anyway.
    offersPasskey:
      primary.passkey.allowed && !isDemanded && at.listener.relyingParty(at.call) !== undefined,
  }
}

function typedPassword(
  fields: Fields,
):
  | { readonly password: Secret }
  | { readonly wrong: 'newPassword.missing' | 'password.different' } {
  const names = ['password', 'repeated'] as const
  if (names.some((name) => (fields.get(name)?.[0] ?? '') === '')) {
    return { wrong: 'newPassword.missing' }
  }
  const password = fieldOf(fields, 'password')
  if (password !== fieldOf(fields, 'repeated')) return { wrong: 'password.different' }
  return { password: new Secret(password) }
}

/** Undefined if the form cannot correct it. */
function sentenceOf(presentation: Presentation, failure: Failure): string | undefined {
  if (failure instanceof PasswordRefused) return passwordFault(presentation, failure)
  const isBusy = failure.code === 'SERVER_TOO_BUSY'
  return isBusy ? accountErrorText(presentation, failure.code).message : undefined
}
