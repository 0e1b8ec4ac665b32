/**
 * The content of a request never causes a 5xx: every route is called with odd paths, queries, headers and bodies, by a
 * caller without credentials and, where that is refused, by an administrator. On both databases, since PostgreSQL
 * refuses texts that SQLite accepts; but not twice what is refused before it reaches a database. R023, D-206.
 */
import assert from 'node:assert/strict'
import https from 'node:https'
import { StatementSync } from 'node:sqlite'
import { after, type TestContext, test } from 'node:test'
import { minutes } from '../../../src/base/time/duration.ts'
import type { Route } from '../../../src/http/route.ts'
import { connectRaw, type RawConnection } from '../../support/edge/raw-connection.ts'
import {
  addressOf,
  type Everything,
  isAnonymous,
  startWithEverything,
} from '../../support/everything.ts'
import type { Reply } from '../../support/http-client.ts'
import {
  authorizationParameters,
  beginLogin,
  logIn,
  pkce,
  REDIRECT_URI,
} from '../../support/login/login.ts'
import type { Service } from '../../support/service.ts'
import { migratedDatabase } from '../../support/stores/migrated-database.ts'
import { startPostgres } from '../../support/stores/postgres.ts'

const postgres = await startPostgres()
after(() => postgres.stop())

interface Database {
  readonly config: Readonly<Record<string, unknown>>
  /** Sends a request that this database has to answer, too. */
  readonly send: Send
}

/** `request`: what is sent and where. Returns undefined if it need not be sent. */
type Send = (request: string, send: () => Promise<Reply>) => Promise<Reply | undefined>

/** The requests that ran a statement on SQLite. */
const reached = new Set<string>()

const DATABASES: Readonly<Record<string, (t: TestContext) => Promise<Database>>> = {
  SQLite: async (t) => {
    let statements = 0
    for (const method of ['all', 'get', 'iterate', 'run'] as const) {
      const original = StatementSync.prototype[method]
      t.mock.method(
        StatementSync.prototype,
        method,
        function (this: StatementSync, ...args: never[]) {
          statements += 1
          return Reflect.apply(original, this, args)
        },
      )
    }
    const send: Send = async (request, send) => {
      const before = statements
      const reply = await send()
      if (statements > before) reached.add(request)
      return reply
    }
    return { config: {}, send }
  },
  PostgreSQL: async () => ({
    config: { db: await migratedDatabase() },
    // Nothing is known if this test runs alone.
    send: async (request, send) =>
      reached.size === 0 || reached.has(request) ? send() : undefined,
  }),
}

/** Path segments, as on the wire. */
const ODD_PARTS: Readonly<Record<string, string>> = {
  'of 101 characters': 'x'.repeat(101),
  'of 2,000 characters': 'x'.repeat(2_000),
  'of 101 escapes': '%C3%A9'.repeat(101),
  'with NUL': 'a%00b',
  'with a broken escape': 'a%zz',
  'with half an escape': '%4',
  'with bytes that are not UTF-8': '%FF%FE',
  'with a surrogate': '%ED%A0%80',
  'with an escaped slash': 'a%2Fb',
  'that leads up': '%2E%2E',
  'named __proto__': '__proto__',
  'named constructor': 'constructor',
  'with a quote': '%27%20or%201%3D1',
  'with a number that is too large': '9'.repeat(40),
  empty: '',
}

/** Values of fields. Not every value is possible in a form; those are left out there. */
const ODD_VALUES: Readonly<Record<string, unknown>> = {
  NUL: 'a\0b',
  'half a surrogate pair': '\ud800',
  'the other half, inside': 'a\udc00b',
  'a character beyond Unicode 1': '\u{10ffff}',
  'what NFKC makes longer': '\ufdfa'.repeat(500),
  'much text': 'x'.repeat(6_000),
  'a control character': '\u001b[2J',
  'a line break': 'a\r\nset-cookie: x=y',
  'an override of direction': '\u202e',
  'a number': 7,
  'a number that is too large': 1e308,
  'a negative number': -1,
  true: true,
  null: null,
  'a list': ['a', 'b'],
  'a list in a list': [['a\0']],
  'an object': { a: 1 },
  'an object named like a prototype': JSON.parse('{"__proto__":{"a":1},"constructor":1}'),
  'a name of Object.prototype': '__proto__',
}

/** Every name that some route reads. */
const NAMES: readonly string[] = `
  authRequestId authRequestID id username password code token method configTypes sdkInfo envInfo clientCsr
  grant_type client_id client_secret code_verifier redirect_uri refresh_token scope state nonce prompt max_age
  response_type response_mode code_challenge code_challenge_method login_hint id_token_hint
  post_logout_redirect_uri token_type_hint signer error filter limit offset sort formToken form_token current
  new sessionId kind __proto__ constructor
`
  .trim()
  .split(/\s+/)

/** Header fields that a listener reads. */
const ODD_FIELDS: readonly (readonly string[])[] = [
  ['Accept: text/html;q=x, */*;q=2'],
  [`Accept: ${'text/html,'.repeat(2_000)}`],
  ['Authorization: Bearer '],
  ['Authorization: Bearer \xff\xfe'],
  [`Authorization: Bearer ${'x'.repeat(20_000)}`],
  ['Authorization: Bearer a.b.c', 'Authorization: Bearer d.e.f', 'Authorization: Basic !!!'],
  [`Authorization: Bearer ${jwt({ alg: 'RS256', kid: 'a\0b' }, { iss: 'a\0b', sub: '\ud800' })}`],
  [`Authorization: Bearer ${jwt({ alg: 'none' }, { iss: 7, exp: 1e308, z_asid: 'a\0b' })}`],
  [`Authorization: Basic ${Buffer.from('%zz:%').toString('base64')}`],
  [`Authorization: Basic ${Buffer.from('a\0b:').toString('base64')}`],
  ['zt-session: a\xffb'],
  [`zt-session: ${'x'.repeat(20_000)}`],
  [`Cookie: ${'x'.repeat(25_000)}`],
  [`Cookie: ${Array.from({ length: 1_000 }, (_, i) => `c${i}=${i}`).join('; ')}`],
  ['Cookie: =; ;; __Host-latchkey=%zz; a=\xff'],
  ['Origin: null'],
  ['Origin: \xff', 'Access-Control-Request-Method: \xff', 'Access-Control-Request-Headers: \xff'],
  [`User-Agent: \xff\x80 ${'x'.repeat(400)}`],
  ['Content-Encoding: gzip'],
  ['Content-Type: application/json; charset=utf-16'],
  ['Content-Type: /'],
  [`Content-Type: ${'a'.repeat(10_000)}`],
  ['X-Forwarded-For: \xff, 1.2.3.4, ::ffff:300.1.1.1'],
  ['X-Forwarded-Host: \xff'],
  [`traceparent: 00-${'f'.repeat(500)}`],
  ['Expect: 200-maybe'],
  ['Range: bytes=0-1,2-'],
  ['If-None-Match: \xff'],
  ['Upgrade: websocket', 'Connection: Upgrade'],
]

function jwt(header: object, payload: object): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  return `${part(header)}.${part(payload)}.AAAA`
}

for (const [name, prepare] of Object.entries(DATABASES)) {
  test(`on ${name} the content of a request never causes a server error`, async (t) => {
    const { config, send } = await prepare(t)
    const everything = await startWithEverything(t, { config })
    await t.test('whatever the path', () => oddPaths(everything, send))
    // Of header fields and targets only texts reach the database, and SQLite accepts every text that PostgreSQL does.
    if (name === 'PostgreSQL') {
      await t.test('whatever the header fields', (t) => oddFields(t, everything))
      await t.test('whatever the target', (t) => oddTargets(t, everything))
    }
    await t.test('whatever the fields of a query, a form or JSON', (t) =>
      oddValues(t, everything, send),
    )
    await t.test('and the log has no error', () => {
      // The clock of this test is ahead of the database on purpose, and the service says so (D-230).
      const isOfTest = (msg: string) => msg.startsWith('the clock is ahead of the database')
      const errors = everything.service.log.filter(
        ({ level, msg }) => level >= ERROR_LEVEL && !isOfTest(msg),
      )
      assert.deepEqual(errors, [])
    })
  })
}

/** The levels, as pino numbers them. */
const ERROR_LEVEL = 50

async function oddPaths({ service, routes }: Everything, send: Send): Promise<void> {
  const { access_token } = await logIn(service)
  const admin = { authorization: `Bearer ${access_token}` }
  const called = routes.filter(({ url }) => url.includes(':'))
  assert.ok(called.length > 20)
  for (const [what, part] of Object.entries(ODD_PARTS)) {
    const paths = [
      ...called.map(({ method, url }) => [method, url.replaceAll(/:\w+/g, part), admin] as const),
      ['GET', `/${part}`, {}],
      ['POST', `/oidc/${part}`, {}],
      ['GET', `/oidc/login/${part}`, {}],
      ['PUT', `/edge/management/v1/identities/${part}`, {}],
      ['TRACE', `/edge/management/v1/identities/${part}`, {}],
      ['OPTIONS', `/edge/management/v1/identities/${part}`, {}],
    ] as const
    for (const [method, path, headers] of paths) {
      const reply = await send(`${method} ${path}`, () => service.call(path, { method, headers }))
      if (reply === undefined) continue
      assert.ok(reply.status < 500, `${method} with a part ${what} at ${path}: ${reply.status}`)
      if (/^x+$/.test(part) && 'authorization' in headers) {
        assert.equal(reply.status, 404, `${method} with a part ${what} at ${path}`)
        assert.equal(reply.json().error.code, 'NOT_FOUND')
      }
    }
  }
}

async function oddFields(t: TestContext, { service, routes }: Everything): Promise<void> {
  const host = `Host: ${new URL(service.baseUrl).host}`
  // Of the routes that need credentials, one of each kind: what they share with the others runs first.
  const chosen = routes.filter(({ access, url }, i) =>
    isAnonymous({ access })
      ? !url.startsWith('/edge/management') && !url.startsWith('/account/')
      : routes.findIndex((other) => other.access === access) === i,
  )
  const addresses = [
    ...chosen.map((route) => `${route.method} ${addressOf(route)}`),
    'OPTIONS /oidc/token',
    'OPTIONS /edge/management/v1/identities/nothing',
  ]
  for (const fields of ODD_FIELDS) {
    // One connection for all requests, reopened when a response closed it: a handshake costs more than a request.
    let connection: RawConnection | undefined
    t.after(() => connection?.socket.destroy())
    for (const address of addresses) {
      const body = address.startsWith('GET') ? '' : '{}'
      const type = /^content-type/i.test(fields.join()) ? [] : ['Content-Type: application/json']
      const lines = [host, ...fields, ...type, `Content-Length: ${body.length}`]
      const request = `${address} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body}`
      connection ??= await connectRaw(service)
      connection.send(Buffer.from(request, 'latin1'))
      const reply = await connection.reply()
      const status = reply?.status ?? 0
      assert.ok(status < 500, `${fields[0]?.slice(0, 60)} at ${address}: ${status}`)
      if (reply === undefined || reply.header('connection') === 'close') {
        connection.socket.destroy()
        connection = undefined
      }
    }
    connection?.socket.destroy()
  }
}

async function oddTargets(_t: TestContext, { service }: Everything): Promise<void> {
  const { host } = new URL(service.baseUrl)
  const fields = `Host: ${host}\r\nConnection: close\r\n`
  for (const line of [
    `GET https://${host}/version HTTP/1.1`,
    'GET http://other.example/version HTTP/1.1',
    `GET https://${host} HTTP/1.1`,
    'OPTIONS * HTTP/1.1',
    'GET * HTTP/1.1',
    'GET //version HTTP/1.1',
    'GET /version# HTTP/1.1',
    'GET ?x HTTP/1.1',
    'GET /? HTTP/1.1',
    'GET /;x HTTP/1.1',
    'GET /%2e%2e/version HTTP/1.1',
    'GET /version%00 HTTP/1.1',
    'GET /\xff HTTP/1.1',
    'GET /version\xff?\xff HTTP/1.1',
    'GET /version HTTP/1.0',
    'M-SEARCH /version HTTP/1.1',
    'PRI * HTTP/2.0',
  ]) {
    const status = await statusOf(service, Buffer.from(`${line}\r\n${fields}\r\n`, 'latin1'))
    assert.ok(status < 500, `${line}: ${status}`)
  }
  for (const coding of ['gzip, chunked', 'identity', 'chunked, chunked', 'x', '']) {
    const type = 'Content-Type: application/json'
    const head = `POST /oidc/login/username HTTP/1.1\r\n${fields}${type}\r\nTransfer-Encoding: ${coding}\r\n\r\n`
    const status = await statusOf(service, Buffer.from(`${head}2\r\n{}\r\n0\r\n\r\n`))
    assert.ok(status < 500, `Transfer-Encoding ${coding}: ${status}`)
  }
}

/** Zero if the connection was closed without a response. */
async function statusOf(service: Service, request: Buffer): Promise<number> {
  const connection = await connectRaw(service)
  try {
    connection.send(request)
    return (await connection.reply())?.status ?? 0
  } finally {
    connection.socket.destroy()
  }
}

async function oddValues(
  t: TestContext,
  { service, routes }: Everything,
  send: Send,
): Promise<void> {
  const agent = new https.Agent({ keepAlive: true, maxSockets: 1 })
  t.after(() => agent.destroy())
  const good = async (): Promise<Record<string, unknown>> => ({
    ...Object.fromEntries(authorizationParameters(pkce().challenge)),
    authRequestId: (await beginLogin(service)).authRequestId,
    username: 'admin',
    password: 'wrong',
    code: '123456',
    token: 'nothing',
    grant_type: 'authorization_code',
    redirect_uri: REDIRECT_URI,
    code_verifier: 'x'.repeat(43),
  })
  const open = routes.filter(isAnonymous)
  const sendAll = async (what: string, route: Route, fields: Readonly<Record<string, unknown>>) => {
    for (const sent of requestsWith(route, fields)) {
      const where = `${what} at ${route.method} ${route.url}`
      const request = `${where} as ${sent.headers['content-type']}`
      const reply = await send(request, () => service.call(sent.path, { ...sent, agent }))
      if (reply === undefined) continue
      assert.ok(reply.status < 500, `${where}: ${reply.status} ${reply.text}`)
    }
  }
  const values = Object.entries(ODD_VALUES)
  for (const [what, value] of values) {
    const fields = Object.fromEntries(NAMES.map((name) => [name, value]))
    for (const route of open) await sendAll(`${what} everywhere`, route, fields)
  }
  // One odd value among valid ones gets past the checks of the others. The two APIs share their implementation.
  const once = open.filter(({ method, url, reads }) => {
    const isRead = reads.length > 0 || /login|authorization|end_session|callback/.test(url)
    return isRead && !url.startsWith('/edge/management') && (method !== 'GET' || isRead)
  })
  for (const [i, name] of NAMES.entries()) {
    // Failed logins of one address are limited, and an early refusal would test nothing.
    service.clock.advance(minutes(2))
    const base = await good()
    const [what = '', other] = values[i % values.length] ?? []
    for (const route of once) {
      await sendAll(`NUL as ${name}`, route, { ...base, [name]: ODD_VALUES['NUL'] })
      await sendAll(`${what} as ${name}`, route, { ...base, [name]: other })
    }
  }
}

type Sent = {
  readonly path: string
  readonly method: string
  readonly headers: Record<string, string>
  readonly body?: string
}

function requestsWith(route: Route, fields: Readonly<Record<string, unknown>>): readonly Sent[] {
  const { method } = route
  const path = addressOf(route)
  const headers = { accept: 'application/json, text/html' }
  const texts = Object.entries(fields).flatMap(([name, value]) =>
    typeof value === 'string' && value.isWellFormed() ? [[name, value]] : [],
  )
  const form = new URLSearchParams(texts).toString()
  if (method === 'GET') {
    return form.length > 25_000 ? [] : [{ path: `${path}?${form}`, method, headers }]
  }
  const sent: Sent[] = []
  if (route.reads.includes('form')) {
    const type = { ...headers, 'content-type': 'application/x-www-form-urlencoded' }
    if (form.length < 64 * 1024) sent.push({ path, method, headers: type, body: form })
  }
  if (route.reads.includes('json')) {
    const type = { ...headers, 'content-type': 'application/json' }
    const json = JSON.stringify(fields)
    if (Buffer.byteLength(json) < 64 * 1024) sent.push({ path, method, headers: type, body: json })
  }
  return sent
}
