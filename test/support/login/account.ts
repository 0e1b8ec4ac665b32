/**
 * A person at the pages of the own account, as the protocol sees it: signed in through the login pages, with the cookies and
 * the forms that a browser would have.
 */
import assert from 'node:assert/strict'
import { type CookieBrowser, cookieBrowser } from '../browser/cookie-browser.ts'
import { eventually } from '../eventually.ts'
import type { CallOptions, Reply } from '../http-client.ts'
import { ADMIN, type Service } from '../service.ts'

export const SESSION_COOKIE = '__Host-latchkey-account'

interface Person {
  readonly username: string
  readonly password: string
}

export interface AccountVisitor {
  readonly browser: CookieBrowser
  /** The HTML of a page that is there. */
  page(path: string): Promise<string>
  /** Fills in the form of a page and sends it. The token is that of the form, unless the fields have one. */
  send(
    from: string,
    action: string,
    fields?: Readonly<Record<string, string>>,
    headers?: CallOptions['headers'],
  ): Promise<Reply>
}

/** Signs in: from /account over the password back to /account. */
export async function openAccount(
  service: Service,
  person: Person,
  code?: () => string,
): Promise<AccountVisitor> {
  const visitor = visitorWith(service, cookieBrowser(service))
  await signIn(service, visitor.browser, '/account', person, code)
  return visitor
}

/** The same for the console, from one of its pages. */
export async function openConsole(
  service: Service,
  person: Person = ADMIN,
  path = '/console/identities',
): Promise<AccountVisitor> {
  const visitor = visitorWith(service, cookieBrowser(service))
  await signIn(service, visitor.browser, path, person)
  return visitor
}

/** A visitor who is whoever the cookies say. */
export function visitorWith(service: Service, browser: CookieBrowser): AccountVisitor {
  const page = async (path: string) => {
    const reply = await browser.get(path)
    assert.equal(reply.status, 200, `${path}: ${reply.status} ${reply.text}`)
    return reply.text
  }
  return {
    browser,
    page,
    async send(from, action, fields = {}, headers = {}) {
      const formToken = formTokenOf(await page(from), action)
      const form = Object.entries({ formToken, ...fields })
      return post(service, browser, action, form, headers)
    },
  }
}

/** A POST as the browser's, with whatever a test wants to be different. */
export async function post(
  service: Service,
  browser: CookieBrowser,
  path: string,
  form: NonNullable<CallOptions['form']>,
  headers: CallOptions['headers'] = {},
): Promise<Reply> {
  return browser.get(path, {
    method: 'POST',
    form,
    headers: { origin: service.baseUrl, ...headers },
  })
}

/** Begins at a path, types the password and the code where one is asked for, and comes back. Answers the callback's reply. */
export async function signIn(
  service: Service,
  browser: CookieBrowser,
  path: string,
  person: Person,
  code?: () => string,
): Promise<Reply> {
  const callback = await signInUntilCallback(service, browser, path, person, code)
  const reply = await browser.get(callback)
  assert.equal(reply.status, 303, reply.text)
  return reply
}

/** The path of the callback with its code, not visited yet. */
export async function signInUntilCallback(
  service: Service,
  browser: CookieBrowser,
  path: string,
  { username, password }: Person,
  code?: () => string,
): Promise<string> {
  const begun = await browser.get(path)
  assert.equal(begun.status, 302, begun.text)
  const login = new URL(begun.headers.location ?? '', service.baseUrl)
  assert.match(login.pathname, /^\/oidc\/login\//)
  const authRequestId = login.searchParams.get('authRequestID') ?? ''
  let reply = await browser.post('/oidc/login/username', { authRequestId, username, password })
  if (code !== undefined) {
    assert.equal(reply.status, 200, reply.text)
    reply = await browser.post('/oidc/login/totp', { id: authRequestId, code: code() })
  }
  assert.equal(reply.status, 302, reply.text)
  const location = new URL(reply.headers.location ?? '')
  assert.equal(location.origin, service.baseUrl)
  const [, site] = path.split(/[/?]/)
  assert.equal(location.pathname, `/${site}/callback`)
  return `${location.pathname}${location.search}`
}

/** The token in the form of a page that posts to this address. */
export function formTokenOf(html: string, action: string): string {
  const form = html.split('<form ').find((part) => part.includes(`action="${action}"`))
  const token = /name="formToken" value="([^"]+)"/.exec(form ?? '')?.[1]
  assert.ok(token !== undefined, `no form to ${action}`)
  return token
}

type Pair = [name: string, value: string]

/** What a browser would send of the form that posts to `action`, unchanged. */
export function formFields(page: string, action: string): readonly Pair[] {
  const [, inside = ''] = page.split(`action="${action}">`)
  const [form = ''] = inside.split('</form>')
  const pairs: Pair[] = []
  for (const { 0: tag, 1: name = '', index } of form.matchAll(
    /<(?:input|textarea|select)[^>]* name="(\w+)"[^>]*>/g,
  )) {
    const rest = form.slice(index + tag.length)
    if (tag.includes('checkbox') && !tag.includes(' checked')) continue
    const [, value = ''] = tag.startsWith('<textarea')
      ? (/^\n?([^<]*)<\/textarea>/.exec(rest) ?? [])
      : tag.startsWith('<select')
        ? (/<option value="([^"]*)" selected>/.exec(rest.split('</select>')[0] ?? '') ?? [])
        : (/ value="([^"]*)"/.exec(tag) ?? [])
    pairs.push([name, unescaped(value)])
  }
  return pairs
}

/** The same after these fields were changed; undefined clears a checkbox. */
export function filledIn(
  page: string,
  action: string,
  typed: Readonly<Record<string, string | readonly string[] | undefined>>,
): Pair[] {
  const others = formFields(page, action).filter(([name]) => !Object.hasOwn(typed, name))
  const changed = Object.entries(typed).flatMap(([name, value = []]) =>
    [value].flat().map((one): Pair => [name, one]),
  )
  return [...others, ...changed]
}

function unescaped(text: string): string {
  return text.replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)))
}

/** The heading of a page. */
export function headingOf(html: string): string {
  return /<h1>([^<]*)<\/h1>/.exec(html)?.[1] ?? ''
}

/** A refusal as a page of its own: status, heading, and the request id. */
export async function assertRefusedPage(
  service: Service,
  reply: Reply,
  status: number,
  code: string,
): Promise<void> {
  assert.equal(reply.status, status, reply.text)
  assert.match(reply.headers['content-type'] ?? '', /^text\/html/)
  assert.equal(reply.headers['www-authenticate'], undefined, 'R071')
  const requestId = reply.headers['x-request-id']
  assert.ok(reply.text.includes(`<code>${requestId}</code>`), 'the page names the request')
  assert.equal(await codeOf(service, reply), code)
}

/** The code of a refusal, which a page does not show: that of its log line. */
export async function codeOf(service: Service, { headers }: Reply): Promise<unknown> {
  const requestId = headers['x-request-id']
  // The line is written once the answer has left.
  const line = await eventually(
    () => service.log.find((one) => one.requestId === requestId && one.msg === 'request'),
    'the log line of the request',
  )
  return line.code
}
