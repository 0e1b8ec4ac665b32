/**
 * A browser as the protocol sees it: it sends fetch metadata, asks for pages and keeps cookies. For steps that a real one
 * would take too, where a test wants to change what is sent.
 */
import assert from 'node:assert/strict'
import type { CallOptions, Reply } from '../http-client.ts'
import { authorizationParameters, type Pkce, pkce } from '../login/login.ts'
import type { Service } from '../service.ts'

export interface CookieBrowser {
  readonly cookies: Map<string, string>
  get(path: string, options?: CallOptions): Promise<Reply>
  post(path: string, form: Readonly<Record<string, string>>): Promise<Reply>
  /** From the authorization to the first page of the login. */
  begin(
    changes?: Readonly<Record<string, string>>,
  ): Promise<Pkce & { readonly authRequestId: string }>
}

const FIELDS = {
  accept: 'text/html',
  'sec-fetch-site': 'same-origin',
  'sec-fetch-mode': 'navigate',
}

export function cookieBrowser(service: Pick<Service, 'baseUrl' | 'call'>): CookieBrowser {
  const cookies = new Map<string, string>()

  async function call(path: string, options: CallOptions): Promise<Reply> {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const headers = { ...FIELDS, ...(cookie === '' ? {} : { cookie }), ...options.headers }
    const reply = await service.call(path, { ...options, headers })
    for (const line of reply.headers['set-cookie'] ?? []) {
      const [, name = '', value = '', attributes = ''] = /^([^=]+)=([^;]*);(.*)$/.exec(line) ?? []
      assert.match(name, /^__Host-/)
      assert.match(attributes, /Path=\/; Secure; HttpOnly; SameSite=Lax/)
      assert.ok(name.length + value.length <= 4096, 'browsers would drop it')
      if (/Max-Age=0/.test(attributes)) cookies.delete(name)
      else cookies.set(name, value)
    }
    return reply
  }

  return {
    cookies,
    get: (path, options = {}) => call(path, options),
    post: (path, form) => call(path, { form: Object.entries(form) }),
    async begin(changes = {}) {
      const keys = pkce()
      const parameters = authorizationParameters(keys.challenge, changes)
      const reply = await call(`/oidc/authorization?${parameters}`, {})
      assert.equal(reply.status, 302, reply.text)
      const location = new URL(reply.headers.location ?? '', service.baseUrl)
      const authRequestId = location.searchParams.get('authRequestID')
      assert.ok(authRequestId)
      return { ...keys, authRequestId }
    },
  }
}

/** The path of GET /oidc/login/ext-jwt/start. */
export const startPath = (
  signer: string,
  authRequestID: string,
  others: Readonly<Record<string, string>> = {},
) => `/oidc/login/ext-jwt/start?${new URLSearchParams({ signer, authRequestID, ...others })}`

/** Where a browser was sent. */
export function sentTo(reply: Reply): URL {
  assert.equal(reply.status, 302, reply.text)
  return new URL(reply.headers.location ?? '')
}

/** The path of the callback with the state of this location. */
export function callbackPath(location: URL, answer: Readonly<Record<string, string>>): string {
  const redirect = new URL(location.searchParams.get('redirect_uri') ?? '')
  const parameters = { state: location.searchParams.get('state') ?? '', ...answer }
  return `${redirect.pathname}?${new URLSearchParams(parameters)}`
}
