/** /account/password: changes the password. The current one is in the form and checked as a login (API 3.1, D-22). */
import { Secret } from '../../base/secrets/secret.ts'
import { updateOwnAuthenticator } from '../../domain/account/own-authenticators.ts'
import type { AccountPorts } from '../../domain/account/ports.ts'
import { PasswordRefused } from '../../domain/factors/passwords/new-password.ts'
import type { UpdbAuthenticator } from '../../domain/identities/authenticator.ts'
import { orNotFound } from '../../domain/refusals.ts'
import type { CallSession } from '../../domain/sessions/call-session.ts'
import { Failure } from '../../errors/catalogue.ts'
import { PAGE_PATHS } from '../../web/account/layout.ts'
import { passwordPage } from '../../web/account/password-page.ts'
import { accountErrorText } from '../../web/login/error-text.ts'
import type { Presentation } from '../../web/login/presentation.ts'
import type { Answer } from '../answer.ts'
import { refusedPage } from '../error-replies.ts'
import { fieldOf } from '../own-site/form-checks.ts'
import type { Fields } from '../reading/fields.ts'
import type { AccountCall, AccountRoutes } from './account-route.ts'
import { accountPage, backTo } from './answers.ts'
import { authenticatorsOf } from './certificates.ts'

export async function passwordOf(
  ports: AccountPorts,
  session: CallSession,
): Promise<UpdbAuthenticator | undefined> {
  const own = await authenticatorsOf(ports, session)
  return own.find((authenticator) => authenticator.method === 'updb')
}

export function addPasswordPage(routes: AccountRoutes, ports: AccountPorts): void {
  routes.show('password', async ({ session, policy, frame }) => {
    const password = await passwordOf(ports, session)
    return passwordPage(frame, { username: password?.username, shortest: shortestOf(policy) })
  })

  routes.submit('password', PAGE_PATHS.password, async (call, fields) => {
    const authenticator = orNotFound(await passwordOf(ports, call.session))
    const { username } = authenticator
    const again = (status: number, error: string): Answer =>
      accountPage(
        status,
        passwordPage(call.frame, { username, shortest: shortestOf(call.policy), error }),
      )
    const { presentation } = call.frame
    const typed = readPasswords(fields)
    if ('wrong' in typed) return again(400, presentation.say(typed.wrong))
    try {
      await change(call, authenticator, typed)
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      const said = sentenceOf(presentation, error)
      if (said === undefined) throw error
      return refusedPage(error, ports.brand, (status) => again(status, said))
    }
    return backTo('password', 'password-changed')
  })

  function change(
    { session, caller }: AccountCall,
    { id, username }: UpdbAuthenticator,
    { currentPassword, password }: Passwords,
  ): Promise<void> {
    const changed = ({ tags }: { readonly tags: UpdbAuthenticator['tags'] }) =>
      ({ method: 'updb', username, password, currentPassword, tags }) as const
    return updateOwnAuthenticator(ports, session, id, changed, caller)
  }
}

const shortestOf = ({ primary }: AccountCall['policy']) => primary.updb.minPasswordLength

type WrongPasswords = 'password.missing' | 'password.different' | 'password.same'

interface Passwords {
  readonly currentPassword: Secret
  readonly password: Secret
}

function readPasswords(fields: Fields): Passwords | { readonly wrong: WrongPasswords } {
  const names = ['currentPassword', 'password', 'repeated'] as const
  if (names.some((name) => (fields.get(name)?.[0] ?? '') === ''))
    return { wrong: 'password.missing' }
  const [currentPassword, password, repeated] = names.map((name) => fieldOf(fields, name)) as [
    string,
    string,
    string,
  ]
  if (password !== repeated) return { wrong: 'password.different' }
  if (password === currentPassword) return { wrong: 'password.same' }
  return { currentPassword: new Secret(currentPassword), password: new Secret(password) }
}

/** Returns the form's message for a failure; undefined if the form does not handle it. */
function sentenceOf(presentation: Presentation, failure: Failure): string | undefined {
  const { code, field } = failure
  if (code === 'RATE_LIMITED' || code === 'SERVER_TOO_BUSY') {
    return accountErrorText(presentation, code).message
  }
  if (failure instanceof PasswordRefused) return passwordFault(presentation, failure)
  const isCurrent = code === 'COULD_NOT_VALIDATE' && field?.field === 'currentPassword'
  return isCurrent ? presentation.say('password.wrong') : undefined
}

/** Says which rule a new password breaks. */
export function passwordFault({ say }: Presentation, { fault }: PasswordRefused): string {
  const { rule, limit = 0 } = fault
  return rule === 'common' || rule === 'ownName'
    ? say(`password.${rule}`)
    : say(`password.${rule}`, { count: limit })
}
