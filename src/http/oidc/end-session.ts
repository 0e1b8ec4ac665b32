/**
 * GET and POST /oidc/end_session: logout on a client's word. D-30; OIDC RP-Initiated Logout §2. Faults are shown here,
 * never redirected: the address to go to is one of the things that may be wrong.
 */
import { Secret } from '../../base/secrets/secret.ts'
import type { EndByHint } from '../../domain/sessions/ending/end-by-hint.ts'
import type { RedirectPattern } from '../../protocol/redirect-uri.ts'
import { signedOutPage } from '../../web/login/pages/signed-out-page.ts'
import { type Answer, json, page, redirect } from '../answer.ts'
import { bearersOf } from '../reading/bearers.ts'
import { invalid } from '../reading/fields.ts'
import type { Call, Route, Router } from '../route.ts'
import { PATHS } from './paths.ts'

interface EndSessionDependencies {
  readonly endByHint: EndByHint
  readonly allowedRedirects: readonly RedirectPattern[]
}

const ROUTE = {
  url: PATHS.endSession,
  access: 'public',
  face: { json: 'oauth', pages: true },
  cors: 'none',
  replies: [200, 302],
} as const satisfies Partial<Route>

export function addEndSession(router: Router, use: EndSessionDependencies): void {
  router.add({ ...ROUTE, method: 'GET', reads: [] }, (call) => end(call, call.query, use))
  router.add({ ...ROUTE, method: 'POST', reads: ['form'] }, (call) => {
    const { body } = call
    return end(call, body.kind === 'form' ? body.fields : new Map(), use)
  })
}

const PARAMETERS = ['id_token_hint', 'client_id', 'post_logout_redirect_uri', 'state'] as const

async function end(
  { request, wantsHtml, caller }: Call,
  parameters: Call['query'],
  { endByHint, allowedRedirects }: EndSessionDependencies,
): Promise<Answer> {
  const repeated = PARAMETERS.find((name) => (parameters.get(name)?.length ?? 0) > 1)
  if (repeated !== undefined) throw invalid(repeated, 'is repeated')
  const one = (name: (typeof PARAMETERS)[number]) => parameters.get(name)?.[0]
  const hint = one('id_token_hint')
  const location = await endByHint({
    idTokenHint: hint === undefined ? undefined : new Secret(hint),
    bearer: bearersOf(request)[0],
    clientId: one('client_id'),
    postLogoutRedirectUri: one('post_logout_redirect_uri'),
    allowedRedirects,
    caller,
  })
  if (location === undefined) return wantsHtml ? page(200, signedOutPage()) : json(200, {})
  const state = one('state')
  if (state === undefined) return redirect(location)
  const joint = location.includes('?') ? '&' : '?'
  return redirect(`${location}${joint}state=${encodeURIComponent(state)}`)
}
