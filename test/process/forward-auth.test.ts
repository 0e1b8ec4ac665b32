/**
 * Forward authentication with real proxies, in the configuration that docs/forward-auth.md has for each. Skipped where
 * the proxy is missing.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
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

const PAGE = new URL('../../docs/forward-auth.md', import.meta.url)
const SCRIPT_FILE = new URL('../../deploy/haproxy/latchkey.lua', import.meta.url)

interface Given {
  readonly folder: string
  readonly port: number
  readonly verifyPort: number | undefined
  readonly applicationPort: number
}

interface Proxy {
  readonly program: string
  /** Otherwise it has a page of its own for 403. */
  readonly passesRefusalsOn: boolean
  /** Writes its configuration, which is that of the page, and returns its arguments. */
  prepare(given: Given): Promise<readonly string[]>
}

const PROXIES: Readonly<Record<string, Proxy>> = {
  HAProxy: {
    program: 'haproxy',
    passesRefusalsOn: true,
    async prepare({ folder, port, verifyPort, applicationPort }) {
      const lua = (await readFile(SCRIPT_FILE, 'utf8')).replace('4180', String(verifyPort))
      await writeFile(join(folder, 'latchkey.lua'), lua)
      const [recipe = ''] = await recipesOf('HAProxy')
      const config = replaceAll(recipe, {
        '/etc/haproxy/latchkey.lua': `${folder}/latchkey.lua`,
        ':443 ssl crt /etc/haproxy/app.pem': `127.0.0.1:${port} ssl crt ${folder}/app.pem`,
        '127.0.0.1:4180': `127.0.0.1:${verifyPort}`,
        '127.0.0.1:3000': `127.0.0.1:${applicationPort}`,
      })
      const times = ['connect', 'client', 'server'].map((what) => `  timeout ${what} 30s`)
      const file = join(folder, 'haproxy.cfg')
      await writeFile(file, ['defaults', '  mode http', ...times, config].join('\n'))
      return ['-db', '-f', file]
    },
  },
  nginx: {
    program: 'nginx',
    passesRefusalsOn: false,
    async prepare({ folder, port, verifyPort, applicationPort }) {
      const [recipe = '', fields = ''] = await recipesOf('nginx')
      await writeFile(join(folder, 'latchkey_fields'), fields)
      const config = replaceAll(recipe, {
        'listen 443 ssl;': `listen 127.0.0.1:${port} ssl;
  ssl_certificate ${folder}/app.pem;
  ssl_certificate_key ${folder}/app.pem;`,
        'app.example.com': 'localhost',
        'include latchkey_fields;': `include ${folder}/latchkey_fields;`,
        '127.0.0.1:4180': `127.0.0.1:${verifyPort}`,
        '127.0.0.1:3000': `127.0.0.1:${applicationPort}`,
      })
      const kinds = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
      const places = kinds.map((kind) => `${kind}_temp_path ${folder}/${kind};`)
      const file = join(folder, 'nginx.conf')
      await writeFile(
        file,
        `daemon off; master_process off; pid ${folder}/pid; error_log stderr;
events {}
http { access_log off; ${places.join(' ')}
${config}
}`,
      )
      return ['-p', folder, '-c', file]
    },
  },
}

/** The blocks of code below a heading of the page. */
async function recipesOf(heading: string): Promise<readonly string[]> {
  const [, section = ''] = (await readFile(PAGE, 'utf8')).split(`\n## ${heading}\n`)
  const [own = ''] = section.split('\n## ')
  return [...own.matchAll(/^```\w+\n([\s\S]*?)^```$/gm)].map(([, code = '']) => code)
}

/** Every text must be there: otherwise the page has changed, and the test with it. */
function replaceAll(text: string, changes: Readonly<Record<string, string>>): string {
  return Object.entries(changes).reduce((changed, [from, to]) => {
    assert.ok(changed.includes(from), `${from} is not on the page`)
    return changed.replaceAll(from, to)
  }, text)
}

function findProgram(name: string): string | undefined {
  return [`/usr/sbin/${name}`, `/usr/local/sbin/${name}`].find((path) => existsSync(path))
}

async function startProxy(
  t: TestContext,
  program: string,
  { prepare }: Proxy,
  given: Pick<Given, 'verifyPort' | 'applicationPort'> & { readonly pem: string },
): Promise<string> {
  const folder = await temporaryFolder(t)
  const port = await freePort()
  await writeFile(join(folder, 'app.pem'), given.pem, { mode: 0o600 })
  const args = await prepare({ ...given, folder, port })
  const proxy = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  for (const stream of [proxy.stdout, proxy.stderr]) {
    stream.on('data', (chunk) => {
      said += chunk
    })
  }
  t.after(() => proxy.kill('SIGKILL'))
  await eventually(async () => {
    assert.equal(proxy.exitCode, null, said)
    return (await isRefused(port)) ? undefined : true
  }, program)
  return `https://localhost:${port}`
}

for (const [name, proxy] of Object.entries(PROXIES)) {
  const program = findProgram(proxy.program)
  test(`${name} asks the gateway, passes the sign-in on, and tells the server who it is`, {
    skip: program === undefined ? `there is no ${name}` : false,
  }, async (t) => {
    const service = await startService(t)
    const listen = { host: '127.0.0.1', port: 0 }
    const edge = await startRealEdge(t, service, { verify: { listen, jwt: true, require: {} } })
    const { identity, gatewayCa, verifyPort, upstream } = edge
    const pem = `${identity.cert}\n${identity.key}`
    const ports = { verifyPort, applicationPort: upstream.port }
    const url = await startProxy(t, program ?? '', proxy, { pem, ...ports })
    const visitor: Visitor = gatewayVisitor(service, { url, gatewayCa })

    const page = await visitor.signIn('/app?x=1&y=%2F')
    assert.equal(page.status, 200, page.text)
    const seen = upstream.requests.at(-1)
    assert.equal(seen?.target, '/app?x=1&y=%2F')
    assert.match(String(seen?.values('x-latchkey-identity-id')), /./)
    assert.match(String(seen?.values('x-latchkey-jwt')), /^ey/)

    // A client cannot write the identity, and the server does not get the cookie.
    const value = visitor.cookies.get(SESSION_COOKIE) ?? ''
    const forged = await visitor.visit('/', {
      headers: {
        cookie: `a=1; c=${SESSION_COOKIE}=1; ${SESSION_COOKIE}=${value}; b=2`,
        'x-latchkey-identity-id': 'admin',
        x_latchkey_identity_id: 'admin',
      },
    })
    assert.equal(forged.status, 200)
    const last = upstream.requests.at(-1)
    assert.deepEqual(last?.values('x-latchkey-identity-id'), seen?.values('x-latchkey-identity-id'))
    assert.deepEqual(last?.values('cookie'), [`a=1; c=${SESSION_COOKIE}=1; b=2`])
    assert.equal(upstream.received().includes(value), false)

    const stranger = gatewayVisitor(service, { url, gatewayCa })
    const script = await stranger.visit('/', { headers: SCRIPT })
    assert.equal(script.status, 401)
    assert.equal(script.json().error.code, 'UNAUTHORIZED')
    const crossSite = await visitor.visit('/', {
      method: 'POST',
      headers: { ...SCRIPT, 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' },
    })
    assert.equal(crossSite.status, 403)
    if (proxy.passesRefusalsOn) assert.equal(crossSite.json().error.code, 'CROSS_SITE')
    const own = { ...SCRIPT, origin: url }
    const posted = await visitor.visit('/', { method: 'POST', headers: own, form: [['a', '1']] })
    assert.equal(posted.status, 200)
    assert.equal(upstream.requests.at(-1)?.body, 'a=1')

    const out = await visitor.visit('/.latchkey/sign-out', { method: 'POST', headers: own })
    assert.equal(out.status, 200, out.text)
    assert.equal((await visitor.visit('/')).status, 302)
  })
}
