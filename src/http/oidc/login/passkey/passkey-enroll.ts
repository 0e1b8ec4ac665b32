/** POST /oidc/login/passkey/enroll and …/verify: a login that adds a passkey because its policy demands one. D-434, D-437. */
import {
  startEnrollmentInLogin,
  verifyEnrollmentInLogin,
} from '../../../../domain/login/enroll-second-factor.ts'
import type { LoginPorts } from '../../../../domain/login/ports.ts'
import { findRequestForEnrollment } from '../../../../domain/login/request/find-request.ts'
import type { FailureCode } from '../../../../errors/catalogue.ts'
import { AUTH_REQUEST_ID_HEADER } from '../../../../protocol/headers.ts'
import { json } from '../../../answer.ts'
import type { ListenerParts } from '../../../listener-parts.ts'
import { newPasskeyAnswer } from '../../../reading/passkey-fields.ts'
import type { Router } from '../../../router.ts'
import { PATHS } from '../../paths.ts'
import {
  addStepPage,
  answerStep,
  ENROLL_VERIFY_REPLIES,
  LOGIN_POST,
  MENDABLE,
  readStep,
  withForm,
} from '../login-step.ts'
import { enrollmentPage } from './passkey-pages.ts'

/** Another passkey may do. */
const MENDABLE_HERE: readonly FailureCode[] = [...MENDABLE, 'PASSKEY_EXISTS']

export function addPasskeyEnroll(
  router: Router,
  ports: LoginPorts,
  listener: Pick<ListenerParts, 'corsOrigins' | 'totpHostname' | 'relyingParty'>,
): void {
  const url = PATHS.passkeyEnroll

  addStepPage(router, ports, listener, {
    url,
    fields: ['id'],
    replies: [403, 409],
    find: findRequestForEnrollment,
    page: (call, found, authRequestId) =>
      enrollmentPage(ports, listener, call, { found, authRequestId }),
  })

  router.add(
    { ...LOGIN_POST, url, face: { json: 'api', pages: false }, replies: [201, 403, 409] },
    async (call) => {
      const { authRequestId, origin } = readStep(call, listener, 'id')
      const request = await findRequestForEnrollment(ports, authRequestId, origin)
      const started = await startEnrollmentInLogin(ports, {
        factor: 'passkey',
        request,
        hostname: listener.totpHostname(call),
        rp: listener.relyingParty(call),
      })
      const { setup, recoveryCodes } = started
      const headers = { [AUTH_REQUEST_ID_HEADER]: authRequestId }
      return json(201, { publicKey: setup.publicKey, recoveryCodes }, headers)
    },
  )

  router.add(
    { ...LOGIN_POST, url: PATHS.passkeyEnrollVerify, replies: ENROLL_VERIFY_REPLIES },
    async (call) => {
      const { fields, authRequestId, origin } = readStep(call, listener, 'id')
      const request = await findRequestForEnrollment(ports, authRequestId, origin)
      const answer = newPasskeyAnswer(fields)
      const form = (error: string) =>
        enrollmentPage(ports, listener, call, { found: request, authRequestId, error })
      const use = { found: request, form, mendable: MENDABLE_HERE }
      return withForm(ports, call, use, async () => {
        const step = await verifyEnrollmentInLogin(ports, {
          factor: 'passkey',
          request,
          answer,
          caller: call.caller,
          rp: listener.relyingParty(call),
        })
        return answerStep(ports, call, { step, found: request, authRequestId })
      })
    },
  )
}
