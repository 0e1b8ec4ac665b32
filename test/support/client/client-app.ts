/**
 * A client application as a person meets it: a web site whose page leads to the service's login and whose callback
 * takes the answer, in the query or as a posted form.
 */
import assert from 'node:assert/strict'
import type { IncomingHttpHeaders } from 'node:http'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import { html } from '../../../src/web/login/html.ts'
import { type SiteHost, startSite } from '../browser/site.ts'
import { authorizationParameters, exchange, pkce, type Tokens } from '../login/login.ts'
import type { Service } from '../service.ts'

/** What arrived at the callback. */
export interface Answer {
  readonly method: string
  readonly parameters: URLSearchParams
  readonly headers: IncomingHttpHeaders
}

/** A login that the application has prepared. */
export interface PreparedLogin {
  /** The page of the application with the link to the login. */
  readonly url: string
  /** Where that link leads. */
  readonly authorizationUrl: string
  readonly state: string
  readonly verifier: string
}

export interface ClientApp {
  readonly redirectUri: string
  /** Every answer so far, oldest first. */
  readonly answers: readonly Answer[]
  prepare(changes?: Readonly<Record<string, string | undefined>>): PreparedLogin
  /** Exchanges the code of an answer; fails the test when the service refuses. */
  finish(login: PreparedLogin, answer: Answer | undefined): Promise<Tokens>
}

/** `baseUrl` is the address of the service that the application knows: the first one unless told. */
export async function startClientApp(
  t: TestContext,
  service: Service,
  { host = '127.0.0.1', baseUrl = service.baseUrl }: { host?: SiteHost; baseUrl?: string } = {},
): Promise<ClientApp> {
  const answers: Answer[] = []
  const links = new Map<string, string>()

  const origin = await startSite(t, host, async (request, { pathname, searchParams }) => {
    const link = links.get(pathname)
    if (link !== undefined) return html`<a href="${link}">Sign in</a>`
    if (pathname !== '/callback') return undefined
    const { method = '', headers } = request
    const parameters = method === 'POST' ? new URLSearchParams(await text(request)) : searchParams
    answers.push({ method, parameters, headers })
    return html`<h1>Signed in</h1>`
  })
  const redirectUri = `${origin}/callback`

  return {
    redirectUri,
    answers,
    prepare(changes = {}) {
      const { verifier, challenge } = pkce()
      const number = links.size + 1
      const state = `state-${number}`
      const all = { redirect_uri: redirectUri, state, ...changes }
      const parameters = authorizationParameters(challenge, all)
      const authorizationUrl = `${baseUrl}/oidc/authorization?${parameters}`
      links.set(`/start/${number}`, authorizationUrl)
      return { url: `${origin}/start/${number}`, authorizationUrl, state, verifier }
    },
    async finish({ verifier }, answer) {
      const reply = await exchange(service, {
        code: answer?.parameters.get('code') ?? undefined,
        code_verifier: verifier,
        redirect_uri: redirectUri,
      })
      assert.equal(reply.status, 200, reply.text)
      return reply.json()
    },
  }
}
