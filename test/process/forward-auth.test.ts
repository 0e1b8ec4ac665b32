/**
 * Forward authentication with a real proxy: HAProxy with deploy/haproxy/latchkey.lua, as docs/forward-auth.md describes
 * it. Skipped where HAProxy is missing.
 */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import {
  gatewayVisitor,
  SCRIPT,
  SESSION_COOKIE,
  type Visitor,
} from '../support/edge/gateway-visitor.ts'
import { startRealEdge } from '../support/edge/real-edge.ts'
import { eventually } from '../support/eventually.ts'
import { freePort, isRefused } from '../support/ports.ts'
import { startService, temporaryFolder } from '../support/service.ts'

const HAPROXY = ['/usr/sbin/haproxy', '/usr/local/sbin/haproxy'].find((path) => existsSync(path))
const SCRIPT_FILE = new URL('../../deploy/haproxy/latchkey.lua', import.meta.url)

async function startProxy(
  t: TestContext,
  given: {
    readonly pem: string
    readonly verifyPort: number | undefined
    readonly applicationPort: number
  },
): Promise<string> {
  const folder = await temporaryFolder(t)
  const port = await freePort()
  const lua = (await readFile(SCRIPT_FILE, 'utf8')).replace('4180', String(given.verifyPort))
  await writeFile(join(folder, 'latchkey.lua'), lua)
  await writeFile(join(folder, 'app.pem'), given.pem, { mode: 0o600 })
  // As in docs/forward-auth.md.
  const config = `
global
  lua-load ${folder}/latchkey.lua
defaults
  mode http
  timeout connect 5s
  timeout client 30s
  timeout server 30s
  timeout tunnel 1h
frontend web
  bind 127.0.0.1:${port} ssl crt ${folder}/app.pem
  acl is_latchkey path_beg /.latchkey/
  http-request set-header X-Forwarded-Host %[req.hdr(host)]
  http-request set-header X-Forwarded-Proto https
  http-request lua.latchkey_verify unless is_latchkey
  use_backend latchkey if is_latchkey
  default_backend application
backend latchkey
  server gateway 127.0.0.1:${given.verifyPort}
backend application
  server app 127.0.0.1:${given.applicationPort}
`
  const file = join(folder, 'haproxy.cfg')
  await writeFile(file, config)
  const proxy: ChildProcess = spawn(HAPROXY ?? '', ['-db', '-f', file], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  proxy.stdout?.on('data', (chunk) => {
    said += chunk
  })
  proxy.stderr?.on('data', (chunk) => {
    said += chunk
  })
  t.after(() => proxy.kill('SIGKILL'))
  await eventually(async () => {
    assert.equal(proxy.exitCode, null, said)
    return (await isRefused(port)) ? undefined : true
  }, 'HAProxy')
  return `https://localhost:${port}`
}

test('HAProxy asks the gateway, passes the sign-in on, and tells the server who it is', {
  skip: HAPROXY === undefined ? 'there is no HAProxy' : false,
}, async (t) => {
  const service = await startService(t)
  const listen = { host: '127.0.0.1', port: 0 }
  const edge = await startRealEdge(t, service, { verify: { listen, jwt: true, require: {} } })
  const { identity, gatewayCa, verifyPort, upstream } = edge
  const pem = `${identity.cert}\n${identity.key}`
  const url = await startProxy(t, { pem, verifyPort, applicationPort: upstream.port })
  const visitor: Visitor = gatewayVisitor(service, { url, gatewayCa })

  const page = await visitor.signIn('/app?x=1&y=%2F')
  assert.equal(page.status, 200, page.text)
  const seen = upstream.requests.at(-1)
  assert.equal(seen?.target, '/app?x=1&y=%2F')
  assert.match(String(seen?.values('x-latchkey-identity-id')), /./)
  assert.match(String(seen?.values('x-latchkey-jwt')), /^ey/)

  // A client cannot write the identity, and the server does not get the cookie.
  const forged = await visitor.visit('/', {
    headers: {
      cookie: `a=1; ${SESSION_COOKIE}=${visitor.cookies.get(SESSION_COOKIE)}; b=2`,
      'x-latchkey-identity-id': 'admin',
      x_latchkey_identity_id: 'admin',
    },
  })
  assert.equal(forged.status, 200)
  const last = upstream.requests.at(-1)
  assert.deepEqual(last?.values('x-latchkey-identity-id'), seen?.values('x-latchkey-identity-id'))
  assert.deepEqual(last?.values('cookie'), ['a=1; b=2'])
  assert.equal(upstream.received().includes(SESSION_COOKIE), false)

  const stranger = gatewayVisitor(service, { url, gatewayCa })
  const script = await stranger.visit('/', { headers: SCRIPT })
  assert.equal(script.status, 401)
  assert.equal(script.json().error.code, 'UNAUTHORIZED')
  const crossSite = await visitor.visit('/', {
    method: 'POST',
    headers: { ...SCRIPT, 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' },
  })
  assert.equal(crossSite.status, 403)
  assert.equal(crossSite.json().error.code, 'CROSS_SITE')
  const own = { ...SCRIPT, origin: url }
  const posted = await visitor.visit('/', { method: 'POST', headers: own, form: [['a', '1']] })
  assert.equal(posted.status, 200)
  assert.equal(upstream.requests.at(-1)?.body, 'a=1')

  const out = await visitor.visit('/.latchkey/sign-out', { method: 'POST', headers: own })
  assert.equal(out.status, 200, out.text)
  assert.equal((await visitor.visit('/')).status, 302)
})
