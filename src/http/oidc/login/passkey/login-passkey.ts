/**
 * GET and POST /oidc/login/passkey, POST …/options: a passkey as the only credential of a login, or as its second factor,
 * whichever the login needs. D-431, D-434.
 */
import { loginOwner } from '../../../../domain/factors/factor-owner.ts'
import { proveOptions } from '../../../../domain/factors/passkey/passkey-factor.ts'
import { signInOptions } from '../../../../domain/factors/passkey/prove-by-passkey.ts'
import type { LoginPorts } from '../../../../domain/login/ports.ts'
import { findOpenRequest, type OpenRequest } from '../../../../domain/login/request/find-request.ts'
import { submitSecondFactor } from '../../../../domain/login/submit-second-factor.ts'
import { Failure, type FailureCode } from '../../../../errors/catalogue.ts'
import { AUTH_REQUEST_ID_HEADER } from '../../../../protocol/headers.ts'
import { passwordPage } from '../../../../web/login/pages/password-page.ts'
import { json } from '../../../answer.ts'
import type { Call } from '../../../call.ts'
import type { ListenerParts } from '../../../listener-parts.ts'
import { credentialField, passkeyAnswer } from '../../../reading/passkey-fields.ts'
import type { Router } from '../../../router.ts'
import { PATHS } from '../../paths.ts'
import { during } from '../during.ts'
import {
  addStepPage,
  answerPrimary,
  answerStep,
  LOGIN_POST,
  readStep,
  withForm,
} from '../login-step.ts'
import { choiceOf, fetchJwtFrom } from '../signer-choice.ts'
import { offeredPasskey, provePage } from './passkey-pages.ts'

export function addLoginPasskey(
  router: Router,
  ports: LoginPorts,
  listener: Pick<ListenerParts, 'corsOrigins' | 'relyingParty' | 'totpHostname'>,
): void {
  const url = PATHS.loginPasskey
  addStepPage(router, ports, listener, {
    url,
    fields: ['id', 'credential'],
    find: findOpenRequest,
    page: (call, found, authRequestId) =>
      found.state === 'partially-authenticated'
        ? provePage(ports, listener, call, { found, authRequestId })
        : signInPage(call, found, authRequestId),
  })

  /** A passkey alone is offered beside the password. */
  const signInPage = (call: Call, found: OpenRequest, authRequestId: string, error?: string) =>
    passwordPage(during(call, found), {
      authRequestId,
      choice: choiceOf(ports.rules, authRequestId),
      passkey: offeredPasskey(ports, listener, call, found),
      ...(error === undefined ? {} : { error, isPasskeyRefused: true }),
    })

  router.add(
    {
      ...LOGIN_POST,
      url: PATHS.passkeyOptions,
      face: { json: 'api', pages: false },
      replies: [200, 409],
    },
    async (call) => {
      const { authRequestId, origin } = readStep(call, listener, 'id')
      const found = await findOpenRequest(ports, authRequestId, origin)
      const rp = listener.relyingParty(call)
      const owner = loginOwner(found)
      if (rp === undefined) throw new Failure('PASSKEYS_UNAVAILABLE')
      const publicKey =
        found.state === 'awaiting-primary'
          ? signInOptions(ports, { owner, rp })
          : await proveOptions(ports, { identityId: found.primary.identityId, owner, rp })
      return json(200, { publicKey }, { [AUTH_REQUEST_ID_HEADER]: authRequestId })
    },
  )

  router.add({ ...LOGIN_POST, url }, async (call) => {
    const { fields, authRequestId, origin } = readStep(call, listener, 'id')
    const found = await findOpenRequest(ports, authRequestId, origin)
    const rp = listener.relyingParty(call)
    const { caller } = call
    if (found.state === 'partially-authenticated') {
      const code = passkeyAnswer(fields)
      const submission = { factor: 'passkey', request: found, code, caller, rp } as const
      const isCodeRefused = fields.has('code')
      const form = (text: string, code: FailureCode) => {
        // The default text says to wait for the next code, and a recovery code has none.
        const isWrong = isCodeRefused && code === 'MFA_INVALID_TOKEN'
        const error = isWrong ? call.presentation.say('passkey.wrongRecoveryCode') : text
        return provePage(ports, listener, call, { found, authRequestId, error, isCodeRefused })
      }
      return withForm(ports, call, { found, form }, async () => {
        const step = await submitSecondFactor(ports, submission)
        return answerStep(ports, call, { step, found, authRequestId })
      })
    }
    const credentials = { assertion: credentialField(fields), owner: loginOwner(found), rp }
    const refused = call.presentation.say('passkey.refused')
    const form = (text: string, code: FailureCode) =>
      signInPage(call, found, authRequestId, code === 'INVALID_AUTH' ? refused : text)
    const fetchJwt = fetchJwtFrom(ports, call, found, authRequestId)
    const sent = { fields, found, authRequestId }
    return withForm(ports, call, { found, form, fetchJwt }, () =>
      answerPrimary(ports, call, sent, { method: 'passkey', credentials }),
    )
  })
}
