/**
 * GET and POST /oidc/login/ext-jwt: SPEC Primary login; D-12, D-14. The JWT comes in the Authorization field; a second
 * one, or the same one, may be the secondary factor. GET shows the user which IdPs can issue one (D-47).
 */
import type { LoginPorts } from '../../../domain/login/ports.ts'
import { findOpenRequest } from '../../../domain/login/request/find-request.ts'
import { submitPrimary } from '../../../domain/login/submit-primary.ts'
import { bearersOf } from '../../reading/bearers.ts'
import { textList } from '../../reading/fields.ts'
import type { Router } from '../../router.ts'
import { PATHS } from '../paths.ts'
import { during } from './during.ts'
import { type AtListener, addStepPage, answerStep, LOGIN_POST, readStep } from './login-step.ts'
import { choicePage } from './signer-choice.ts'

export function addLoginExtJwt(router: Router, ports: LoginPorts, listener: AtListener): void {
  const url = PATHS.loginExtJwt
  addStepPage(router, ports, listener, {
    url,
    fields: ['authRequestId'],
    find: findOpenRequest,
    page: (call, found, authRequestId) =>
      choicePage(during(call, found), ports.rules, authRequestId),
  })

  router.add({ ...LOGIN_POST, url }, async (call) => {
    const { fields, authRequestId, origin } = readStep(call, listener)
    const found = await findOpenRequest(ports, authRequestId, origin)
    const step = await submitPrimary(ports, {
      request: found,
      credential: { method: 'ext-jwt' },
      bearers: bearersOf(call),
      configTypes: textList(fields, 'configTypes'),
      caller: call.caller,
    })
    return answerStep(ports, call, { step, found, authRequestId })
  })
}
