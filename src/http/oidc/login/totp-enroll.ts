/**
 * POST, GET and DELETE /oidc/login/totp/enroll, POST …/verify: SPEC Secondary factors and TOTP; D-19, D-20.
 */
import {
  cancelEnrollmentInLogin,
  pendingSetupInLogin,
  startEnrollmentInLogin,
  verifyEnrollmentInLogin,
} from '../../../domain/login/enroll-second-factor.ts'
import { queriesOf } from '../../../domain/login/outstanding-queries.ts'
import type { LoginPorts } from '../../../domain/login/ports.ts'
import type { PartiallyAuthenticated } from '../../../domain/login/request/auth-request.ts'
import { findRequestForEnrollment } from '../../../domain/login/request/find-request.ts'
import { enrollPage, enrollStartPage } from '../../../web/login/pages/enroll-page.ts'
import { json } from '../../answer.ts'
import type { ListenerParts } from '../../listener-parts.ts'
import { codeField } from '../../reading/fields.ts'
import type { Router } from '../../router.ts'
import { PATHS } from '../paths.ts'
import { partly } from './during.ts'
import {
  addStepPage,
  answerStep,
  ENROLL_VERIFY_REPLIES,
  LOGIN_POST,
  loginPage,
  readStep,
  withForm,
} from './login-step.ts'
import { hasPasskey } from './passkey/passkey-pages.ts'

export function addTotpEnroll(
  router: Router,
  ports: LoginPorts,
  listener: Pick<ListenerParts, 'corsOrigins' | 'totpHostname'>,
): void {
  const url = PATHS.totpEnroll
  const { totpHostname } = listener

  addStepPage(router, ports, listener, {
    url,
    fields: ['authRequestId'],
    find: findRequestForEnrollment,
    page: async (call, found, authRequestId) =>
      enrollStartPage(await partly(ports, call, found, authRequestId), {
        authRequestId,
        canUsePasskey: hasPasskey(await queriesOf(ports, found), 'any'),
      }),
  })

  router.add({ ...LOGIN_POST, url, replies: [201, 403, 406, 409] }, async (call) => {
    const { authRequestId, origin } = readStep(call, listener)
    const found = await findRequestForEnrollment(ports, authRequestId, origin)
    const hostname = totpHostname(call)
    const started = await startEnrollmentInLogin(ports, { ...totpOf(found), hostname })
    const { id, setup, recoveryCodes } = started
    const { provisioningUrl } = setup
    if (call.wantsHtml) {
      const presentation = await partly(ports, call, found, authRequestId)
      const html = enrollPage(presentation, {
        authRequestId,
        provisioningUrl,
        recoveryCodes,
      })
      return loginPage(201, html, found)
    }
    return json(201, { id, isVerified: false, provisioningUrl, recoveryCodes })
  })

  router.add(
    { ...LOGIN_POST, url: PATHS.totpEnrollVerify, replies: ENROLL_VERIFY_REPLIES },
    async (call) => {
      const { fields, authRequestId, origin } = readStep(call, listener)
      const found = await findRequestForEnrollment(ports, authRequestId, origin)
      const code = codeField(fields)
      const form = async (error: string) => {
        const hostname = totpHostname(call)
        const setup = await pendingSetupInLogin(ports, { ...totpOf(found), hostname })
        const presentation = await partly(ports, call, found, authRequestId)
        return setup === undefined
          ? enrollStartPage(presentation, { authRequestId, error })
          : enrollPage(presentation, { authRequestId, ...setup, error })
      }
      return withForm(ports, call, { found, form }, async () => {
        const step = await verifyEnrollmentInLogin(ports, {
          ...totpOf(found),
          answer: code,
          caller: call.caller,
        })
        return answerStep(ports, call, { step, found, authRequestId })
      })
    },
  )

  router.add(
    { ...LOGIN_POST, method: 'DELETE', url, replies: [200, 404, 406, 409] },
    async (call) => {
      const { authRequestId, origin } = readStep(call, listener)
      const found = await findRequestForEnrollment(ports, authRequestId, origin)
      await cancelEnrollmentInLogin(ports, totpOf(found))
      return json(200, {})
    },
  )
}

const totpOf = (request: PartiallyAuthenticated) => ({ factor: 'totp', request }) as const
