/**
 * The form of a request never causes a 5xx: odd header fields, targets and transfer codings, by a caller without
 * credentials. On PostgreSQL alone: of these, only texts reach a database, and SQLite accepts every text that PostgreSQL
 * does. R023, D-206.
 */

import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import type { Route } from '../../../src/http/route.ts'
import { connectRaw, type RawConnection } from '../../support/edge/raw-connection.ts'
import {
  addressOf,
  type Everything,
  isAnonymous,
  startWithEverything,
} from '../../support/everything.ts'
import { jwtPart } from '../../support/jwt-part.ts'
import { errorsIn, type Service } from '../../support/service.ts'
import { migratedDatabase } from '../../support/stores/migrated-database.ts'
import { startPostgres } from '../../support/stores/postgres.ts'

const postgres = await startPostgres()
after(() => postgres.stop())

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
  return `${jwtPart(header)}.${jwtPart(payload)}.AAAA`
}

test('the form of a request never causes a server error', async (t) => {
  const everything = await startWithEverything(t, { config: { db: await migratedDatabase() } })
  await t.test('whatever the header fields', (t) => oddFields(t, everything))
  await t.test('whatever the target', () => oddTargets(everything))
  await t.test('and the log has no error', () => {
    assert.deepEqual(errorsIn(everything.service), [])
  })
})

async function oddFields(t: TestContext, { service, routes }: Everything): Promise<void> {
  const host = `Host: ${new URL(service.baseUrl).host}`
  // Of the routes that need credentials, one of each kind: what they share with the others runs first.
  const chosen = routes.filter(({ access, url }, i) =>
    isAnonymous({ access })
      ? !url.startsWith('/edge/management') && !url.startsWith('/account/')
      : routes.findIndex((other) => other.access === access) === i,
  )
  const addresses = [
    ...chosen.map((route) => [`${route.method} ${addressOf(route)}`, bodyOf(route)] as const),
    ['OPTIONS /oidc/token', JSON_BODY],
    ['OPTIONS /edge/management/v1/identities/nothing', JSON_BODY],
  ] as const
  for (const fields of ODD_FIELDS) {
    // One connection for all requests, reopened when a response closed it: a handshake costs more than a request.
    let connection: RawConnection | undefined
    t.after(() => connection?.socket.destroy())
    for (const [address, { type, body }] of addresses) {
      const types = /^content-type/i.test(fields.join()) ? [] : [`Content-Type: ${type}`]
      const lines = [host, ...fields, ...types, `Content-Length: ${body.length}`]
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

const JSON_BODY = { type: 'application/json', body: '{}' }

/** What the route reads: a body of another type is refused before the header fields matter, and closes the connection. */
function bodyOf({ method, reads }: Route): typeof JSON_BODY {
  if (method === 'GET') return { ...JSON_BODY, body: '' }
  const isForm = reads.includes('form') && !reads.includes('json')
  return isForm ? { type: 'application/x-www-form-urlencoded', body: 'a=b' } : JSON_BODY
}

async function oddTargets({ service }: Everything): Promise<void> {
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
