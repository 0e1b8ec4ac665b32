/**
 * GET and POST /oidc/login/cert: SPEC Primary login; D-21. The certificate comes from the connection of the POST; the
 * body has only the id. GET shows a page with one button and a link to the password form (D-6).
 */
import type { LoginPorts } from '../../../domain/login/ports.ts'
import { findOpenRequest } from '../../../domain/login/request/find-request.ts'
import type { FailureCode } from '../../../errors/catalogue.ts'
import { certificatePage } from '../../../web/login/pages/certificate-page.ts'
import type { Router } from '../../router.ts'
import { PATHS } from '../paths.ts'
import { during } from './during.ts'
import {
  type AtListener,
  addStepPage,
  answerPrimary,
  LOGIN_POST,
  readStep,
  withForm,
} from './login-step.ts'
import { fetchJwtFrom } from './signer-choice.ts'

export function addLoginCert(router: Router, ports: LoginPorts, listener: AtListener): void {
  const url = PATHS.loginCert
  addStepPage(router, ports, listener, {
    url,
    fields: ['authRequestId'],
    find: findOpenRequest,
    page: (call, found, authRequestId) => {
      const hasCertificate = call.certificateChain() !== undefined
      return certificatePage(during(call, found), { authRequestId, hasCertificate })
    },
  })

  router.add({ ...LOGIN_POST, url }, async (call) => {
    const { fields, authRequestId, origin } = readStep(call, listener)
    const found = await findOpenRequest(ports, authRequestId, origin)
    const chain = call.certificateChain()
    const hasCertificate = chain !== undefined
    const form = (error: string, code: FailureCode) => {
      const shown = code === 'INVALID_AUTH' ? call.presentation.say('certificate.refused') : error
      return certificatePage(during(call, found), { authRequestId, hasCertificate, error: shown })
    }
    const fetchJwt = fetchJwtFrom(ports, call, found, authRequestId)
    const sent = { fields, found, authRequestId }
    return withForm(ports, call, { found, form, fetchJwt }, () =>
      answerPrimary(ports, call, sent, { method: 'cert', chain }),
    )
  })
}
