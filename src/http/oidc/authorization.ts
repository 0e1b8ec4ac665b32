/**
 * GET and POST /oidc/authorization: SPEC Authorization, D-5, D-6. A valid request redirects to the login page on the
 * same origin. An error goes back to the client, or is shown here if there is no address we may redirect to.
 */

import type { AccountPorts } from '../../domain/account/ports.ts'
import { startLogin } from '../../domain/login/start.ts'
import { invalid } from '../../domain/refusals.ts'
import { AUTH_REQUEST_ID_HEADER } from '../../protocol/headers.ts'
import type { RedirectPattern } from '../../protocol/redirect-uri.ts'
import { LANGUAGE_PARAMETER } from '../../web/login/layout.ts'
import { type Answer, redirect, withCookies } from '../answer.ts'
import type { Call } from '../call.ts'
import type { ListenerParts } from '../listener-parts.ts'
import { askedLanguageCookie } from '../reading/language.ts'
import type { Route } from '../route.ts'
import type { Router } from '../router.ts'
import { sendToClient } from './client-answers.ts'
import { isFromBrowser, setCookie } from './login/browser-cookie.ts'
import { signOn } from './login/single-sign-on.ts'
import { METHOD_PATHS, PATHS } from './paths.ts'

interface AtListener extends Pick<ListenerParts, 'addresses'> {
  readonly allowedRedirects: readonly RedirectPattern[]
}

const ROUTE = {
  access: 'public',
  face: { json: 'oauth', pages: true },
  replies: [200, 302],
} as const satisfies Partial<Route>

export function addAuthorization(
  router: Router,
  ports: AccountPorts,
  listener: AtListener,
  url: string = PATHS.authorization,
): void {
  router.add({ ...ROUTE, url, method: 'GET' }, (call) =>
    authorize(ports, call, call.query, listener),
  )
  // OIDC Core §3.1.2.1: POST takes the same parameters, as a form. Some clients send them in the query (D-311).
  router.add({ ...ROUTE, url, method: 'POST', reads: ['form'] }, (call) =>
    authorize(ports, call, inQueryOrBody(call), listener),
  )
}

/**
 * D-311: a parameter that is in both places is refused here and not at the client, because two readers could take the
 * request for that of different clients.
 */
function inQueryOrBody({ query, body }: Call): Call['query'] {
  const fields = body.kind === 'form' ? body.fields : new Map()
  for (const name of fields.keys()) {
    if (query.has(name)) throw invalid(name.slice(0, 64), 'is in the query and in the body')
  }
  return new Map([...query, ...fields])
}

async function authorize(
  ports: AccountPorts,
  call: Call,
  parameters: Call['query'],
  listener: AtListener,
): Promise<Answer> {
  const { addresses, allowedRedirects } = listener
  const start = (asked: Call['query']) =>
    startLogin(ports, {
      issuer: addresses().issuerOf(call),
      allowedRedirects,
      parameters: asked,
      isBrowser: call.wantsHtml || isFromBrowser(call), // D-10
      hasCertificate: call.certificateChain() !== undefined,
    })
  const started = start(parameters)
  // D-345: `prompt=none` is refused, unless a session answers for the user.
  const silent = isSilent(parameters)
  const tried = silent ? start(withoutPrompt(parameters)) : started
  if (tried.next === 'login') {
    const answer = await signOn(ports, call, tried, { listener, silent })
    if (answer !== undefined) return withLanguage(answer, parameters)
  }
  if (started.next === 'answer') return sendToClient(call, started.answer)
  const { method, authRequestId, key, cookie } = started
  const answer = redirect(`${METHOD_PATHS[method]}?authRequestID=${authRequestId}`, {
    [AUTH_REQUEST_ID_HEADER]: authRequestId,
  })
  if (cookie === undefined) return answer
  return withLanguage(withCookies(answer, [setCookie(key, cookie)]), parameters)
}

function isSilent(parameters: Call['query']): boolean {
  const [prompt, ...others] = parameters.get('prompt') ?? []
  return prompt === 'none' && others.length === 0
}

function withoutPrompt(parameters: Call['query']): Call['query'] {
  return new Map([...parameters].filter(([name]) => name !== 'prompt'))
}

/** D-342: the pages of the login are in the language that the application asked for. */
function withLanguage(answer: Answer, parameters: Call['query']): Answer {
  return withCookies(answer, askedLanguageCookie(parameters.get(LANGUAGE_PARAMETER) ?? []))
}
