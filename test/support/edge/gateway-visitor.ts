/** A browser as a gateway sees it: fetch metadata, cookies, redirects by hand; and its user, who signs in. */
import assert from 'node:assert/strict'
import { type HttpClient, httpClient, type Reply } from '../http-client.ts'
import { ADMIN, type Service } from '../service.ts'

export interface Visitor {
  readonly cookies: Map<string, string>
  /** A navigation, unless told otherwise. */
  visit(path: string, options?: VisitOptions): Promise<Reply>
  /** Fills in the login that a redirect led to; the path and query of the callback. */
  logIn(redirect: Reply, who?: Credentials): Promise<string>
  /** From an address to the page behind the gateway. */
  signIn(path?: string, who?: Credentials): Promise<Reply>
}

export interface VisitOptions {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
  readonly form?: readonly (readonly [string, string])[]
}

export interface Credentials {
  readonly username: string
  readonly password: string
}

export const NAVIGATION = {
  accept: 'text/html,application/xhtml+xml,*/*;q=0.8',
  'sec-fetch-site': 'none',
  'sec-fetch-mode': 'navigate',
  'sec-fetch-dest': 'document',
}
export const SCRIPT = {
  accept: 'application/json',
  'sec-fetch-site': 'same-origin',
  'sec-fetch-mode': 'cors',
  'sec-fetch-dest': 'empty',
}

export function gatewayVisitor(
  service: Pick<Service, 'baseUrl' | 'client'>,
  { url, gatewayCa }: { readonly url: string; readonly gatewayCa: string },
  given: {
    readonly client?: Pick<HttpClient, 'call'>
    readonly headers?: Readonly<Record<string, string>>
  } = {},
): Visitor {
  const client = given.client ?? httpClient(gatewayCa, 'other')
  const cookies = new Map<string, string>()

  async function visit(path: string, options: VisitOptions = {}): Promise<Reply> {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const headers = {
      ...NAVIGATION,
      ...(cookie === '' ? {} : { cookie }),
      ...given.headers,
      ...options.headers,
    }
    const reply = await client.call(`${url}${path}`, { ...options, headers })
    for (const line of reply.headers['set-cookie'] ?? []) {
      const [, name = '', value = '', attributes = ''] = /^([^=]+)=([^;]*);(.*)$/.exec(line) ?? []
      if (!name.startsWith('__Host-latchkey-')) continue
      assert.match(attributes, /Path=\/; Secure; HttpOnly; SameSite=Lax/)
      assert.ok(name.length + value.length <= 4096, 'browsers would drop it')
      if (/Max-Age=0/.test(attributes)) cookies.delete(name)
      else cookies.set(name, value)
    }
    return reply
  }

  async function logIn(redirect: Reply, who: Credentials = ADMIN): Promise<string> {
    assert.equal(redirect.status, 302, redirect.text)
    const browser = { accept: 'text/html', 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate' }
    const begun = await service.client.call(redirect.headers.location ?? '', { headers: browser })
    assert.equal(begun.status, 302, begun.text)
    const cookie = String(begun.headers['set-cookie']).split(';')[0] ?? ''
    const login = new URL(begun.headers.location ?? '', service.baseUrl)
    const finished = await service.client.call(login.href, {
      headers: { ...browser, 'sec-fetch-site': 'same-origin', cookie },
      form: Object.entries(who),
    })
    assert.equal(finished.status, 302, finished.text)
    const back = new URL(finished.headers.location ?? '')
    return `${back.pathname}${back.search}`
  }

  return {
    cookies,
    visit,
    logIn,
    async signIn(path = '/', who) {
      const back = await visit(await logIn(await visit(path), who))
      assert.equal(back.status, 303, back.text)
      return visit(back.headers.location ?? '')
    },
  }
}

export const SESSION_COOKIE = '__Host-latchkey-gateway'
