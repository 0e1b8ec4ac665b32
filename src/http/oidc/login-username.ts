/**
 * GET and POST /oidc/login/username, also called /oidc/login/password: SPEC Primary login; D-4, D-11, D-12.
 * GET shows the form, or says what to post. POST hands the credentials to `submitPassword`.
 */
import { Secret } from '../../base/secret.ts'
import type { FindRequest } from '../../domain/login/find-request.ts'
import type { SubmitPassword } from '../../domain/login/submit-password.ts'
import { CATALOGUE, Failure, type FailureCode } from '../../errors/catalogue.ts'
import { AUTH_REQUEST_ID_HEADER } from '../../protocol/headers.ts'
import { formActionSource } from '../../protocol/redirect-uri.ts'
import { passwordPage } from '../../web/login/password-page.ts'
import { errorText } from '../../web/login/texts.ts'
import { json, page } from '../answer.ts'
import { bodyFields } from '../body.ts'
import { failureHeaders } from '../faces/challenge-header.ts'
import { textField, textList } from '../fields.ts'
import type { Route, Router } from '../route.ts'
import { authRequestIdOf } from './auth-request-id.ts'
import { clearCookie, stepOrigin } from './browser-cookie.ts'
import { sendToClient } from './client-answers.ts'
import { PATHS } from './paths.ts'

export interface LoginUsernameDependencies {
  readonly brand: string
  readonly corsOrigins: readonly string[]
  readonly findRequest: FindRequest
  readonly submitPassword: SubmitPassword
}

const ROUTE = {
  access: 'login',
  face: { json: 'api', pages: true },
  cors: 'none',
} as const satisfies Partial<Route>

/** API 4.2: upper bounds, so that nobody can make hashing expensive. */
const LONGEST_USERNAME = 256
const LONGEST_PASSWORD = 1024

/** What a person at the form can mend; a program gets the same failure as JSON. */
const RETRY_ON_PAGE: readonly FailureCode[] = ['INVALID_AUTH', 'SERVER_TOO_BUSY']

export function addLoginUsername(router: Router, use: LoginUsernameDependencies): void {
  for (const url of [PATHS.loginUsername, PATHS.loginPassword]) {
    router.add(
      { ...ROUTE, method: 'GET', url, reads: [], replies: [200, 406] },
      async ({ request, query, wantsHtml }) => {
        const authRequestId = authRequestIdOf(query)
        const { ask } = await use.findRequest(authRequestId, stepOrigin(request, use.corsOrigins))
        const headers = { [AUTH_REQUEST_ID_HEADER]: authRequestId }
        if (!wantsHtml) return json(200, whatToPost(authRequestId), headers)
        const policy = { formAction: [formActionSource(ask.redirectUri)] } // D-50
        return page(200, passwordPage({ authRequestId }), policy, headers)
      },
    )

    router.add(
      { ...ROUTE, method: 'POST', url, reads: ['json', 'form'], replies: [200, 302, 401, 406] },
      async ({ request, query, body, wantsHtml, caller }) => {
        const fields = bodyFields(body)
        const authRequestId = authRequestIdOf(query, fields)
        const found = await use.findRequest(authRequestId, stepOrigin(request, use.corsOrigins))
        const username = textField(fields, 'username', LONGEST_USERNAME)
        const password = new Secret(textField(fields, 'password', LONGEST_PASSWORD))
        const configTypes = textList(fields, 'configTypes')
        try {
          const { identityId, answer } = await use.submitPassword({
            request: found,
            credentials: { username, password },
            configTypes,
            caller,
          })
          request.identity = identityId
          const { browser, key } = found
          return sendToClient(
            answer,
            browser === undefined ? {} : { 'set-cookie': clearCookie(key) },
          )
        } catch (error) {
          if (!wantsHtml || !(error instanceof Failure)) throw error
          if (!RETRY_ON_PAGE.includes(error.code)) throw error
          request.failure = error
          const { status } = CATALOGUE[error.code]
          const { message } = errorText(error.code)
          const html = passwordPage({ authRequestId, username, error: message })
          const policy = { formAction: [formActionSource(found.ask.redirectUri)] }
          return page(status, html, policy, failureHeaders(error, use.brand))
        }
      },
    )
  }
}

/** D-11: what a program that asks with GET is told. */
function whatToPost(authRequestId: string): object {
  return {
    authRequestId,
    method: 'POST',
    url: PATHS.loginUsername,
    fields: ['authRequestId', 'username', 'password'],
  }
}
