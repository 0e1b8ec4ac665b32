/**
 * GET and POST /oidc/end_session: logout at the request of a client. D-30, D-242; OIDC RP-Initiated Logout §2. Errors
 * are shown here, never redirected, because the redirect address may be what is wrong. A browser that sends no hint is
 * handled by ask-to-sign-out.ts.
 */

import { Secret } from '../../base/secrets/secret.ts'
import type { AccountPorts } from '../../domain/account/ports.ts'
import { invalid } from '../../domain/refusals.ts'
import { endByHint } from '../../domain/tokens/end-by-hint.ts'
import type { RedirectPattern } from '../../protocol/redirect-uri.ts'
import { ACCOUNT_PATH } from '../../web/account/layout.ts'
import { signedOutPage } from '../../web/login/pages/signed-out-page.ts'
import { type Answer, json, page } from '../answer.ts'
import type { Call } from '../call.ts'
import type { ListenerParts } from '../listener-parts.ts'
import { createReadEnd, type ReadEnd, withEnding } from '../own-site/ending-proof.ts'
import { bearersOf } from '../reading/bearers.ts'
import type { Route } from '../route.ts'
import type { Router } from '../router.ts'
import {
  askToSignOut,
  CONFIRMATION,
  goOn,
  signOutOfBrowser,
  toTheQuestion,
} from './ask-to-sign-out.ts'
import { PATHS } from './paths.ts'

interface Listener extends AtListener {
  readonly readEnd: ReadEnd
}

interface AtListener extends Pick<ListenerParts, 'addresses'> {
  readonly allowedRedirects: readonly RedirectPattern[]
}

const ROUTE = {
  url: PATHS.endSession,
  access: 'public',
  face: { json: 'oauth', pages: true },
} as const satisfies Partial<Route>

export function addEndSession(router: Router, ports: AccountPorts, at: AtListener): void {
  const listener = { ...at, readEnd: createReadEnd(ports) }
  router.add({ ...ROUTE, method: 'GET', replies: [200, 302] }, (call) =>
    end(ports, call, { parameters: call.query, withoutHint: askToSignOut }, listener),
  )
  router.add(
    { ...ROUTE, method: 'POST', reads: ['form'], replies: [200, 302, 303, 403] },
    (call) => {
      const fields = call.body.kind === 'form' ? call.body.fields : new Map()
      const withoutHint = fields.has(CONFIRMATION) ? signOutOfBrowser : toTheQuestion
      return end(ports, call, { parameters: fields, withoutHint }, listener)
    },
  )
}

const PARAMETERS = ['id_token_hint', 'client_id', 'post_logout_redirect_uri', 'state'] as const

async function end(
  ports: AccountPorts,
  call: Call,
  {
    parameters,
    withoutHint,
  }: { readonly parameters: Call['query']; readonly withoutHint: typeof signOutOfBrowser },
  listener: Listener,
): Promise<Answer> {
  const repeated = PARAMETERS.find((name) => (parameters.get(name)?.length ?? 0) > 1)
  if (repeated !== undefined) throw invalid(repeated, 'is repeated')
  const one = (name: (typeof PARAMETERS)[number]) => parameters.get(name)?.[0]
  const hint = one('id_token_hint')
  const { result, ended } = await ports.collectedEndings.collect(() =>
    endByHint(ports, {
      idTokenHint: hint === undefined ? undefined : new Secret(hint),
      bearer: bearersOf(call)[0],
      clientId: one('client_id'),
      postLogoutRedirectUri: one('post_logout_redirect_uri'),
      allowedRedirects: listener.allowedRedirects,
      caller: call.caller,
    }),
  )
  const { isNamed, location } = result
  const way = { clientId: one('client_id'), location, state: one('state') }
  if (!isNamed && call.wantsHtml) return withoutHint(ports, call, way, listener)
  // D-30: `{}` says that the request was valid, but not which sessions ended.
  const answer =
    goOn(way) ??
    (call.wantsHtml
      ? page(200, signedOutPage(call.presentation, ACCOUNT_PATH, await listener.readEnd(ended)))
      : json(200, {}))
  return withEnding(ports, answer, ended)
}
