/**
 * GET and POST /oidc/login/username, also called /oidc/login/password: SPEC Primary login; D-4, D-11, D-12.
 * GET shows the form, or says what to post. POST hands the credentials to `submitPrimary`.
 */

import type { KeepPrimary } from '../../../domain/login/external/kept-primary.ts'
import type { FindRequest } from '../../../domain/login/request/find-request.ts'
import type { SubmitPrimary } from '../../../domain/login/submit-primary.ts'
import type { Rules } from '../../../domain/policies/rules.ts'
import type { FailureCode } from '../../../errors/catalogue.ts'
import { AUTH_REQUEST_ID_HEADER } from '../../../protocol/headers.ts'
import { passwordPage } from '../../../web/login/pages/password-page.ts'
import { SIGN_IN } from '../../../web/login/texts.ts'
import { bearersOf } from '../../reading/bearers.ts'
import { passwordCredentials, textList } from '../../reading/fields.ts'
import { shownDevice } from '../../reading/known-device.ts'
import type { Router } from '../../router.ts'
import { PATHS } from '../paths.ts'
import { createFailedTries } from './failed-tries.ts'
import {
  answerStep,
  LOGIN_GET,
  LOGIN_POST,
  type LoginRouteDependencies,
  loginPage,
  readStep,
  whatToPost,
  withForm,
} from './login-step.ts'
import { choiceOf, fetchJwtFrom } from './signer-choice.ts'

export interface PrimaryLoginDependencies extends LoginRouteDependencies {
  readonly findRequest: Pick<FindRequest, 'open'>
  readonly submitPrimary: SubmitPrimary
  readonly rules: Pick<Rules, 'signers'>
  readonly keepPrimary: KeepPrimary
}

export function addLoginUsername(router: Router, use: PrimaryLoginDependencies): void {
  const failedTries = createFailedTries()
  for (const url of [PATHS.loginUsername, PATHS.loginPassword]) {
    router.add({ ...LOGIN_GET, url }, async (call) => {
      const { authRequestId, origin } = readStep(call, use)
      const found = await use.findRequest.open(authRequestId, origin)
      if (!call.wantsHtml) {
        return whatToPost(authRequestId, PATHS.loginUsername, FIELDS)
      }
      const headers = { [AUTH_REQUEST_ID_HEADER]: authRequestId }
      return loginPage(
        200,
        passwordPage({ authRequestId, choice: choiceOf(use.rules, authRequestId) }),
        found,
        headers,
      )
    })

    router.add({ ...LOGIN_POST, url }, async (call) => {
      const { fields, authRequestId, origin } = readStep(call, use)
      const found = await use.findRequest.open(authRequestId, origin)
      const credentials = passwordCredentials(fields)
      const configTypes = textList(fields, 'configTypes')
      const device = shownDevice(call, fields)
      const { username } = credentials
      const choice = choiceOf(use.rules, authRequestId)
      const form = (text: string, code: FailureCode) => {
        const isOneOfSeveral = code === 'INVALID_AUTH' && failedTries.add(found.key)
        const error = isOneOfSeveral ? SIGN_IN.severalFailures : text
        return passwordPage({ authRequestId, username, error, choice })
      }
      const fetchJwt = fetchJwtFrom(use, found, authRequestId)
      return withForm(call, { ...use, found, form, fetchJwt }, async () => {
        const step = await use.submitPrimary({
          request: found,
          credential: { method: 'password', credentials },
          bearers: bearersOf(call),
          configTypes,
          caller: call.caller,
          device,
        })
        return answerStep(call, { step, found, authRequestId })
      })
    })
  }
}

const FIELDS = ['authRequestId', 'username', 'password']
