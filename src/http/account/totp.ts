/**
 * /account/totp: the user's authenticator app. API 3.1; D-19, D-162. Starting needs a fresh login. Finishing needs the
 * page that the start returned. Removing the app or renewing the recovery codes needs a code in the same form.
 */
import type { AccountPorts } from '../../domain/account/ports.ts'
import { formToken, isFormToken, isFreshLogin } from '../../domain/account/session.ts'
import type { FoundEnrollment } from '../../domain/factors/second-factor.ts'
import type { TotpSetup } from '../../domain/factors/totp/enroll-totp.ts'
import {
  countRecoveryCodes,
  findEnrollmentInSession,
  removeEnrollmentInSession,
  renewRecoveryCodes,
  startEnrollmentInSession,
  verifyEnrollmentInSession,
} from '../../domain/sessions/session-factors.ts'
import { Failure, type FailureCode } from '../../errors/catalogue.ts'
import {
  RECOVERY_CODES_PATH,
  recoveryCodesPage,
  TOTP_REMOVE_PATH,
  TOTP_START_PATH,
  TOTP_VERIFY_PATH,
  totpOffPage,
  totpOnPage,
  totpSetUpPage,
} from '../../web/account/totp-page.ts'
import { accountErrorText, errorText } from '../../web/login/error-text.ts'
import type { SafeHtml } from '../../web/login/html.ts'
import type { Answer } from '../answer.ts'
import { refusedPage } from '../error-replies.ts'
import type { ListenerParts } from '../listener-parts.ts'
import { type Fields, LONGEST_CODE } from '../reading/fields.ts'
import type { AccountCall, AccountRoutes } from './account-route.ts'
import { accountPage, backTo } from './answers.ts'

export function addTotpPage(
  routes: AccountRoutes,
  ports: AccountPorts,
  { totpHostname }: Pick<ListenerParts, 'totpHostname'>,
): void {
  /** Proves that this session started this enrollment, which needed a fresh login. */
  const proofOf = ({ session }: AccountCall, { id }: Enrollment) =>
    formToken(ports, 'account', session, `enrollment ${id}`)
  const isProof = ({ session }: AccountCall, { id }: Enrollment, given: unknown) =>
    typeof given === 'string' && isFormToken(ports, 'account', session, `enrollment ${id}`, given)
  const atHost = (call: AccountCall) =>
    ({ ...totpOf(call), hostname: totpHostname(call.head) }) as const

  /** Not `isMfaEnabled`, which a passkey sets as well. */
  const isOn = async (call: AccountCall) => {
    const found = await enrollmentOf(call)
    return found !== undefined && found.setup === undefined
  }

  routes.show('totp', async (call) => {
    if (await isOn(call)) return onPage(call)
    return totpOffPage(call.frame, { isFresh: await isFreshLogin(ports, call.session) })
  })

  routes.submit('totp', TOTP_START_PATH, async (call) => {
    const { session, frame } = call
    if (!(await isFreshLogin(ports, session))) return backTo('totp', 'confirm-first')
    try {
      const started = await startEnrollmentInSession(ports, atHost(call))
      const { setup, recoveryCodes } = started
      const proof = proofOf(call, started)
      return accountPage(200, totpSetUpPage(frame, { proof, ...setup, recoveryCodes }))
    } catch (error) {
      if (hasCode(error, ['MFA_EXISTS'])) return backTo('totp', 'app-exists')
      throw error
    }
  })

  routes.submit('totp', TOTP_VERIFY_PATH, async (call, fields) => {
    const { frame, caller } = call
    const [proof, ...others] = fields.get('proof') ?? []
    const found = await enrollmentOf(call)
    const isOurs = found !== undefined && others.length === 0 && isProof(call, found, proof)
    if (!isOurs) return backTo('totp', 'app-again')
    const { setup } = found
    // The same form was sent twice.
    if (setup === undefined) return backTo('totp', 'app-on')
    try {
      await verifyEnrollmentInSession(ports, totpOf(call), { answer: codeOf(fields), caller })
      return backTo('totp', 'app-on')
    } catch (error) {
      if (hasCode(error, ['MFA_ENROLLMENT_NOT_STARTED'])) {
        const now = await enrollmentOf(call)
        const isOn = now !== undefined && isProof(call, now, proof) && now.setup === undefined
        return backTo('totp', isOn ? 'app-on' : 'app-again')
      }
      if (hasCode(error, ['LOGIN_TOO_OLD'])) return backTo('totp', 'confirm-first')
      const again = proofOf(call, found)
      return refused(call, error, (message) =>
        totpSetUpPage(frame, { proof: again, ...setup, error: message }),
      )
    }
  })

  routes.submit('totp', TOTP_REMOVE_PATH, async (call, fields) => {
    const { caller } = call
    // A pending enrollment is not an app yet, and would be cancelled without a code.
    if (!(await isOn(call))) return backTo('totp', 'app-off')
    try {
      await removeEnrollmentInSession(ports, totpOf(call), { answer: codeOf(fields), caller })
      return backTo('totp', 'app-off')
    } catch (error) {
      if (isGone(error)) return backTo('totp', 'app-off')
      return refused(call, error, (message) => onPage(call, { form: 'remove', message }))
    }
  })

  routes.submit('totp', RECOVERY_CODES_PATH, async (call, fields) => {
    const { frame, caller } = call
    if (!(await isOn(call))) return backTo('totp', 'app-off')
    try {
      const given = { answer: codeOf(fields), caller }
      const codes = await renewRecoveryCodes(ports, totpOf(call), given)
      const issuer = totpHostname(call.head)
      return accountPage(200, recoveryCodesPage(frame, { codes, issuer }))
    } catch (error) {
      if (isGone(error)) return backTo('totp', 'app-off')
      return refused(call, error, (message) => onPage(call, { form: 'renew', message }))
    }
  })

  async function onPage(
    { session, policy, frame }: AccountCall,
    error?: { readonly form: 'renew' | 'remove'; readonly message: string },
  ): Promise<SafeHtml> {
    return totpOnPage(frame, {
      recoveryCodesLeft: await countRecoveryCodes(ports, session),
      isDemanded: policy.secondary.requireTotp,
      error,
    })
  }

  /** Pending or verified. */
  async function enrollmentOf(call: AccountCall): Promise<Enrollment | undefined> {
    try {
      return await findEnrollmentInSession(ports, atHost(call))
    } catch (error) {
      if (hasCode(error, ['MFA_ENROLLMENT_NOT_STARTED'])) return undefined
      throw error
    }
  }

  /** Shows the form again if the code was wrong; other failures are not handled by the form. */
  async function refused(
    { frame: { presentation } }: AccountCall,
    error: unknown,
    form: (message: string) => SafeHtml | Promise<SafeHtml>,
  ): Promise<Answer> {
    if (!hasCode(error, ['MFA_INVALID_TOKEN', 'RATE_LIMITED'])) throw error
    const { message } =
      error.code === 'MFA_INVALID_TOKEN'
        ? errorText(presentation, error.code)
        : accountErrorText(presentation, error.code)
    const html = await form(message)
    return refusedPage(error, ports.brand, (status) => accountPage(status, html))
  }
}

type Enrollment = Pick<FoundEnrollment<TotpSetup>, 'id' | 'setup'>

const totpOf = ({ session }: AccountCall) => ({ factor: 'totp', session }) as const

/** A missing or malformed code is a wrong code (D-18). */
function codeOf(fields: Fields): string {
  const [code, ...others] = fields.get('code') ?? []
  const isCode = typeof code === 'string' && others.length === 0 && code.length <= LONGEST_CODE
  if (!isCode || code === '') throw new Failure('MFA_INVALID_TOKEN')
  return code
}

/** A concurrent call removed it first. */
const isGone = (error: unknown) =>
  hasCode(error, ['MFA_NOT_ENROLLED', 'MFA_ENROLLMENT_NOT_STARTED'])

function hasCode(error: unknown, codes: readonly FailureCode[]): error is Failure {
  return error instanceof Failure && codes.includes(error.code)
}
