/**
 * A caller without credentials can make the service read only a small amount, on every route: 64 KiB, 256 fields, 256
 * JSON entries, checked before anything is decoded. Authenticated routes authenticate before they read. R082, D-44,
 * D-205.
 */
import assert from 'node:assert/strict'
import https from 'node:https'
import { test } from 'node:test'
import type { Route } from '../../../src/http/route.ts'
import { connectRaw } from '../../support/edge/raw-connection.ts'
import { addressOf, isAnonymous, startWithEverything } from '../../support/everything.ts'
import type { CallOptions, Reply } from '../../support/http-client.ts'
import { authorizationParameters, beginLogin, logIn, pkce } from '../../support/login/login.ts'
import { administrate } from '../../support/management.ts'
import { ADMIN, startService } from '../../support/service.ts'

const KIB = 1024
const TYPES = {
  json: 'application/json',
  form: 'application/x-www-form-urlencoded',
  text: 'text/plain',
  pem: 'application/pkcs10',
} as const
type Kind = keyof typeof TYPES

/** Routes that read a body, and what they are sent. */
const takesBody = ({ method }: Pick<Route, 'method'>) => method !== 'GET'

test('no route reads more than 64 KiB of a caller without a credential', async (t) => {
  const { service, routes } = await startWithEverything(t)
  const host = `Host: ${new URL(service.baseUrl).host}`
  const preflights = [...new Set(routes.filter(({ cors }) => cors !== 'none').map(addressOf))]
  const addresses = [
    ...routes.filter(takesBody).map((route) => `${route.method} ${addressOf(route)}`),
    ...preflights.map((url) => `OPTIONS ${url}`),
  ]
  assert.ok(addresses.length > 100, String(addresses.length))
  // Announced, and never sent: a service that waits for the first byte would wait for all of them.
  for (const address of addresses) {
    const connection = await connectRaw(service)
    try {
      const fields = [host, `Content-Type: ${TYPES.form}`, `Content-Length: ${64 * KIB + 1}`]
      connection.send(`${address} HTTP/1.1\r\n${fields.join('\r\n')}\r\n\r\n`)
      const reply = await connection.reply()
      const [method, url] = address.split(' ')
      const route = routes.find((one) => one.method === method && addressOf(one) === url)
      if (route !== undefined && !isAnonymous(route)) {
        assert.equal(reply?.status, 401, address)
        const { error } = reply.json()
        assert.ok(['UNAUTHORIZED', 'INVALID_AUTH', 'invalid_token'].includes(error.code ?? error))
        continue
      }
      assert.equal(reply?.status, 413, address)
      const { error } = reply.json()
      assert.ok(['REQUEST_ENTITY_TOO_LARGE', 'invalid_request'].includes(error.code ?? error))
      assert.equal(reply.header('connection'), 'close', address)
    } finally {
      connection.socket.destroy()
    }
  }
})

test('no route decodes more than 256 fields or entries of a caller without a credential', async (t) => {
  const { service, routes } = await startWithEverything(t)
  const agent = new https.Agent({ keepAlive: true, maxSockets: 1 })
  t.after(() => agent.destroy())
  const pairs = (count: number) => Array.from({ length: count }, (_, i) => `x${i}=%61`).join('&')
  const members = (count: number) =>
    `{${Array.from({ length: count }, (_, i) => `"x${i}":1`).join()}}`
  const many: Readonly<Record<string, readonly [Kind, string]>> = {
    'different fields': ['form', pairs(257)],
    'one field many times': ['form', Array(257).fill('x=1').join('&')],
    'empty fields': ['form', '&'.repeat(257)],
    members: ['json', members(257)],
    elements: ['json', `{"x":[${Array(257).fill('1').join()}]}`],
    'empty objects': ['json', `[${Array(257).fill('{}').join()}]`],
  }
  const withBody = routes.filter((route) => takesBody(route) && isAnonymous(route))
  for (const route of withBody) {
    for (const [what, [kind, body]] of Object.entries(many)) {
      if (!route.reads.includes(kind)) continue
      const reply = await service.call(addressOf(route), {
        method: route.method,
        headers: { 'content-type': TYPES[kind] },
        body,
        agent,
      })
      assertTooMany(reply, 'body', `${what} at ${route.method} ${route.url}`)
    }
  }

  for (const route of routes) {
    const options: CallOptions = { method: route.method, agent }
    for (const query of [pairs(257), '&'.repeat(257)]) {
      const reply = await service.call(`${addressOf(route)}?${query}`, options)
      const where = `a query at ${route.method} ${route.url}`
      if (isAnonymous(route)) assertTooMany(reply, 'query', where)
      else assert.equal(reply.status, 401, where)
    }
  }
})

/** In every format: the envelope names the field, OAuth has `invalid_request`. */
function assertTooMany(reply: Reply, field: 'body' | 'query', where: string): void {
  assert.equal(reply.status, 400, where)
  const { error, error_description } = reply.json()
  if (typeof error === 'string') {
    assert.equal(error, 'invalid_request', where)
    assert.match(error_description, /at most 256/, where)
    return
  }
  assert.equal(error.code, 'COULD_NOT_VALIDATE', where)
  assert.equal(error.cause.field, field, where)
  assert.match(error.cause.reason, /^must have at most 256 /, where)
}

test('reads bodies within the limits', async (t) => {
  const service = await startService(t)
  const parameters = [...authorizationParameters(pkce().challenge)]
  const more = (count: number, length: number) =>
    Array.from({ length: count }, (_, i): [string, string] => [`x${i}`, 'x'.repeat(length)])

  const form = [...parameters, ...more(256 - parameters.length, 100)]
  const posted = await service.call('/oidc/authorization', { form })
  assert.equal(posted.status, 302, posted.text)
  const query = new URLSearchParams([...parameters, ...more(256 - parameters.length, 1)])
  assert.equal((await service.call(`/oidc/authorization?${query}`)).status, 302)

  const { authRequestId } = await beginLogin(service)
  const json = { authRequestId, ...ADMIN, ...Object.fromEntries(more(250, 100)) }
  assert.equal((await service.call('/oidc/login/username', { json })).status, 302)
})

test('an authenticated caller may send 1 MiB and 10,000 entries', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const { access_token } = await logIn(service)
  const send = (body: string) =>
    service.call('/edge/management/v1/identities', {
      method: 'POST',
      headers: { 'content-type': TYPES.json, authorization: `Bearer ${access_token}` },
      body,
    })
  assert.ok(admin !== undefined)
  const refused = (reply: Reply) => reply.json().error

  // Read, and then refused because it does not match the schema of an identity.
  const large = await send(`{"name":"${'x'.repeat(512 * KIB)}"}`)
  assert.equal(refused(large).code, 'COULD_NOT_VALIDATE')
  assert.equal(refused(large).cause.field, 'name')
  const entries = await send(`{"name":[${Array(9_998).fill('1').join()}]}`)
  assert.equal(refused(entries).cause.field, 'name')

  const many = await send(`{"name":[${Array(10_001).fill('1').join()}]}`)
  assert.equal(refused(many).code, 'COULD_NOT_VALIDATE')
  assert.deepEqual(refused(many).cause, {
    field: 'body',
    reason: 'must have at most 10000 members and elements',
  })
  assert.equal((await send('x'.repeat(1024 * KIB + 1))).status, 413)
})
