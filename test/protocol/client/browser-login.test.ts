/**
 * The login of a person in a browser, begun by a program with `latchkey/client`: RFC 8252 §7.3. What the browser does
 * is done by hand here; test/browser has the pages themselves.
 */
import assert from 'node:assert/strict'
import { request } from 'node:http'
import { type TestContext, test } from 'node:test'
import {
  type BrowserLogin,
  type Client,
  LoginCancelled,
  LoginRefused,
  Refused,
  UnexpectedAnswer,
} from '../../../src/client/client.ts'
import { connectTo, failureOf, whoIs } from '../../support/client/client-sessions.ts'
import { REFUSALS } from '../../support/ports.ts'
import { ADMIN, type Service, startService } from '../../support/service.ts'

/** A person at the login page: where the browser is sent to in the end. */
async function logInAt(service: Service, url: string): Promise<URL> {
  const browser = { accept: 'text/html', 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate' }
  const begun = await service.client.call(url, { headers: browser })
  assert.equal(begun.status, 302, begun.text)
  const cookie = String(begun.headers['set-cookie']).split(';')[0] ?? ''
  const login = new URL(begun.headers.location ?? '', service.baseUrl)
  const finished = await service.client.call(login.href, {
    headers: { ...browser, 'sec-fetch-site': 'same-origin', cookie },
    form: Object.entries(ADMIN),
  })
  assert.equal(finished.status, 302, finished.text)
  return new URL(finished.headers.location ?? '')
}

interface Visited {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly text: string
}

function visit(
  url: URL | string,
  options: { readonly method?: string; readonly host?: string } = {},
): Promise<Visited> {
  const { method = 'GET', host } = options
  const headers = host === undefined ? {} : { host }
  return new Promise((resolve, reject) => {
    const call = request(url, { method, headers, agent: false }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk) => {
        text += chunk
      })
      response.on('end', () => {
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text })
      })
    })
    call.on('error', reject).end()
  })
}

const redirectUriOf = ({ url }: BrowserLogin) =>
  new URL(new URL(url).searchParams.get('redirect_uri') ?? '')

const stateOf = ({ url }: BrowserLogin) => new URL(url).searchParams.get('state') ?? ''

const isGone = (url: URL) =>
  assert.rejects(visit(url), ({ code = '' }: NodeJS.ErrnoException) => REFUSALS.includes(code))

async function setUp(t: TestContext): Promise<{ service: Service; client: Client }> {
  const service = await startService(t)
  return { service, client: await connectTo(service) }
}

test('a login in a browser', async (t) => {
  const { service, client } = await setUp(t)

  await t.test('ends in a session, and the listener is gone', async () => {
    const login = await client.beginBrowserLogin()
    const redirectUri = redirectUriOf(login)
    assert.equal(redirectUri.hostname, '127.0.0.1')
    const finishing = login.finish()
    const page = await visit(await logInAt(service, login.url))
    assert.equal(page.status, 200)
    assert.match(page.text, /You can close this window/)
    assert.equal(page.headers['cache-control'], 'no-store')
    assert.equal(page.headers['referrer-policy'], 'no-referrer')
    assert.match(String(page.headers['content-security-policy']), /default-src 'none'/)
    const session = await finishing
    assert.equal(await whoIs(session), ADMIN.username)
    assert.ok(session.save().refreshToken)
    await isGone(redirectUri)
  })

  await t.test('waits for its finish, when the person was faster', async () => {
    const login = await client.beginBrowserLogin({ method: 'password', path: '/done' })
    assert.equal(new URL(login.url).searchParams.get('method'), 'password')
    assert.equal(redirectUriOf(login).pathname, '/done')
    await visit(await logInAt(service, login.url))
    assert.equal(await whoIs(await login.finish()), ADMIN.username)
  })

  await t.test('takes no answer but its own, and is not disturbed by others', async () => {
    // Attack: any page in the browser can send requests to the port, with codes of the attacker (RFC 6749 §10.12).
    const login = await client.beginBrowserLogin()
    const there = redirectUriOf(login)
    const state = stateOf(login)
    const strange: readonly (readonly [string, number])[] = [
      ['?code=evil&state=another', 400],
      ['?code=evil', 400],
      [`?code=evil&state=${state}&state=another`, 400],
      ['?error=access_denied&state=another', 400],
      ['', 400],
      ['?%zz', 400],
      [`?a?code=evil&state=${state}`, 404],
    ]
    for (const [query, status] of strange) {
      assert.equal((await visit(`${there.href}${query}`)).status, status, query)
    }
    const elsewhere = new URL(`/elsewhere?code=evil&state=${state}`, there)
    assert.equal((await visit(elsewhere)).status, 404)
    const answer = `${there.href}?code=evil&state=${state}&iss=${client.issuer}`
    assert.equal((await visit(answer, { method: 'POST' })).status, 404)
    // Attack: a name of the attacker's that leads to 127.0.0.1, so that his page may read the answers.
    assert.equal((await visit(answer, { host: `evil.example:${there.port}` })).status, 404)

    await visit(await logInAt(service, login.url))
    assert.equal(await whoIs(await login.finish()), ADMIN.username)
  })

  await t.test('ends when the right state comes from another issuer', async () => {
    // R017. Attack: two servers are mixed up (RFC 9700 §4.4).
    for (const iss of ['&iss=https%3A%2F%2Fevil.example', '']) {
      const login = await client.beginBrowserLogin()
      const there = redirectUriOf(login)
      const page = await visit(`${there.href}?code=evil&state=${stateOf(login)}${iss}`)
      assert.equal(page.status, 400)
      await failureOf(login.finish(), UnexpectedAnswer)
      await isGone(there)
    }
  })

  await t.test('ends with the error that the server sends', async () => {
    const login = await client.beginBrowserLogin()
    const iss = encodeURIComponent(client.issuer)
    const query = `?error=login_required&state=${stateOf(login)}&iss=${iss}`
    const page = await visit(`${redirectUriOf(login).href}${query}`)
    assert.equal(page.status, 400)
    const error = await failureOf(login.finish(), LoginRefused)
    assert.equal(error.code, 'login_required')
  })

  await t.test('a code that was not for this login is refused by the server', async () => {
    // R033: state and iss can be right; without the verifier the code is worth nothing.
    const mine = await client.beginBrowserLogin()
    const other = await client.beginBrowserLogin()
    const code = (await logInAt(service, other.url)).searchParams.get('code') ?? ''
    const iss = encodeURIComponent(client.issuer)
    await visit(`${redirectUriOf(mine).href}?code=${code}&state=${stateOf(mine)}&iss=${iss}`)
    await assert.rejects(mine.finish(), { name: 'Refused', code: 'invalid_grant' })
    other.cancel()
    await failureOf(other.finish(), LoginCancelled)
  })

  await t.test('is given up by the program, by its signal or by time', async () => {
    const cancelled = await client.beginBrowserLogin()
    cancelled.cancel()
    assert.equal((await failureOf(cancelled.finish(), LoginCancelled)).code, 'CANCELLED')
    await isGone(redirectUriOf(cancelled))

    const leaving = new AbortController()
    const aborted = await client.beginBrowserLogin({ signal: leaving.signal })
    leaving.abort(new Error('I have to go'))
    await assert.rejects(aborted.finish(), /I have to go/)

    const late = await client.beginBrowserLogin({ timeoutMilliseconds: 50 })
    assert.equal((await failureOf(late.finish(), LoginCancelled)).code, 'TIMED_OUT')
    await isGone(redirectUriOf(late))
  })

  await t.test('a port that is taken is an error and not a surprise', async () => {
    const first = await client.beginBrowserLogin()
    const port = Number(redirectUriOf(first).port)
    await assert.rejects(client.beginBrowserLogin({ port }), { code: 'EADDRINUSE' })
    await assert.rejects(client.beginBrowserLogin({ path: 'https://evil.example' }), TypeError)
    first.cancel()
  })
})

test('a web server logs in a browser, and accepts only the answer to that login', async (t) => {
  const service = await startService(t)
  const client = await connectTo(service)
  const { url, proof } = client.beginRedirectLogin('http://127.0.0.1/.latchkey/callback')
  const back = await logInAt(service, url)
  const query = back.search.slice(1)
  // Login CSRF: the answer of another login, in another browser.
  const other = client.beginRedirectLogin('http://127.0.0.1/.latchkey/callback')
  await failureOf(client.finishRedirectLogin(other.proof, query), UnexpectedAnswer)
  await failureOf(
    client.finishRedirectLogin(proof, `error=access_denied&state=${proof.state}`),
    UnexpectedAnswer,
  )
  assert.equal(await whoIs(await client.finishRedirectLogin(proof, query)), ADMIN.username)
  // Spent.
  await failureOf(client.finishRedirectLogin(proof, query), Refused)
})
