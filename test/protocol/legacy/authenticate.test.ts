/**
 * POST …/authenticate with a password, on both APIs: SPEC Legacy authentication; D-51. What a `zt-session` token opens,
 * and what it does not.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  AuthenticateReply,
  CurrentApiSessionReply,
} from '../../../src/contract/current-api-session.ts'
import type { CallOptions } from '../../support/http-client.ts'
import { MISSING } from '../../support/login/challenges.ts'
import { APIS, authenticate, CLIENT_API, callsOf } from '../../support/login/legacy.ts'
import { administrate, assertRefused } from '../../support/management.ts'
import { ADMIN, startService } from '../../support/service.ts'
import { sql } from '../../support/stores/sql.ts'

test('a legacy login by password', async (t) => {
  const service = await startService(t)
  service.clock.hold()

  for (const api of APIS) {
    const url = `${api}/authenticate`

    for (const [what, path, options] of [
      ['method=password', `${url}?method=password`, { json: ADMIN }],
      ['the method inferred from the username', url, { json: ADMIN }],
      ['a form', `${url}?method=password`, { form: Object.entries(ADMIN) }],
      ['an empty method, which counts as none', `${url}?method=`, { json: ADMIN }],
      ['a form, inferred', url, { form: Object.entries(ADMIN) }],
      ['fields that nobody knows', url, { json: { ...ADMIN, later: { deep: [1] } } }],
      ['what SDKs tell about themselves', url, { json: { ...ADMIN, ...sdk() } }],
    ] as const) {
      await t.test(`D-51: ${api} takes ${what}`, async () => {
        const reply = await service.call(path, options)
        assert.equal(reply.status, 200, reply.text)
        const body = reply.json()
        assert.deepEqual(AuthenticateReply.parse(body), body)
        assert.equal(reply.headers['zt-session'], body.data.token)
        assert.equal(reply.headers['cache-control'], 'no-store')
        assert.equal(reply.headers['www-authenticate'], undefined)
        assert.equal(reply.headers['totp-required'], undefined)
        assert.equal(body.data.kind, 'legacy')
        assert.equal(body.data.clientId, null)
        assert.deepEqual(body.data.amr, ['pwd'])
        assert.deepEqual(body.data.authQueries, [])
        assert.equal(body.data.isMfaRequired, false)
        assert.equal(body.data.isMfaComplete, true)
        assert.equal(body.data.identity.name, 'admin')
        assert.equal(body.data.expirationSeconds, 30 * 60, 'D-36')
        assert.equal(body.data.expiresAt, reply.headers['expires-at'])
        assert.equal(reply.headers['expiration-seconds'], '1800')
        assert.ok(Buffer.from(body.data.token, 'base64url').length >= 32, 'D-36: 256 bits')
        assert.match(body.data.token, /^[A-Za-z0-9_-]+$/)
      })
    }

    for (const [what, query] of [
      ['an unknown method', 'method=pasword'],
      ['a method in another case', 'method=PASSWORD'],
      ['a repeated method', 'method=password&method=password'],
      ['two methods', 'method=password&method=cert'],
      ['a method of the login endpoints', 'method=username'],
    ] as const) {
      await t.test(`D-51: ${api} refuses ${what}`, async () => {
        const reply = await service.call(`${url}?${query}`, { json: ADMIN })
        assertRefused(reply, 400, 'COULD_NOT_VALIDATE', 'method')
        assert.equal(reply.headers['zt-session'], undefined)
      })
    }

    for (const [what, options, field] of [
      ['no username', { json: { password: 'x' } }, 'username'],
      ['no password', { json: { username: 'x' } }, 'password'],
      ['an empty password', { json: { ...ADMIN, password: '' } }, 'password'],
      ['a password that is a number', { json: { ...ADMIN, password: 12345678 } }, 'password'],
      ['a username that is a list', { json: { ...ADMIN, username: ['admin'] } }, 'username'],
      ['no body', { method: 'POST' }, 'username'],
      ['a repeated password', { form: [...Object.entries(ADMIN), ['password', 'x']] }, 'password'],
      ['a list', { json: [ADMIN] }, 'body'],
      ['config types that are no texts', { json: { ...ADMIN, configTypes: [1] } }, 'configTypes'],
      ['too many config types', { json: { ...ADMIN, configTypes: many(65) } }, 'configTypes'],
    ] as readonly (readonly [string, CallOptions, string])[]) {
      await t.test(`D-12: ${api} names ${what}`, async () => {
        const reply = await service.call(`${url}?method=password`, options)
        assertRefused(reply, 400, 'COULD_NOT_VALIDATE', field)
      })
    }

    await t.test(`D-11: ${api} reads JSON and forms alone`, async () => {
      const xml = { method: 'POST', headers: { 'content-type': 'text/xml' }, body: '<a/>' }
      assertRefused(await service.call(url, xml), 415, 'UNSUPPORTED_MEDIA_TYPE')
      const broken = {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"username":',
      }
      assertRefused(await service.call(url, broken), 400, 'COULD_NOT_PARSE_BODY')
    })

    await t.test(`R077: ${api} gives one answer to every wrong credential`, async () => {
      const answers = new Set<string>()
      for (const credentials of [
        { ...ADMIN, password: 'wrong horse battery' },
        { username: 'nobody', password: ADMIN.password },
        { username: 'admin ', password: ADMIN.password },
        { username: 'x'.repeat(256), password: 'y'.repeat(1024) },
      ]) {
        const reply = await service.call(`${url}?method=password`, { json: credentials })
        assertRefused(reply, 401, 'INVALID_AUTH')
        assert.equal(reply.headers['www-authenticate'], MISSING, 'D-37: no other row fits')
        assert.equal(reply.headers['zt-session'], undefined)
        assert.equal(reply.headers['expires-at'], undefined)
        const { error, meta } = reply.json()
        answers.add(JSON.stringify({ ...error, requestId: '', meta }))
      }
      assert.equal(answers.size, 1)
    })

    await t.test(`D-51: ${api} without anything to log in with is refused`, async () => {
      // No username, no bearer: a certificate is what is left, and there is none on this connection.
      const reply = await service.call(url, { json: {} })
      assertRefused(reply, 401, 'INVALID_AUTH')
      assert.equal(reply.headers['www-authenticate'], MISSING)
    })

    await t.test(`D-45: GET ${url} is 405`, async () => {
      const reply = await service.call(url)
      assertRefused(reply, 405, 'METHOD_NOT_ALLOWED')
      assert.equal(reply.headers['allow'], 'POST')
    })
  }

  await t.test('D-9: config types come back without repeats', async () => {
    const json = { ...ADMIN, configTypes: ['a', 'b', 'a'] }
    const reply = await service.call(`${CLIENT_API}/authenticate`, { json })
    assert.deepEqual(reply.json().data.configTypes, ['a', 'b'])
  })

  for (const from of APIS) {
    await t.test(`SPEC Authentication 1: a token of ${from} opens both APIs`, async () => {
      const call = callsOf(service, (await authenticate(service, ADMIN, from)).json().data.token)
      for (const api of APIS) {
        const identity = await call(`${api}/current-identity`)
        assert.equal(identity.status, 200, identity.text)
        assert.equal(identity.json().data.name, 'admin')
        const session = await call(`${api}/current-api-session`)
        assert.deepEqual(CurrentApiSessionReply.parse(session.json()), session.json())
        assert.equal(session.json().data.token, undefined, 'the token is shown once')
        assert.equal(session.headers['zt-session'], undefined)
      }
    })
  }

  // Attack: fixation. The victim logs in under a token or an id that the attacker knows.
  await t.test('R083: a login adopts neither token nor id from its caller', async () => {
    const first = (await authenticate(service)).json().data
    const chosen = { token: 'chosen', id: 'chosen', sessionId: 'chosen', zt_session: 'chosen' }
    for (const options of [
      { json: { ...ADMIN, ...chosen } },
      { json: ADMIN, headers: { 'zt-session': first.token } },
      { json: ADMIN, headers: { 'zt-session': 'chosen', cookie: 'zt-session=chosen' } },
    ]) {
      const { data } = (await service.call(`${CLIENT_API}/authenticate`, options)).json()
      for (const taken of ['chosen', first.token, first.id]) {
        assert.notEqual(data.token, taken)
        assert.notEqual(data.id, taken)
      }
    }
    const { status } = await callsOf(service, first.token)(`${CLIENT_API}/current-identity`)
    assert.equal(status, 200, 'and the older session is none the worse for it')
  })

  await t.test('R110: the database and the log hold no token', async () => {
    const { token } = (await authenticate(service)).json().data
    await callsOf(service, token)(`${CLIENT_API}/current-identity`)
    const rows = JSON.stringify(await sql(service, 'select * from api_sessions'))
    assert.match(rows, /legacy/)
    assert.equal(rows.includes(token), false)
    assert.equal(JSON.stringify(service.log).includes(token), false)
  })

  await t.test('R109: a login leaves one event, and so does a failure', async () => {
    const count = async (type: string) =>
      Number(
        (await sql(service, `select count(*) as n from events where type = '${type}'`))[0]?.['n'],
      )
    const before = [await count('login.succeeded'), await count('login.failed')]
    await authenticate(service)
    await authenticate(service, { ...ADMIN, password: 'wrong horse battery' })
    const after = [await count('login.succeeded'), await count('login.failed')]
    assert.deepEqual(
      after,
      before.map((n) => n + 1),
    )
  })

  await t.test(
    'D-12: a disabled identity and a policy without passwords hear the same',
    async () => {
      const admin = await administrate(service)
      const policy = await admin.createPolicy({ primary: { cert: { allowed: true } } })
      const ada = await admin.createIdentity({ password: 'a password of somebody' })
      const bob = await admin.createIdentity({ password: 'a password of somebody', policy })
      await admin.act('POST', `/identities/${ada.id}/disable`)
      for (const person of [ada, bob]) {
        const reply = await authenticate(service, person)
        assertRefused(reply, 401, 'INVALID_AUTH')
        assert.equal(reply.headers['www-authenticate'], MISSING)
      }
    },
  )
})

const many = (count: number) => Array.from({ length: count }, (_, i) => `type-${i}`)

function sdk(): object {
  return { envInfo: { os: 'linux', arch: 'x64' }, sdkInfo: { type: 'sdk', version: '1' } }
}
