/**
 * GET and POST /oidc/login/ext-jwt: SPEC Primary login; D-12, D-14. The JWT comes in the Authorization field; a second
 * one, or the same one, may be the secondary factor. GET shows the user which IdPs can issue one (D-47).
 */
import type { LoginPorts } from '../../../domain/login/ports.ts'
import { findOpenRequest } from '../../../domain/login/request/find-request.ts'
import type { Router } from '../../router.ts'
import { PATHS } from '../paths.ts'
import { during } from './during.ts'
import { type AtListener, addStepPage, answerPrimary, LOGIN_POST, readStep } from './login-step.ts'
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
    return answerPrimary(ports, call, { fields, found, authRequestId }, { method: 'ext-jwt' })
  })
}
