/**
 * GET and POST /oidc/login/username, also called /oidc/login/password: SPEC Primary login; D-4, D-11, D-12.
 * GET shows the form, or says what to post. POST hands the credentials to `submitPrimary`.
 */

import type { LoginPorts } from '../../../domain/login/ports.ts'
import { findOpenRequest } from '../../../domain/login/request/find-request.ts'
import type { FailureCode } from '../../../errors/catalogue.ts'
import { passwordPage } from '../../../web/login/pages/password-page.ts'
import type { ListenerParts } from '../../listener-parts.ts'
import { passwordCredentials } from '../../reading/fields.ts'
import type { Router } from '../../router.ts'
import { PATHS } from '../paths.ts'
import { during } from './during.ts'
import { createFailedTries } from './failed-tries.ts'
import {
  type AtListener,
  addStepPage,
  answerPrimary,
  LOGIN_POST,
  readStep,
  withForm,
} from './login-step.ts'
import { offeredPasskey } from './passkey/passkey-pages.ts'
import { choiceOf, fetchJwtFrom } from './signer-choice.ts'

export function addLoginUsername(
  router: Router,
  ports: LoginPorts,
  listener: AtListener & Pick<ListenerParts, 'relyingParty'>,
): void {
  const failedTries = createFailedTries()
  for (const url of [PATHS.loginUsername, PATHS.loginPassword]) {
    addStepPage(router, ports, listener, {
      url,
      postTo: PATHS.loginUsername,
      fields: ['authRequestId', 'username', 'password'],
      find: findOpenRequest,
      page: (call, found, authRequestId) =>
        passwordPage(during(call, found), {
          authRequestId,
          choice: choiceOf(ports.rules, authRequestId),
          passkey: offeredPasskey(ports, listener, call, found),
        }),
    })

    router.add({ ...LOGIN_POST, url }, async (call) => {
      const { fields, authRequestId, origin } = readStep(call, listener)
      const found = await findOpenRequest(ports, authRequestId, origin)
      const credentials = passwordCredentials(fields)
      const { username } = credentials
      const form = (text: string, code: FailureCode) => {
        const isOneOfSeveral = code === 'INVALID_AUTH' && failedTries.add(found.key)
        const error = isOneOfSeveral ? call.presentation.say('signIn.severalFailures') : text
        const passkey = offeredPasskey(ports, listener, call, found)
        const choice = choiceOf(ports.rules, authRequestId)
        const page = { authRequestId, username, error, choice, passkey }
        return passwordPage(during(call, found), page)
      }
      const fetchJwt = fetchJwtFrom(ports, call, found, authRequestId)
      const sent = { fields, found, authRequestId }
      return withForm(ports, call, { found, form, fetchJwt }, () =>
        answerPrimary(ports, call, sent, { method: 'password', credentials }),
      )
    })
  }
}
