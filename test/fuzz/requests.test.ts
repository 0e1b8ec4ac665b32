/**
 * Whatever is sent to the endpoints that anybody may call, the answer is one of ours: never a 500,
 * always with a request id, in the face of its address (D-28, D-39, D-45), and the service goes on.
 */
import assert from 'node:assert/strict'
import https from 'node:https'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { rounds } from '../support/chance/rounds.ts'
import type { CallOptions, Reply } from '../support/http-client.ts'
import {
  authorizationParameters,
  beginLogin,
  obtainCode,
  pkce,
  REDIRECT_URI,
} from '../support/login/login.ts'
import { ADMIN, errorsIn, startService } from '../support/service.ts'

// Every run is a call over the wire, and some hash a password. Short in CI, long on demand.
const numRuns = rounds(200)

/** With one redirect URI: by default every path of this machine is one (D-8), such as ours with `&` behind it. */
const LISTENER = {
  name: 'only',
  bindPoints: [{ interface: '127.0.0.1:0', address: 'localhost:0' }],
  apis: [
    { binding: 'edge-client' },
    { binding: 'edge-oidc', options: { redirectURIs: [REDIRECT_URI] } },
  ],
}

const JSON_TYPE = 'application/json'
const FORM_TYPE = 'application/x-www-form-urlencoded'

/** What a header field can carry; Node's client refuses to send the rest. */
const fieldValue = fc.string({ unit: 'grapheme-ascii', maxLength: 30 }).map((text) => text.trim())
const contentType = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(JSON_TYPE, FORM_TYPE) },
  fc.constantFrom(
    `${JSON_TYPE}; charset=utf-16`,
    `${FORM_TYPE};`,
    'APPLICATION/JSON',
    'text/plain',
  ),
  fc.constantFrom('multipart/form-data; boundary=x', 'application/jsonx', '/', ';', 'a/b/c', ''),
  fieldValue,
)
const accept = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(JSON_TYPE, '*/*') },
  fc.constantFrom('text/html', 'text/html;q=0.5, application/json;q=0.4', 'text/html;q=x', ''),
  fieldValue,
)

const oddValue = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom('', ' ', '\0', '%', 'a'.repeat(5_000), '__proto__', '../../etc', "' OR 1=1 --"),
)

/** Bodies that nobody meant: any bytes, JSON of any shape, forms of any pairs. */
const strangeBody = fc.oneof(
  fc.uint8Array({ maxLength: 200 }),
  fc.json({ maxDepth: 5 }).map((text) => Buffer.from(text)),
  fc.constantFrom('[', '{"a":', '"\\ud800"', '{"a":1,"a":2}', '%', '=&=', '\ufeff{}', 'null'),
  fc.constant('['.repeat(10_000)),
)

/** A good body with a field lost or some changed, as JSON or as a form. */
function almost(
  good: Readonly<Record<string, string>>,
  otherNames: readonly string[],
  values: fc.Arbitrary<unknown>,
): fc.Arbitrary<Sent> {
  const names = Object.keys(good)
  const kept = fc.subarray(names, { minLength: names.length - 1 })
  const changes = fc.dictionary(fc.constantFrom(...names, ...otherNames), values, { maxKeys: 2 })
  return fc.tuple(kept, changes, fc.boolean()).map(([kept, changes, isJson]) => {
    const fields = { ...Object.fromEntries(kept.map((name) => [name, good[name]])), ...changes }
    if (isJson) return { type: JSON_TYPE, body: JSON.stringify(fields) }
    const pairs = Object.entries(fields).map(([name, value]) => [name, String(value)])
    return { type: FORM_TYPE, body: new URLSearchParams(pairs).toString() }
  })
}

interface Sent {
  readonly type: string
  readonly body: string | Uint8Array
}

const strange: fc.Arbitrary<Sent> = fc.record({ type: contentType, body: strangeBody })

test('unusual requests', async (t) => {
  const service = await startService(t, { config: { web: [LISTENER] } })
  // One connection for all, so that a run costs a request and no handshake.
  const agent = new https.Agent({ keepAlive: true, maxSockets: 1 })
  t.after(() => agent.destroy())
  const call = (path: string, options: CallOptions) => service.call(path, { ...options, agent })

  async function check(
    t: TestContext,
    path: string,
    sent: fc.Arbitrary<Sent>,
    assertAnswer: (reply: Reply) => void | Promise<void>,
  ): Promise<void> {
    const seen = new Set<number>()
    await fc.assert(
      fc.asyncProperty(sent, accept, async ({ type, body }, accepted) => {
        const headers = { 'content-type': type, accept: accepted }
        const reply = await call(path, { method: 'POST', headers, body })
        assert.ok(reply.status < 500, `${reply.status} ${reply.text}`)
        assert.match(String(reply.headers['x-request-id']), /^[0-9a-z]{19}$/)
        await assertAnswer(reply)
        seen.add(reply.status)
      }),
      { numRuns },
    )
    t.diagnostic(`statuses: ${[...seen].sort().join(' ')}`)
    assert.equal((await call('/version', {})).status, 200)
    assert.deepEqual(errorsIn(service), [])
  }

  await t.test('to the login endpoint', async (t) => {
    // Good for one success; then the next one takes its place in what is sent.
    let live = (await beginLogin(service)).authRequestId
    const authRequestId = live
    const values = fc.oneof(
      oddValue,
      fc.constantFrom(authRequestId, null, 7, true, {}, [], ['a', 'b'], [[authRequestId]]),
    )
    const names = ['authRequestID', 'id', 'configTypes', 'x']
    const sent = fc.oneof(strange, almost({ authRequestId, ...ADMIN }, names, values))
    const toTheLiveOne = ({ type, body }: Sent): Sent => ({
      type,
      body: typeof body === 'string' ? body.replaceAll(authRequestId, live) : body,
    })
    await check(t, '/oidc/login/username', sent.map(toTheLiveOne), async (reply) => {
      if (reply.status === 302) {
        assertLeadsToTheClient(reply)
        live = (await beginLogin(service)).authRequestId
      } else if (String(reply.headers['content-type']).startsWith('text/html')) assertPage(reply)
      else assertEnvelope(reply)
    })
  })

  await t.test('to the token endpoint', async (t) => {
    const { code, verifier } = await obtainCode(service)
    const good = {
      grant_type: 'authorization_code',
      client_id: 'service',
      redirect_uri: REDIRECT_URI,
      code,
      code_verifier: verifier,
    }
    const sent = fc.oneof(strange, almost(good, ['client_secret', 'x'], oddValue))
    await check(t, '/oidc/token', sent, (reply) => {
      if (reply.status === 200) assert.equal(reply.json().token_type, 'Bearer')
      else assertOauth(reply)
    })
  })

  await t.test('to the authorization endpoint', async (t) => {
    const good = Object.fromEntries(authorizationParameters(pkce().challenge))
    const values = fc.oneof(oddValue, fc.constantFrom('none', 'form_post', 'password', 'cert'))
    const names = ['nonce', 'prompt', 'max_age', 'response_mode', 'method', 'configTypes', 'x']
    await check(
      t,
      '/oidc/authorization',
      fc.oneof(strange, almost(good, names, values)),
      (reply) => {
        if (reply.status === 302) return assertLeadsToTheClient(reply)
        if (String(reply.headers['content-type']).startsWith('text/html')) return assertPage(reply)
        assertOauth(reply)
      },
    )
  })

  await t.test('with any query', async () => {
    const query = fc.array(
      fc.oneof(
        fc.constantFrom('&', '=', '%', '%zz', '%ff', '+', '?', '#', '/', 'authRequestID=', 'id='),
        fc.constantFrom('client_id=service', `redirect_uri=${encodeURIComponent(REDIRECT_URI)}`),
        fc.string({ unit: 'grapheme-ascii', maxLength: 5 }).map(encodeURIComponent),
      ),
      { maxLength: 12 },
    )
    const path = fc.constantFrom('/oidc/authorization', '/oidc/login/username', '/version', '/no')
    await fc.assert(
      fc.asyncProperty(path, query, async (path, parts) => {
        const reply = await call(`${path}?${parts.join('')}`, {})
        assert.ok(reply.status < 500, `${reply.status} ${reply.text}`)
        assert.match(String(reply.headers['x-request-id']), /^[0-9a-z]{19}$/)
        if (reply.status === 302) assertLeadsToTheClient(reply)
        else if (path === '/oidc/authorization') assertOauth(reply)
        else if (reply.status >= 400) assertEnvelope(reply)
      }),
      { numRuns },
    )
    assert.deepEqual(errorsIn(service), [])
  })
})

/** R020: nowhere but to our own login page or to the redirect URI that every request here names. */
function assertLeadsToTheClient(reply: Reply): void {
  const location = String(reply.headers.location)
  const isOurs = /^\/oidc\/login\/(?:username|cert|ext-jwt)\?authRequestID=/.test(location)
  assert.ok(isOurs || location.startsWith(`${REDIRECT_URI}?`), location)
}

function assertPage(reply: Reply): void {
  assert.match(reply.text, /^<!doctype html>/)
  assert.match(String(reply.headers['content-security-policy']), /default-src 'none'/)
}

function assertEnvelope(reply: Reply): void {
  assert.match(String(reply.headers['content-type']), /^application\/json/)
  const { error, meta } = reply.json()
  assert.match(error.code, /^[A-Z_]+$/)
  assert.equal(typeof error.message, 'string')
  assert.equal(error.requestId, reply.headers['x-request-id'])
  assert.equal(typeof meta.apiVersion, 'string')
}

function assertOauth(reply: Reply): void {
  assert.match(String(reply.headers['content-type']), /^application\/json/)
  const { error, error_description } = reply.json()
  assert.match(error, /^[a-z_]+$/)
  assert.equal(typeof error_description, 'string')
  assert.equal(reply.headers['cache-control'], 'no-store')
}
