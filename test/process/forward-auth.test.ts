/**
 * Forward authentication with real proxies, in the configuration that docs/forward-auth.md has for each. Skipped where
 * the proxy is missing.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import {
  gatewayVisitor,
  SCRIPT,
  SESSION_COOKIE,
  type Visitor,
} from '../support/edge/gateway-visitor.ts'
import {
  findProgram,
  type Given,
  haproxy,
  PROXIES,
  type ReverseProxy,
} from '../support/edge/proxies/recipes.ts'
import { connectRaw } from '../support/edge/raw-connection.ts'
import { startRealEdge } from '../support/edge/real-edge.ts'
import { eventually } from '../support/eventually.ts'
import { httpClient } from '../support/http-client.ts'
import { freePort } from '../support/ports.ts'
import { startService, temporaryFolder } from '../support/service.ts'

async function startProxy(
  t: TestContext,
  program: string,
  { prepare }: ReverseProxy,
  given: Pick<Given, 'verifyPort' | 'applicationPort'> & {
    readonly pem: string
    readonly gatewayCa: string
  },
): Promise<string> {
  const folder = await temporaryFolder(t)
  const port = await freePort()
  await writeFile(join(folder, 'app.pem'), given.pem, { mode: 0o600 })
  const args = await prepare({ ...given, folder, port })
  // Caddy writes files there.
  const homes = { HOME: folder, XDG_CONFIG_HOME: folder, XDG_DATA_HOME: folder }
  const env = { ...process.env, ...homes }
  const proxy = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  for (const stream of [proxy.stdout, proxy.stderr]) {
    stream.on('data', (chunk) => {
      said += chunk
    })
  }
  t.after(() => proxy.kill('SIGKILL'))
  const url = `https://localhost:${port}`
  const client = httpClient(given.gatewayCa, 'other')
  await eventually(async () => {
    assert.equal(proxy.exitCode, null, said)
    // Traefik listens before it has routes.
    const keys = await client.call(`${url}/.latchkey/jwks.json`).catch(() => undefined)
    return keys?.status === 200 ? true : undefined
  }, program)
  return url
}

type Edge = Awaited<ReturnType<typeof startRealEdge>>

/** A gateway, a proxy that asks it, and a service behind. */
async function startBehind(t: TestContext, proxy: ReverseProxy) {
  const service = await startService(t)
  const listen = { host: '127.0.0.1', port: 0 }
  const edge = await startRealEdge(t, service, { verify: { listen, jwt: true, require: {} } })
  const { identity, gatewayCa, verifyPort, upstream } = edge
  const pem = `${identity.cert}\n${identity.key}`
  const ports = { verifyPort, applicationPort: upstream.port }
  const program = findProgram(proxy.program) ?? ''
  const url = await startProxy(t, program, proxy, { pem, gatewayCa, ...ports })
  const newVisitor = () => gatewayVisitor(service, { url, gatewayCa })
  return { edge, url, newVisitor, upstream }
}

/** A request as it is written, which no HTTP client would send. */
async function sendRaw(t: TestContext, { gatewayCa }: Edge, url: string, lines: readonly string[]) {
  const connection = await connectRaw({ baseUrl: url, ca: gatewayCa })
  t.after(() => connection.socket.destroy())
  connection.send(`${lines.join('\r\n')}\r\n\r\n`)
  return connection.reply()
}

for (const [name, proxy] of Object.entries(PROXIES)) {
  const skip = findProgram(proxy.program) === undefined ? `there is no ${name}` : false

  test(`${name} asks the gateway, passes the sign-in on, and tells the server who it is`, {
    skip,
  }, async (t) => {
    const { edge, url, newVisitor, upstream } = await startBehind(t, proxy)
    const visitor: Visitor = newVisitor()

    const page = await visitor.signIn('/app?x=1&y=%2F')
    assert.equal(page.status, 200, page.text)
    const seen = upstream.requests.at(-1)
    assert.equal(seen?.target, '/app?x=1&y=%2F')
    const identityId = seen?.values('x-latchkey-identity-id')
    assert.match(String(identityId), /./)
    assert.match(String(seen?.values('x-latchkey-jwt')), /^ey/)

    // The server does not get the cookie, where the proxy can remove it.
    const value = visitor.cookies.get(SESSION_COOKIE) ?? ''
    const own = `${SESSION_COOKIE}=${value}`
    const passed = await visitor.visit('/', {
      headers: { cookie: `a=1; c=${SESSION_COOKIE}=1; ${own}; b=2` },
    })
    assert.equal(passed.status, 200)
    if (proxy.removesCookies) {
      const kept = `a=1; c=${SESSION_COOKIE}=1; b=2`
      assert.deepEqual(upstream.requests.at(-1)?.values('cookie'), [kept])
    }

    // A client cannot write the identity.
    const before = upstream.requests.length
    const forged = await visitor.visit('/', {
      headers: { 'x-latchkey-identity-id': 'admin', x_latchkey_identity_id: 'admin' },
    })
    if (proxy.forged === 'refused') {
      assert.equal(forged.status, 400)
      assert.equal(upstream.requests.length, before)
    } else {
      assert.equal(forged.status, 200)
      const last = upstream.requests.at(-1)
      assert.deepEqual(last?.values('x-latchkey-identity-id'), identityId)
      assert.deepEqual(last?.values('x_latchkey_identity_id'), [])
    }
    assert.equal(upstream.received().includes(value), !proxy.removesCookies)

    // Nor hide it, by telling servers to drop the field (RFC 9110 §7.6.1).
    const fields = [`host: ${new URL(url).host}`, `cookie: ${own}`, `origin: ${url}`]
    await sendRaw(t, edge, url, [
      'GET /hidden HTTP/1.1',
      ...fields,
      'connection: X-Latchkey-Identity-Id, keep-alive',
    ])
    const hidden = upstream.requests.find(({ target }) => target === '/hidden')
    assert.deepEqual(hidden?.values('x-latchkey-identity-id'), identityId)
    assert.doesNotMatch(String(hidden?.values('connection')), /latchkey/i)

    // Over h2c the server would accept requests that the gateway was not asked about. A WebSocket passes.
    const upgrade = (protocol: string) =>
      sendRaw(t, edge, url, [
        `GET /${protocol} HTTP/1.1`,
        ...fields,
        'connection: upgrade',
        `upgrade: ${protocol}`,
        'sec-websocket-version: 13',
        'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==',
      ])
    await upgrade('h2c')
    const switched = upstream.requests.find(({ target }) => target === '/h2c')
    assert.doesNotMatch(String(switched?.values('upgrade')), /h2c/)
    assert.equal((await upgrade('websocket'))?.status, 101)

    // The cookie of one host does not count at another one.
    const elsewhere = await sendRaw(t, edge, url, [
      'GET https://other.example/ HTTP/1.1',
      ...fields,
    ])
    assert.equal(elsewhere?.header('x-latchkey-identity-id'), undefined)
    assert.equal(upstream.received().includes('other.example'), false)

    const script = await newVisitor().visit('/', { headers: SCRIPT })
    assert.equal(script.status, 401)
    assert.equal(script.json().error.code, 'UNAUTHORIZED')
    const crossSite = await visitor.visit('/', {
      method: 'POST',
      headers: { ...SCRIPT, 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' },
    })
    assert.equal(crossSite.status, 403)
    if (proxy.passesRefusalsOn) assert.equal(crossSite.json().error.code, 'CROSS_SITE')
    const headers = { ...SCRIPT, origin: url }
    const posted = await visitor.visit('/', { method: 'POST', headers, form: [['a', '1']] })
    assert.equal(posted.status, 200)
    assert.equal(upstream.requests.at(-1)?.body, 'a=1')

    const out = await visitor.visit('/.latchkey/sign-out', { method: 'POST', headers })
    assert.equal(out.status, 200, out.text)
    assert.equal((await visitor.visit('/')).status, 302)
  })

  test(`${name} lets nothing pass that the gateway has not judged`, { skip }, async (t) => {
    const { edge, url, newVisitor, upstream } = await startBehind(t, proxy)
    const { host } = new URL(url)
    const paths = [
      '/.latchkey/../secret',
      '/.latchkey/%2e%2e/secret',
      '/.latchkey/..%2fsecret',
      '/.latchkey/..;/secret',
      '//.latchkey/../secret',
      '/.latchkey\\..\\secret',
      '/%2elatchkey/secret',
      '/.LATCHKEY/secret',
      '/secret?/.latchkey/',
    ]
    for (const path of paths) {
      await sendRaw(t, edge, url, [`GET ${path} HTTP/1.1`, `host: ${host}`])
    }
    // As many fields as the proxy itself accepts, and more.
    for (const count of [85, 90, 95, 97, 98, 99, 150]) {
      const fields = Array.from({ length: count }, (_, index) => `x-${index}: 1`)
      await sendRaw(t, edge, url, ['GET / HTTP/1.1', `host: ${host}`, ...fields])
    }
    assert.equal((await newVisitor().visit('/', { headers: SCRIPT })).status, 401)

    await edge.stopGateway()
    assert.ok((await newVisitor().visit('/')).status >= 400)
    assert.deepEqual(upstream.requests, [])
  })
}

test('HAProxy denies requests if the script fails', {
  skip: findProgram('haproxy') === undefined ? 'there is no HAProxy' : false,
}, async (t) => {
  const prepare = async (given: Given) => {
    const args = await haproxy.prepare(given)
    const file = join(given.folder, 'latchkey.lua')
    const script = await readFile(file, 'utf8')
    const failing = script.replace('function(txn)\n', 'function(txn)\n  error("failed")\n')
    assert.notEqual(failing, script)
    await writeFile(file, failing)
    return args
  }
  const { newVisitor, upstream } = await startBehind(t, { ...haproxy, prepare })
  assert.equal((await newVisitor().visit('/')).status, 503)
  assert.deepEqual(upstream.requests, [])
})
