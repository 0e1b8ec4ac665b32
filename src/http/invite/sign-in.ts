/**
 * Continues from a chosen password to a session at /account: a login of the account pages (D-161) whose first step the
 * person has just taken. What the policy demands beside the password follows on the pages of the login.
 */
import type { PasswordCredentials } from '../../domain/factors/passwords/password.ts'
import { findOpenRequest } from '../../domain/login/request/find-request.ts'
import { submitPrimary } from '../../domain/login/submit-primary.ts'
import { Failure } from '../../errors/catalogue.ts'
import { ACCOUNT_PATH } from '../../web/account/layout.ts'
import { ACCOUNT_SITE } from '../account/account-route.ts'
import type { Answer } from '../answer.ts'
import type { Call } from '../call.ts'
import { answerStep } from '../oidc/login/login-step.ts'
import { seeOther } from '../own-site/site.ts'
import { beginLogin } from '../own-site/visitor.ts'
import { shownDevice } from '../reading/known-device.ts'
import type { InviteListener, InvitePorts } from './form-route.ts'

/** The person signs in there, in whatever way the policy allows. */
export const toAccount = (): Answer => seeOther(ACCOUNT_PATH)

export async function signIn(
  ports: InvitePorts,
  call: Call,
  listener: InviteListener,
  {
    credentials,
    to,
  }: {
    readonly credentials: PasswordCredentials
    /** A page of the account. */
    readonly to: string
  },
): Promise<Answer> {
  const at = { site: ACCOUNT_SITE, ports, listener }
  const { login, cookies } = beginLogin(at, call, to)
  const { authRequestId, cookie } = login
  // The cookie that binds the login to this browser is only just being set.
  const origin = { isBrowser: true, isForeignPost: false, cookie: () => cookie }
  try {
    const found = await findOpenRequest(ports, authRequestId, origin)
    const step = await submitPrimary(ports, {
      request: found,
      credential: { method: 'password', credentials },
      bearers: [],
      configTypes: [],
      caller: call.caller,
      device: shownDevice(call, new Map()),
    })
    const answer = await answerStep(ports, call, { step, found, authRequestId })
    return { ...answer, cookies: [...cookies, ...(answer.cookies ?? [])] }
  } catch (error) {
    // The password is set. A policy without passwords, or one that demands more, is explained by the login itself.
    if (error instanceof Failure) return { ...toAccount(), failure: error }
    throw error
  }
}
