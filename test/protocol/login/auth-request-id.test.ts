/** The auth request id: its three names, its life, and the one answer to every id that is not good. D-4, D-7, D-12. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { milliseconds, minutes } from '../../../src/base/time/duration.ts'
import type { CallOptions, Reply } from '../../support/http-client.ts'
import {
  answerOf,
  authorizationParameters,
  authorize,
  beginLogin,
  pkce,
  submitPassword,
} from '../../support/login/login.ts'
import { ADMIN, type Service, startService } from '../../support/service.ts'

const NAMES = ['authRequestId', 'authRequestID', 'id'] as const
const PATHS = ['/oidc/login/username', '/oidc/login/password'] as const
const BODIES = ['json', 'form'] as const

function body(kind: (typeof BODIES)[number], fields: Record<string, string>): CallOptions {
  return kind === 'json' ? { json: fields } : { form: Object.entries(fields) }
}

function assertFieldFault(reply: Reply, reason: RegExp, field = 'authRequestId'): void {
  assert.equal(reply.status, 400, reply.text)
  const { code, cause } = reply.json().error
  assert.equal(code, 'COULD_NOT_VALIDATE')
  assert.equal(cause.field, field)
  assert.match(cause.reason, reason)
}

test('the auth request id of a login call', async (t) => {
  const service = await startService(t)

  for (const path of PATHS) {
    for (const name of NAMES) {
      for (const kind of BODIES) {
        await t.test(`R025: POST ${path} takes the id as ${name} in a ${kind} body`, async () => {
          const { authRequestId } = await beginLogin(service)
          const call = body(kind, { [name]: authRequestId, ...ADMIN })
          assert.ok(answerOf(await service.call(path, call)).get('code'))
        })
        await t.test(
          `R025: POST ${path} takes the id as ${name} in the query, beside a ${kind} body`,
          async () => {
            const { authRequestId } = await beginLogin(service)
            const reply = await service.call(`${path}?${name}=${authRequestId}`, body(kind, ADMIN))
            assert.ok(answerOf(reply).get('code'))
          },
        )
      }
      await t.test(`R025: GET ${path} takes the id as ${name}`, async () => {
        const { authRequestId } = await beginLogin(service)
        const reply = await service.call(`${path}?${name}=${authRequestId}`)
        assert.equal(reply.status, 200, reply.text)
        assert.equal(reply.headers['auth-request-id'], authRequestId)
        assert.equal(reply.json().authRequestId, authRequestId)
      })
    }
  }

  await t.test('D-4: the same id under every name, in query and body, is one id', async () => {
    const { authRequestId } = await beginLogin(service)
    const query = new URLSearchParams({ id: authRequestId, authRequestID: authRequestId })
    const json = { authRequestId, id: authRequestId, authRequestID: authRequestId, ...ADMIN }
    assert.ok(answerOf(await service.call(`/oidc/login/username?${query}`, { json })).get('code'))
  })

  await t.test('R025: two different ids are refused, wherever they stand', async () => {
    const [one, other] = [await beginLogin(service), await beginLogin(service)]
    const a = one.authRequestId
    const b = other.authRequestId
    const path = '/oidc/login/username'
    const conflicts: readonly (readonly [string, CallOptions])[] = [
      [`${path}?id=${a}`, { json: { id: b, ...ADMIN } }],
      [`${path}?authRequestID=${a}`, { json: { authRequestId: b, ...ADMIN } }],
      [`${path}?id=${a}&id=${b}`, { json: ADMIN }],
      [path, { json: { id: a, authRequestId: b, ...ADMIN } }],
      [path, { form: [['id', a], ['id', b], ...Object.entries(ADMIN)] }],
      [path, { form: [['id', a], ['authRequestID', b], ...Object.entries(ADMIN)] }],
    ]
    for (const [url, call] of conflicts) {
      assertFieldFault(await service.call(url, call), /two different values/)
    }
    assertFieldFault(await service.call(`${path}?id=${a}&authRequestID=${b}`), /two different/)
    assert.ok(answerOf(await submitPassword(service, a)).get('code'), 'nothing was spent by that')
  })

  await t.test('D-4: a missing id, and one that is not text, are named as the fault', async () => {
    const path = '/oidc/login/username'
    assertFieldFault(await service.call(path, { json: ADMIN }), /missing/)
    assertFieldFault(await service.call(`${path}?id=`, { json: ADMIN }), /missing/)
    assertFieldFault(await service.call(path), /missing/)
    // D-309: null is as good as absent.
    assertFieldFault(await service.call(path, { json: { id: null, ...ADMIN } }), /missing/)
    for (const id of [7, true, { a: 1 }, [['x']], []]) {
      assertFieldFault(await service.call(path, { json: { id, ...ADMIN } }), /must be a text/)
    }
  })

  await t.test('SPEC Primary login: a list with a good id in it is not an id', async () => {
    const { authRequestId } = await beginLogin(service)
    const [one, list] = [authRequestId, [authRequestId]]
    for (const [path, ids] of [
      ...NAMES.map((name) => ['/oidc/login/username', { [name]: list }] as const),
      ['/oidc/login/username', { id: [one, one] }],
      ['/oidc/login/username', { authRequestId: one, id: list }],
      [`/oidc/login/username?id=${one}`, { authRequestId: list }],
      ['/oidc/login/password', { authRequestId: list }],
      ['/oidc/login/cert', { authRequestId: list }],
      ['/oidc/login/ext-jwt', { authRequestId: list }],
    ] as const) {
      assertFieldFault(await service.call(path, { json: { ...ids, ...ADMIN } }), /must be a text/)
    }
    // The query is not read instead.
    const wrong = { authRequestId: 7, ...ADMIN }
    const beside = await service.call(`/oidc/login/username?id=${one}`, { json: wrong })
    assertFieldFault(beside, /must be a text/)
    assert.ok(answerOf(await submitPassword(service, one)).get('code'), 'nothing was spent by that')
  })

  await t.test('D-4: the passkey endpoints document the id as `id`, and name it so', async () => {
    const { authRequestId } = await beginLogin(service)
    for (const path of ['', '/options', '/enroll', '/enroll/verify']) {
      const url = `/oidc/login/passkey${path}`
      assertFieldFault(await service.call(url, { json: {} }), /missing/, 'id')
      const list = await service.call(url, { json: { id: [authRequestId] } })
      assertFieldFault(list, /must be a text/, 'id')
    }
  })

  await t.test('R024: ids never repeat, and carry at least 128 random bits', async () => {
    const ids = await Promise.all(Array.from({ length: 20 }, () => idOf(service)))
    assert.equal(new Set(ids).size, ids.length)
    for (const id of ids) {
      assert.match(id, /^[A-Za-z0-9_-]+$/)
      assert.ok(id.length <= 4_096, 'D-7: 4 KiB at most')
    }
    // The same request twice: what two ids have in common is no more than chance gives.
    const [a = '', b = ''] = ids
    const equal = [...a].filter((character, i) => character === b[i]).length
    assert.ok(equal < a.length / 8, `${equal} of ${a.length} characters are the same`)
  })

  await t.test('R024: unknown, forged and foreign ids get one and the same answer', async (t) => {
    const { authRequestId } = await beginLogin(service)
    const foreign = await beginLogin(await startService(t))
    const wrong = ['x', '..', 'null', `${authRequestId}A`, authRequestId.slice(1), '%00', '💥']
    const ids = [...wrong, 'A'.repeat(4_097), authRequestId.toLowerCase(), foreign.authRequestId]
    const answers = new Set<string>()
    for (const id of ids) {
      for (const reply of [
        await service.call('/oidc/login/username', { json: { id, ...ADMIN } }),
        await service.call(`/oidc/login/username?${new URLSearchParams({ id })}`),
      ]) {
        assert.equal(reply.status, 400, reply.text)
        const { error, meta } = reply.json()
        assert.equal(error.code, 'INVALID_AUTH_REQUEST')
        answers.add(JSON.stringify({ error: { ...error, requestId: '' }, meta }))
      }
    }
    assert.equal(answers.size, 1)
    assert.match([...answers].join(), /start again at \/oidc\/authorization/)
  })

  await t.test('D-4: the authorization redirect carries the id also in the header', async () => {
    const reply = await authorize(service, authorizationParameters(pkce().challenge))
    const location = new URL(reply.headers.location ?? '', service.baseUrl)
    assert.equal(location.pathname, '/oidc/login/username')
    assert.equal(reply.headers['auth-request-id'], location.searchParams.get('authRequestID'))
  })
})

test('R024: an auth request lives for 10 minutes, and nothing extends that', async (t) => {
  const service = await startService(t)
  service.clock.hold()
  const { authRequestId } = await beginLogin(service)
  service.clock.advance(milliseconds(minutes(10) - 1))
  const early = await service.call(`/oidc/login/username?id=${authRequestId}`)
  assert.equal(early.status, 200, early.text)
  const wrong = await submitPassword(service, authRequestId, { ...ADMIN, password: 'wrong' })
  assert.equal(wrong.status, 401)
  service.clock.advance(milliseconds(1))
  for (const reply of [
    await submitPassword(service, authRequestId),
    await service.call(`/oidc/login/username?id=${authRequestId}`),
  ]) {
    assert.equal(reply.status, 400)
    assert.equal(reply.json().error.code, 'INVALID_AUTH_REQUEST')
  }
})

async function idOf(service: Service): Promise<string> {
  return (await beginLogin(service)).authRequestId
}
