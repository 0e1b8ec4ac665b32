/**
 * What the steps after the password read and answer: the query, the names of the auth request id, JSON and form, and
 * the order of the steps. SPEC Secondary factors and TOTP; D-4, D-11, D-15, D-19.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CallOptions } from '../../support/http-client.ts'
import {
  enrolledPerson,
  PASSWORD,
  partialLogin,
  scanned,
  setUpApp,
  startEnrollment,
  submitCode,
  totpPolicy,
  verifyEnrollment,
} from '../../support/login/authenticator-app.ts'
import { answerOf, beginLogin, submitPassword } from '../../support/login/login.ts'
import { administrate, assertRefused } from '../../support/management.ts'
import { ADMIN, startService } from '../../support/service.ts'

/** Neither digits nor the letters of recovery codes: right for nobody. */
const NO_CODE = '00000x'

const NAMES = ['authRequestId', 'authRequestID', 'id'] as const
const BODIES = ['json', 'form'] as const

function body(kind: (typeof BODIES)[number], fields: Record<string, string>): CallOptions {
  return kind === 'json' ? { json: fields } : { form: Object.entries(fields) }
}

const QUERIES = '/oidc/login/auth-queries'
const TOTP = '/oidc/login/totp'
const ENROLL = '/oidc/login/totp/enroll'
const VERIFY = '/oidc/login/totp/enroll/verify'

/** SPEC Auth request: the name that the specification has for the id at this address. */
const idFieldOf = (path: string) => (path === TOTP || path === QUERIES ? 'id' : 'authRequestId')

/** Every way to name the id on a call with a body: in the body or in the query. */
const PLACES = NAMES.flatMap((name) =>
  BODIES.flatMap((kind) => [
    {
      what: `${name} in a ${kind} body`,
      call: (path: string, id: string, fields: Record<string, string>) =>
        [path, body(kind, { [name]: id, ...fields })] as const,
    },
    {
      what: `${name} in the query beside a ${kind} body`,
      call: (path: string, id: string, fields: Record<string, string>) =>
        [`${path}?${name}=${id}`, body(kind, fields)] as const,
    },
  ]),
)

test('the steps of a login that asks for a TOTP code', async (t) => {
  const service = await startService(t)
  service.clock.hold()
  const admin = await administrate(service)
  const policy = await totpPolicy(admin)
  const newcomer = () => admin.createIdentity({ password: PASSWORD, policy })
  const ada = await enrolledPerson(service, admin)
  const bob = await newcomer()

  for (const { isTotpEnrolled, person } of [
    { isTotpEnrolled: true, person: ada },
    { isTotpEnrolled: false, person: bob },
  ]) {
    await t.test(`D-15: the query says whether there is an app: ${isTotpEnrolled}`, async () => {
      const expected = {
        typeId: 'MFA',
        format: 'alphaNumeric',
        httpMethod: 'POST',
        httpUrl: '/oidc/login/totp',
        minLength: 6,
        maxLength: 6,
        provider: 'service',
        isTotpEnrolled,
      }
      const { reply, authRequestId } = await partialLogin(service, person)
      assert.deepEqual(reply.json(), { authQueries: [expected] })
      assert.equal(reply.headers['totp-required'], 'true')
      assert.equal(reply.headers['cache-control'], 'no-store')
      assert.match(reply.headers['content-type'] ?? '', /^application\/json/)
      assert.equal(reply.headers['auth-request-id'], authRequestId)
      const again = await service.call(`${QUERIES}?id=${authRequestId}`)
      assert.deepEqual(again.json(), { authQueries: [expected] })
      assert.equal(again.headers['totp-required'], 'true')
      assert.equal(again.headers['cache-control'], 'no-store')
      assert.equal(again.headers['auth-request-id'], authRequestId, 'D-4')
    })
  }

  await t.test('D-15: before the primary login no query is outstanding', async () => {
    const { authRequestId } = await beginLogin(service)
    const reply = await service.call(`${QUERIES}?id=${authRequestId}`)
    assert.equal(reply.status, 200, reply.text)
    assert.deepEqual(reply.json(), { authQueries: [] })
    assert.equal(reply.headers['totp-required'], undefined)
  })

  for (const name of NAMES) {
    await t.test(`R025: GET ${QUERIES} and the GET pages take the id as ${name}`, async () => {
      const { authRequestId } = await partialLogin(service, ada)
      for (const path of [QUERIES, TOTP, ENROLL]) {
        const reply = await service.call(`${path}?${name}=${authRequestId}`)
        assert.equal(reply.status, 200, reply.text)
      }
    })
  }

  for (const { what, call } of PLACES) {
    await t.test(`R025: POST ${TOTP} takes the id as ${what}`, async () => {
      const { authRequestId } = await partialLogin(service, ada)
      const reply = await service.call(...call(TOTP, authRequestId, { code: ada.app.nextCode() }))
      assert.ok(answerOf(reply).get('code'))
    })

    await t.test(`R025: the calls of an enrollment take the id as ${what}`, async () => {
      const { authRequestId } = await partialLogin(service, bob)
      const [enroll, options] = call(ENROLL, authRequestId, { more: 'x' })
      for (const expected of [201, 201]) {
        assert.equal((await service.call(enroll, options)).status, expected)
      }
      const wrong = await service.call(...call(VERIFY, authRequestId, { code: NO_CODE }))
      assertRefused(wrong, 400, 'MFA_INVALID_TOKEN')
      const cancelled = await service.call(enroll, { ...options, method: 'DELETE' })
      assert.equal(cancelled.status, 200, cancelled.text)
      const { app } = await scanned(service, authRequestId)
      await service.call(...call(VERIFY, authRequestId, { code: app.code() }))
      // A right code, so that the wrong ones before it do not add up to a block.
      await admin.act('DELETE', `/identities/${bob.id}/mfa`)
    })
  }

  await t.test('D-19: DELETE takes the id from the query alone, without a body', async () => {
    const { authRequestId } = await partialLogin(service, bob)
    await scanned(service, authRequestId)
    const reply = await service.call(`${ENROLL}?authRequestId=${authRequestId}`, {
      method: 'DELETE',
    })
    assert.equal(reply.status, 200, reply.text)
    assert.deepEqual(reply.json(), {})
  })

  await t.test('D-4: two different ids are refused on every step', async () => {
    const a = (await partialLogin(service, ada)).authRequestId
    const b = (await partialLogin(service, ada)).authRequestId
    const json = { authRequestId: b, code: ada.app.nextCode() }
    for (const [method, path] of [
      ['POST', TOTP],
      ['POST', ENROLL],
      ['POST', VERIFY],
      ['DELETE', ENROLL],
    ] as const) {
      const reply = await service.call(`${path}?id=${a}`, { method, json })
      assertRefused(reply, 400, 'COULD_NOT_VALIDATE', idFieldOf(path))
    }
    for (const path of [QUERIES, TOTP, ENROLL]) {
      const reply = await service.call(`${path}?id=${a}&authRequestId=${b}`)
      assertRefused(reply, 400, 'COULD_NOT_VALIDATE', idFieldOf(path))
    }
    assert.ok(answerOf(await submitCode(service, b, json.code)).get('code'), 'nothing was spent')
  })

  await t.test('D-4: a missing id is named on every step', async () => {
    for (const [method, path] of [
      ['GET', QUERIES],
      ['GET', TOTP],
      ['GET', ENROLL],
      ['POST', TOTP],
      ['POST', ENROLL],
      ['POST', VERIFY],
      ['DELETE', ENROLL],
    ] as const) {
      const options = method === 'GET' ? {} : { json: { code: NO_CODE } }
      const reply = await service.call(path, { method, ...options })
      assertRefused(reply, 400, 'COULD_NOT_VALIDATE', idFieldOf(path))
    }
  })

  await t.test(
    'D-4: an id that is a list, or anything else but a string, is refused at every step',
    async () => {
      const { authRequestId } = await partialLogin(service, ada)
      const code = ada.app.nextCode()
      for (const [method, path] of [
        ['POST', TOTP],
        ['POST', ENROLL],
        ['POST', VERIFY],
        ['DELETE', ENROLL],
      ] as const) {
        for (const name of NAMES) {
          for (const id of [
            [authRequestId],
            [authRequestId, authRequestId],
            { authRequestId },
            7,
          ]) {
            const reply = await service.call(path, { method, json: { [name]: id, code } })
            assertRefused(reply, 400, 'COULD_NOT_VALIDATE', idFieldOf(path))
          }
        }
      }
      const reply = await submitCode(service, authRequestId, code)
      assert.ok(answerOf(reply).get('code'), 'nothing was spent')
    },
  )

  await t.test(
    'D-11: a code that is missing, no text, repeated or far too long is named',
    async () => {
      const { authRequestId: id } = await partialLogin(service, ada)
      for (const path of [TOTP, VERIFY]) {
        for (const code of [
          undefined,
          null,
          '',
          123456,
          true,
          ['123456'],
          { a: 1 },
          '1'.repeat(65),
        ]) {
          const reply = await service.call(path, { json: { id, code } })
          assertRefused(reply, 400, 'COULD_NOT_VALIDATE', 'code')
          assert.equal(reply.text.includes('11111'), false, 'D-45: never the value')
        }
        const form: [string, string][] = [
          ['id', id],
          ['code', ada.app.code()],
          ['code', ada.app.code()],
        ]
        assertRefused(await service.call(path, { form }), 400, 'COULD_NOT_VALIDATE', 'code')
      }
      // None of it was a guess: the request lives, and ten more faults would not end it.
      for (let i = 0; i < 11; i += 1) await service.call(TOTP, { json: { id, code: 7 } })
      assert.ok(answerOf(await submitCode(service, id, ada.app.nextCode())).get('code'))
    },
  )

  await t.test('D-11: anything but JSON and forms is refused', async () => {
    const { authRequestId: id } = await partialLogin(service, ada)
    for (const path of [TOTP, ENROLL, VERIFY]) {
      const xml = { method: 'POST', headers: { 'content-type': 'text/xml' }, body: '<a/>' }
      assertRefused(await service.call(path, xml), 415, 'UNSUPPORTED_MEDIA_TYPE')
      const broken = {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: `{"id":"${id}`,
      }
      assertRefused(await service.call(path, broken), 400, 'COULD_NOT_PARSE_BODY')
      const unwanted = { json: { id, code: NO_CODE }, headers: { accept: 'image/png' } }
      assertRefused(await service.call(path, unwanted), 406, 'NOT_ACCEPTABLE')
    }
  })

  // Attack: the second factor alone, with a code that was looked over somebody's shoulder.
  await t.test('R027: a second step before the primary login is refused', async () => {
    const { authRequestId: id } = await beginLogin(service)
    for (const reply of [
      await submitCode(service, id, ada.app.nextCode()),
      await startEnrollment(service, id),
      await verifyEnrollment(service, id, ada.app.code()),
      await service.call(ENROLL, { method: 'DELETE', json: { id } }),
      await service.call(`${TOTP}?id=${id}`),
      await service.call(`${ENROLL}?id=${id}`),
    ]) {
      assertRefused(reply, 400, 'INVALID_AUTH_REQUEST')
    }
    assert.ok(answerOf(await submitPassword(service, id)).get('code'), 'the request is as it was')
  })

  // Attack: the primary login on one auth request, the second factor on another.
  await t.test('R027: what one auth request has proven does not count for another', async () => {
    const proven = await partialLogin(service, ada)
    const other = await beginLogin(service)
    const code = ada.app.nextCode()
    const refused = await submitCode(service, other.authRequestId, code)
    assertRefused(refused, 400, 'INVALID_AUTH_REQUEST')
    assert.ok(answerOf(await submitCode(service, proven.authRequestId, code)).get('code'))
  })

  await t.test('R027: a wrong password is not a primary login', async () => {
    const { authRequestId: id } = await beginLogin(service)
    const wrong = { username: ada.username, password: 'not the right one' }
    assertRefused(await submitPassword(service, id, wrong), 401, 'INVALID_AUTH')
    const refused = await submitCode(service, id, ada.app.nextCode())
    assertRefused(refused, 400, 'INVALID_AUTH_REQUEST')
  })

  await t.test('D-13: after the code is issued every step refuses', async () => {
    const { authRequestId: id } = await partialLogin(service, ada)
    assert.ok(answerOf(await submitCode(service, id, ada.app.nextCode())).get('code'))
    for (const reply of [
      await submitCode(service, id, ada.app.nextCode()),
      await startEnrollment(service, id),
      await verifyEnrollment(service, id, ada.app.code()),
      await service.call(ENROLL, { method: 'DELETE', json: { id } }),
      await service.call(`${QUERIES}?id=${id}`),
      await service.call(`${TOTP}?id=${id}`),
      await submitPassword(service, id, { username: ada.username, password: PASSWORD }),
    ]) {
      assertRefused(reply, 400, 'INVALID_AUTH_REQUEST')
    }
  })

  await t.test('D-11: GET says what to post', async () => {
    const { authRequestId } = await partialLogin(service, bob)
    const totp = (await service.call(`${TOTP}?id=${authRequestId}`)).json()
    assert.deepEqual(totp, { authRequestId, method: 'POST', url: TOTP, fields: ['id', 'code'] })
    const enroll = (await service.call(`${ENROLL}?id=${authRequestId}`)).json()
    assert.deepEqual(enroll, {
      authRequestId,
      method: 'POST',
      url: ENROLL,
      fields: ['authRequestId'],
    })
  })
})

test('D-1: the provider of the TOTP query is the brand', async (t) => {
  const service = await startService(t, { config: { edge: { brand: 'acme' } } })
  await setUpApp(service, ADMIN)
  const { authRequestId } = await beginLogin(service, { client_id: 'acme' })
  const reply = await submitPassword(service, authRequestId)
  assert.equal(reply.json().authQueries[0].provider, 'acme')
})
