/**
 * GET and POST /oidc/login/totp, GET /oidc/login/auth-queries: SPEC Secondary factors and TOTP; D-15, D-18.
 */

import { queriesOf } from '../../../domain/login/outstanding-queries.ts'
import type { LoginPorts } from '../../../domain/login/ports.ts'
import { findOpenRequest, findRequestForTotp } from '../../../domain/login/request/find-request.ts'
import { submitSecondFactor } from '../../../domain/login/submit-second-factor.ts'
import { AUTH_REQUEST_ID_HEADER } from '../../../protocol/headers.ts'
import { totpPage } from '../../../web/login/pages/totp-page.ts'
import { json } from '../../answer.ts'
import { totpRequired } from '../../faces/challenge-header.ts'
import { codeField } from '../../reading/fields.ts'
import type { Router } from '../../router.ts'
import { PATHS } from '../paths.ts'
import { partly } from './during.ts'
import {
  type AtListener,
  addStepPage,
  answerStep,
  LOGIN_POST,
  LOGIN_ROUTE,
  readStep,
  withForm,
} from './login-step.ts'
import { hasPasskey } from './passkey/passkey-pages.ts'

export function addLoginTotp(router: Router, ports: LoginPorts, listener: AtListener): void {
  const url = PATHS.loginTotp
  /** After an enrollment, a code may still be posted (D-20), and nothing else. */
  const canUsePasskey = async (found: Awaited<ReturnType<typeof findRequestForTotp>>) =>
    found.state === 'partially-authenticated' &&
    hasPasskey(await queriesOf(ports, found), 'enrolled')

  addStepPage(router, ports, listener, {
    url,
    fields: ['id', 'code'],
    find: findRequestForTotp,
    page: async (call, found, authRequestId) =>
      totpPage(await partly(ports, call, found, authRequestId), {
        authRequestId,
        canUsePasskey: await canUsePasskey(found),
      }),
  })

  router.add({ ...LOGIN_POST, url }, async (call) => {
    const { fields, authRequestId, origin } = readStep(call, listener, 'id')
    const found = await findRequestForTotp(ports, authRequestId, origin)
    const code = codeField(fields)
    const form = async (error: string) =>
      totpPage(await partly(ports, call, found, authRequestId), {
        authRequestId,
        canUsePasskey: await canUsePasskey(found),
        error,
      })
    return withForm(ports, call, { found, form }, async () => {
      const step = await submitSecondFactor(ports, {
        factor: 'totp',
        request: found,
        code,
        caller: call.caller,
      })
      return answerStep(ports, call, { step, found, authRequestId })
    })
  })

  router.add(
    {
      ...LOGIN_ROUTE,
      face: { json: 'api', pages: false },
      method: 'GET',
      url: PATHS.authQueries,
      replies: [200],
    },
    async (call) => {
      const { authRequestId, origin } = readStep(call, listener, 'id')
      const found = await findOpenRequest(ports, authRequestId, origin)
      const authQueries = await queriesOf(ports, found)
      const headers = { [AUTH_REQUEST_ID_HEADER]: authRequestId, ...totpRequired(authQueries) }
      return json(200, { authQueries }, headers)
    },
  )
}
