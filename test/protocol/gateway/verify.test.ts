/**
 * Forward authentication: what a proxy asks, and what it is told. D-413 to D-415. test/process/forward-auth.test.ts has a
 * real proxy; here its questions are written by hand.
 */
import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { test } from 'node:test'
import { createLocalJWKSet, jwtVerify } from 'jose'
import { Secret } from '../../../src/base/secrets/secret.ts'
import {
  gatewayVisitor,
  NAVIGATION,
  SCRIPT,
  SESSION_COOKIE,
  type Visitor,
} from '../../support/edge/gateway-visitor.ts'
import { plainClient } from '../../support/edge/plain-client.ts'
import { connectRaw } from '../../support/edge/raw-connection.ts'
import { startRealEdge, travel } from '../../support/edge/real-edge.ts'
import { enrollRouter } from '../../support/edge/router-identity.ts'
import { httpClient, type Reply } from '../../support/http-client.ts'
import { startService } from '../../support/service.ts'

/** Loopback, so that the controller allows it; the port is one of the proxy, not of the gateway. */
const HOST = 'localhost:8444'
const ORIGIN = `https://${HOST}`
const FORWARDED = { 'x-forwarded-host': HOST, 'x-forwarded-proto': 'https' }
const VERIFY = '/.latchkey/verify'

test('forward authentication', async (t) => {
  const service = await startService(t)
  const listen = { host: '127.0.0.1', port: 0 }
  const edge = await startRealEdge(t, service, { verify: { listen, jwt: true, require: {} } })
  const url = `http://127.0.0.1:${edge.verifyPort}`
  const client = plainClient()
  const newVisitor = () =>
    gatewayVisitor(service, { url, gatewayCa: '' }, { client, headers: FORWARDED })
  const signedIn = async (): Promise<Visitor> => {
    const visitor = newVisitor()
    const first = await visitor.visit(VERIFY, { headers: { 'x-forwarded-uri': '/app?x=1' } })
    const back = await visitor.visit(await visitor.logIn(first))
    assert.equal(back.status, 303, back.text)
    assert.equal(back.headers.location, '/app?x=1')
    return visitor
  }
  const refused = (reply: Reply, status: number, code: string) => {
    assert.equal(reply.status, status, reply.text)
    assert.equal(reply.json().error.code, code)
  }

  await t.test(
    'a browser is sent to sign in at the host of the proxy, and then passes',
    async () => {
      const visitor = newVisitor()
      const headers = { 'x-forwarded-uri': '/app?x=1', 'x-forwarded-method': 'GET' }
      const first = await visitor.visit(VERIFY, { headers })
      assert.equal(first.status, 302)
      const location = new URL(first.headers.location ?? '')
      assert.equal(location.searchParams.get('redirect_uri'), `${ORIGIN}/.latchkey/callback`)
      const back = await visitor.visit(await visitor.logIn(first))
      assert.equal(back.headers.location, '/app?x=1')
      const passed = await visitor.visit(VERIFY, { headers })
      assert.equal(passed.status, 200)
      assert.match(String(passed.headers['x-latchkey-identity-id']), /./)
      assert.match(String(passed.headers['x-latchkey-session-id']), /./)
      assert.equal(passed.headers['cache-control'], 'no-store')
    },
  )

  await t.test('the JWT says who it is, for this application and a minute', async () => {
    const visitor = await signedIn()
    const passed = await visitor.visit(VERIFY)
    const keys = createLocalJWKSet((await client.call(`${url}/.latchkey/jwks.json`)).json())
    const jwt = String(passed.headers['x-latchkey-jwt'])
    const expected = {
      issuer: `${ORIGIN}/.latchkey`,
      audience: ORIGIN,
      typ: 'latchkey-identity+jwt',
      currentDate: new Date(edge.clock.now()),
    }
    const { payload } = await jwtVerify(jwt, keys, expected)
    assert.equal(payload.sub, passed.headers['x-latchkey-identity-id'])
    assert.equal(payload['sid'], passed.headers['x-latchkey-session-id'])
    assert.equal((payload.exp ?? 0) - (payload.iat ?? 0), 60)
    await assert.rejects(jwtVerify(jwt, keys, { ...expected, audience: 'https://other.example' }))
    // It is no credential at the controller, nor here.
    const call = await service.call('/edge/client/v1/current-identity', {
      headers: { authorization: `Bearer ${jwt}` },
    })
    assert.equal(call.status, 401)
  })

  await t.test('nginx is told 401, which it can act upon', async () => {
    const original = { 'x-original-uri': '/app', 'x-original-method': 'GET' }
    const reply = await newVisitor().visit(VERIFY, { headers: original })
    assert.equal(reply.status, 401)
    assert.match(String(reply.headers['www-authenticate']), /Bearer/)
    // And fetches the redirect itself.
    const begun = await newVisitor().visit('/.latchkey/sign-in', { headers: original })
    assert.equal(begun.status, 302)
    const whole = await newVisitor().visit(VERIFY, {
      headers: { 'x-original-url': `${ORIGIN}/app`, 'x-forwarded-host': [] },
    })
    assert.equal(whole.status, 401)
  })

  await t.test('Envoy asks with the path and the method of the request itself', async () => {
    const visitor = newVisitor()
    const headers = { host: HOST, 'x-forwarded-host': [] }
    const first = await visitor.visit(`${VERIFY}/deep/path?y=2`, { headers })
    const back = await visitor.visit(await visitor.logIn(first), { headers })
    assert.equal(back.headers.location, '/deep/path?y=2')
    const passed = await visitor.visit(`${VERIFY}/deep/path?y=2`, { headers })
    assert.equal(passed.status, 200)
    const posted = await visitor.visit(`${VERIFY}/deep`, {
      method: 'POST',
      headers: {
        ...headers,
        ...SCRIPT,
        'sec-fetch-site': 'cross-site',
        origin: 'https://evil.example',
      },
    })
    refused(posted, 403, 'CROSS_SITE')
  })

  await t.test('what a client could add to the question of a proxy is refused', async () => {
    const visitor = await signedIn()
    const original = 'https://other.example/app'
    const rows: readonly Readonly<Record<string, string>>[] = [
      { 'x-original-url': original },
      { 'x-forwarded-method': 'GET', 'x-original-method': 'POST' },
      { 'x-latchkey-roles': 'admin' },
      { x_latchkey_identity_id: 'admin' },
      { 'x-latchkey_identity.id': 'admin' },
    ]
    for (const added of rows) {
      refused(await visitor.visit(VERIFY, { headers: { ...SCRIPT, ...added } }), 400, 'BAD_REQUEST')
    }
    const same = { 'x-original-url': `${ORIGIN}/app`, 'x-original-method': 'GET' }
    assert.equal((await visitor.visit(VERIFY, { headers: same })).status, 200)
  })

  await t.test('a question that is the request itself names no other host or method', async () => {
    const visitor = await signedIn()
    const ask = (added: Readonly<Record<string, string | readonly string[]>>) =>
      visitor.visit(`${VERIFY}/deep`, { headers: { ...SCRIPT, host: HOST, ...added } })
    // The cookie is that of HOST. Attack: it is used at another application, and a field says that it is at HOST.
    const elsewhere = { host: 'other.example' }
    refused(await ask(elsewhere), 400, 'BAD_REQUEST')
    const url = { ...elsewhere, 'x-forwarded-host': [], 'x-original-url': `${ORIGIN}/deep` }
    refused(await ask(url), 400, 'BAD_REQUEST')
    refused(await ask({ 'x-forwarded-method': 'HEAD' }), 400, 'BAD_REQUEST')
    refused(await ask({ 'x-original-method': 'POST' }), 400, 'BAD_REQUEST')
    const same = { 'x-forwarded-method': 'GET', 'x-original-url': `${ORIGIN}/deep` }
    assert.equal((await ask(same)).status, 200)
    // Caddy describes the request in fields, and leaves its query in the question.
    const caddy = { ...SCRIPT, origin: ORIGIN, 'x-forwarded-method': 'POST' }
    assert.equal((await visitor.visit(`${VERIFY}?x=1`, { headers: caddy })).status, 200)
  })

  await t.test('scripts get 401, and programs with a token but no cookie too', async () => {
    refused(await newVisitor().visit(VERIFY, { headers: SCRIPT }), 401, 'UNAUTHORIZED')
    // D-415: nothing proves that the caller is the holder of the token.
    const bearer = await newVisitor().visit(VERIFY, {
      headers: { ...SCRIPT, authorization: `Bearer ${edge.admin.token}` },
    })
    refused(bearer, 401, 'UNAUTHORIZED')
  })

  await t.test('a change or a WebSocket from another site is refused', async () => {
    const visitor = await signedIn()
    const other = { ...SCRIPT, 'sec-fetch-site': 'same-site', origin: 'https://sibling.example' }
    for (const headers of [
      { ...other, 'x-forwarded-method': 'POST' },
      { ...other, 'x-original-method': 'DELETE' },
      { ...other, 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' },
      { ...other, 'sec-fetch-mode': 'websocket' },
    ]) {
      refused(await visitor.visit(VERIFY, { headers }), 403, 'CROSS_SITE')
    }
    const own = { ...SCRIPT, origin: ORIGIN, 'x-forwarded-method': 'POST' }
    assert.equal((await visitor.visit(VERIFY, { headers: own })).status, 200)
  })

  await t.test(
    'a question that is ambiguous, about plain HTTP or about no host is refused',
    async () => {
      for (const headers of [
        { 'x-forwarded-proto': 'http' },
        { 'x-forwarded-host': 'a.example, b.example' },
        { 'x-forwarded-host': [HOST, 'b.example'] },
        { 'x-forwarded-uri': ['/a', '/b'] },
        { 'x-forwarded-method': 'get it' },
      ]) {
        refused(await newVisitor().visit(VERIFY, { headers }), 400, 'BAD_REQUEST')
      }
      const reply = await newVisitor().visit('/elsewhere', { headers: SCRIPT })
      refused(reply, 404, 'NOT_FOUND')
    },
  )

  await t.test('the address to return to stays at the host of the proxy', async () => {
    for (const uri of ['//evil.example', '/\\evil.example', 'https://evil.example/']) {
      const visitor = newVisitor()
      const first = await visitor.visit(VERIFY, { headers: { 'x-forwarded-uri': uri } })
      const back = await visitor.visit(await visitor.logIn(first))
      assert.equal(new URL(back.headers.location ?? '', ORIGIN).origin, ORIGIN)
    }
  })

  await t.test('a cookie of one host is none at another, and ends with its session', async () => {
    const visitor = await signedIn()
    const headers = { ...SCRIPT, 'x-forwarded-host': 'other.example' }
    refused(await visitor.visit(VERIFY, { headers }), 401, 'UNAUTHORIZED')
    const again = await signedIn()
    const passed = await again.visit(VERIFY)
    const sessionId = String(passed.headers['x-latchkey-session-id'])
    await edge.admin.act('DELETE', `/api-sessions/${sessionId}`)
    for (;;) {
      const reply = await again.visit(VERIFY, { headers: SCRIPT })
      if (reply.status === 401) break
      assert.equal(reply.status, 200)
    }
  })

  await t.test(
    'at the gateway itself the host is that of the request, and nothing is redirected',
    async () => {
      const visitor = gatewayVisitor(service, edge)
      await visitor.signIn()
      const passed = await visitor.visit(VERIFY)
      assert.equal(passed.status, 200)
      assert.match(String(passed.headers['x-latchkey-jwt']), /./)
      const forged = await visitor.visit(VERIFY, { headers: FORWARDED })
      assert.equal(forged.status, 200, 'the fields of a proxy do not count here')
      const none = await gatewayVisitor(service, edge).visit(VERIFY, { headers: NAVIGATION })
      assert.equal(none.status, 401)
      const unsafe = { ...SCRIPT, 'x-forwarded-method': 'POST', origin: 'https://evil.example' }
      refused(await visitor.visit(VERIFY, { headers: unsafe }), 403, 'CROSS_SITE')
      const claimed = { ...SCRIPT, x_latchkey_roles: 'admin' }
      refused(await visitor.visit(VERIFY, { headers: claimed }), 400, 'BAD_REQUEST')
      assert.equal(visitor.cookies.has(SESSION_COOKIE), true)
    },
  )
})

test('D-332: a gateway without upstreams answers proxies, signs users in, and has nothing else', async (t) => {
  const service = await startService(t)
  const listen = { host: '127.0.0.1', port: 0 }
  const verify = { listen, jwt: false, require: {} }
  const edge = await startRealEdge(t, service, { verify, upstreams: () => [] })
  const url = `http://127.0.0.1:${edge.verifyPort}`
  const client = plainClient()
  const visitor = gatewayVisitor(service, { url, gatewayCa: '' }, { client, headers: FORWARDED })
  const first = await visitor.visit(VERIFY, { headers: { 'x-forwarded-uri': '/app' } })
  assert.equal(first.status, 302)
  assert.equal((await visitor.visit(await visitor.logIn(first))).headers.location, '/app')
  assert.equal((await visitor.visit(VERIFY)).status, 200)

  const reply = await httpClient(edge.gatewayCa).call(`${edge.url}/app`)
  assert.equal(reply.status, 404)
  assert.equal(reply.json().error.code, 'NO_UPSTREAM')
})

test('the rules of forward authentication are those of upstreams, and a person gets a page', async (t) => {
  const service = await startService(t)
  const listen = { host: '127.0.0.1', port: 0 }
  const require = { roles: ['db-admins'] }
  const edge = await startRealEdge(t, service, { verify: { listen, jwt: false, require } })
  const url = `http://127.0.0.1:${edge.verifyPort}`
  const given = { client: plainClient(), headers: FORWARDED }
  const visitor = gatewayVisitor(service, { url, gatewayCa: '' }, given)
  const back = await visitor.visit(await visitor.logIn(await visitor.visit(VERIFY)))
  assert.equal(back.status, 303)
  const page = await visitor.visit(VERIFY)
  assert.equal(page.status, 403)
  assert.match(page.text, /You have no access/)
  const script = await visitor.visit(VERIFY, { headers: SCRIPT })
  assert.equal(script.json().error.code, 'ROLE_REQUIRED')
  assert.equal(page.headers['x-latchkey-identity-id'], undefined)
})

test('a listener for proxies on other machines has TLS, and follows the certificate of the gateway', async (t) => {
  const service = await startService(t)
  const made = await enrollRouter(service)
  const listen = { host: '0.0.0.0', port: 0 }
  const edge = await startRealEdge(t, service, {
    made,
    verify: { listen, jwt: false, require: {} },
  })
  const url = `https://localhost:${edge.verifyPort}`
  const ask = async () => {
    const { socket, send, reply } = await travel(t, { url, gatewayCa: service.ca }, { headers: {} })
    const fields = Object.entries(FORWARDED).map((field) => field.join(': '))
    send(`${[`GET ${VERIFY} HTTP/1.1`, `host: ${HOST}`, ...fields].join('\r\n')}\r\n\r\n`)
    const status = (await reply())?.status
    const shown = socket.getPeerX509Certificate()?.fingerprint256
    socket.destroy()
    return { status, shown }
  }
  // D-329.
  const weak = { maxVersion: 'TLSv1.2', ciphers: 'ECDHE-ECDSA-AES128-SHA' } as const
  const refused = connectRaw(service, { at: url, ...weak })
  await assert.rejects(refused, { code: /ALERT_HANDSHAKE_FAILURE$/ })
  const fingerprint = (pem: string) => new X509Certificate(pem).fingerprint256
  assert.deepEqual(await ask(), { status: 401, shown: fingerprint(made.identity.cert) })
  const { identity: next } = await enrollRouter(service, 'gw2')
  edge.gateway.replaceCertificate({ certificatePem: next.cert, keyPem: new Secret(next.key) })
  assert.deepEqual(await ask(), { status: 401, shown: fingerprint(next.cert) })
  const plain = await plainClient().call(`http://127.0.0.1:${edge.verifyPort}${VERIFY}`)
  assert.equal(plain.status, 400)
  assert.equal(plain.text, 'This port speaks HTTPS.\n')
  assert.match(edge.log.find(({ why }) => why !== undefined)?.why, /plain HTTP.*verify\.listen/)
})
