/**
 * The content of a request never causes a 5xx: every route is called with odd paths, queries and bodies, by a
 * caller without credentials and, where that is refused, by an administrator. On both databases, since PostgreSQL
 * refuses texts that SQLite accepts; but not twice what is refused before it reaches a database. R023, D-206.
 */
import assert from 'node:assert/strict'
import https from 'node:https'
import { StatementSync } from 'node:sqlite'
import { after, type TestContext, test } from 'node:test'
import { minutes } from '../../../src/base/time/duration.ts'
import type { Route } from '../../../src/http/route.ts'
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
import { errorsIn } from '../../support/service.ts'
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

for (const [name, prepare] of Object.entries(DATABASES)) {
  test(`on ${name} the content of a request never causes a server error`, async (t) => {
    const { config, send } = await prepare(t)
    // Failures of one address would soon be refused before anything is read.
    const edge = { limits: { failuresPerAddress: 0 } }
    const everything = await startWithEverything(t, { config: { ...config, edge } })
    await t.test('whatever the path', () => oddPaths(everything, send))
    await t.test('whatever the fields of a query, a form or JSON', (t) =>
      oddValues(t, everything, send),
    )
    await t.test('and the log has no error', () => {
      // The clock of this test is ahead of the database on purpose, and the service says so (D-230).
      const isOfTest = (msg: string) => msg.startsWith('the clock is ahead of the database')
      assert.deepEqual(
        errorsIn(everything.service).filter(({ msg }) => !isOfTest(msg)),
        [],
      )
    })
  })
}

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
  const seen = new Set<string>()
  const sendAll = async (what: string, route: Route, fields: Readonly<Record<string, unknown>>) => {
    for (const sent of requestsWith(route, fields)) {
      // Values that a form cannot have are left out of it, so that many forms are the same.
      const text = JSON.stringify(sent)
      if (seen.has(text)) continue
      seen.add(text)
      const where = `${what} at ${route.method} ${route.url}`
      const request = `${where} as ${sent.headers['content-type']}`
      const reply = await send(request, () => service.call(sent.path, { ...sent, agent }))
      if (reply === undefined) continue
      assert.ok(reply.status < 500, `${where}: ${reply.status} ${reply.text}`)
      assert.notEqual(reply.status, 429, `${where}: an early refusal would test nothing`)
    }
  }
  const values = Object.entries(ODD_VALUES)
  for (const [what, value] of values) {
    const fields = Object.fromEntries(NAMES.map((name) => [name, value]))
    for (const route of open) await sendAll(`${what} everywhere`, route, fields)
  }
  // One odd value among valid ones gets past the checks of the others. The two APIs share their implementation.
  const once = open.filter(({ url, reads }) => {
    const isRead = reads.length > 0 || /login|authorization|end_session|callback/.test(url)
    return isRead && !url.startsWith('/edge/management')
  })
  for (const [i, name] of NAMES.entries()) {
    // Logins of devices that wait, and wrong passwords of an identity, are limited, too.
    service.clock.advance(minutes(20))
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
