/**
 * What the login endpoints read and in which form they answer: D-11, R023. SPEC Endpoints: bodies may be JSON or
 * form.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CallOptions, Reply } from '../../support/http-client.ts'
import { answerOf, beginLogin } from '../../support/login/login.ts'
import { ADMIN, startService } from '../../support/service.ts'

const LOGIN = '/oidc/login/username'

const isHtml = (reply: Reply) => /^text\/html;/.test(reply.headers['content-type'] ?? '')
const isJson = (reply: Reply) => reply.headers['content-type'] === 'application/json'

test('R023: Accept decides between a page and JSON', async (t) => {
  const service = await startService(t)
  const { authRequestId } = await beginLogin(service)

  /** A page and two refusals that need no hashing. */
  async function answers(accept: string | undefined): Promise<readonly Reply[]> {
    const headers = accept === undefined ? {} : { accept }
    return [
      await service.call(`${LOGIN}?authRequestID=${authRequestId}`, { headers }),
      await service.call(LOGIN, { headers, json: { authRequestId, username: 'admin' } }),
      await service.call(LOGIN, { headers, form: [['authRequestId', 'unknown']] }),
    ]
  }
  const statuses = (replies: readonly Reply[]) => replies.map(({ status }) => status)

  for (const accept of [
    'text/html',
    'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
    'text/html, application/json;q=0.9',
    'application/json;q=0.5, text/html;q=0.6',
    'TEXT/HTML',
    'text/*',
    'application/json;q=0, */*',
  ]) {
    await t.test(`HTML and never JSON for ${accept}`, async () => {
      const replies = await answers(accept)
      assert.deepEqual(statuses(replies), [200, 400, 400])
      assert.ok(replies.every(isHtml))
    })
  }

  for (const accept of [
    undefined,
    '*/*',
    'application/json',
    'application/*',
    'application/json, text/html;q=0.9',
    'text/html;q=0.1, application/json;q=0.2',
    'text/html;q=0, */*',
    'image/png, application/json;q=0.1',
  ]) {
    await t.test(`JSON and never HTML for ${accept ?? 'no Accept at all'}`, async () => {
      const replies = await answers(accept)
      assert.deepEqual(statuses(replies), [200, 400, 400])
      assert.ok(replies.every(isJson))
      const [told, ...failed] = replies.map((reply) => reply.json())
      // D-11: what to post.
      assert.equal(told.authRequestId, authRequestId)
      assert.equal(told.method, 'POST')
      assert.equal(told.url, LOGIN)
      const codes = failed.map((body) => body.error.code)
      assert.deepEqual(codes, ['COULD_NOT_VALIDATE', 'INVALID_AUTH_REQUEST'])
    })
  }

  await t.test('a failed login is a page or JSON too, whatever it was posted as', async () => {
    const wrong = { authRequestId, username: 'admin', password: 'wrong' }
    for (const sent of [{ json: wrong }, { form: Object.entries(wrong) }]) {
      const page = await service.call(LOGIN, { headers: { accept: 'text/html' }, ...sent })
      assert.equal(page.status, 401)
      assert.ok(isHtml(page))
      assert.match(page.text, /role="alert"/)
      const told = await service.call(LOGIN, { headers: { accept: 'application/json' }, ...sent })
      assert.equal(told.status, 401)
      assert.ok(isJson(told))
      assert.equal(told.json().error.code, 'INVALID_AUTH')
    }
  })

  for (const accept of ['image/png', 'text/plain', '*/*;q=0']) {
    await t.test(`406 for ${accept}, and nothing is done`, async () => {
      const { authRequestId: fresh } = await beginLogin(service)
      const headers = { accept }
      for (const reply of [
        await service.call(`${LOGIN}?authRequestID=${fresh}`, { headers }),
        await service.call(LOGIN, { headers, json: { authRequestId: fresh, ...ADMIN } }),
      ]) {
        assert.equal(reply.status, 406)
        assert.equal(reply.json().error.code, 'NOT_ACCEPTABLE')
        assert.equal(reply.headers.location, undefined)
      }
      // The right password above has not finished it.
      const later = await service.call(LOGIN, { json: { authRequestId: fresh, ...ADMIN } })
      assert.ok(answerOf(later).get('code'))
    })
  }
})

test('R023: a body that is neither JSON nor a form is 415 with a body', async (t) => {
  const service = await startService(t)
  const { authRequestId } = await beginLogin(service)
  const body = JSON.stringify({ authRequestId, ...ADMIN })

  for (const type of [
    undefined,
    'text/plain',
    'text/json',
    'application/xml',
    'application/jsonx',
    'application/vnd.api+json',
    'multipart/form-data; boundary=x',
    'application',
    ';',
    'application/json, application/x-www-form-urlencoded',
  ]) {
    await t.test(`${type ?? 'no content type'} is refused`, async () => {
      for (const accept of ['application/json', 'text/html']) {
        const headers = { accept, ...(type === undefined ? {} : { 'content-type': type }) }
        const reply = await service.call(LOGIN, { body, headers })
        assert.equal(reply.status, 415)
        if (accept === 'text/html') assert.ok(isHtml(reply) && reply.text.length > 0)
        else assert.equal(reply.json().error.code, 'UNSUPPORTED_MEDIA_TYPE')
      }
    })
  }

  await t.test('the token endpoint reads a form alone (D-28)', async () => {
    for (const text of ['{"grant_type":"authorization_code"}', '{broken']) {
      const headers = { 'content-type': 'application/json' }
      const reply = await service.call('/oidc/token', { body: text, headers })
      assert.equal(reply.status, 415)
      assert.equal(reply.json().error, 'invalid_request')
    }
  })
})

test('R023: a body that cannot be read is 400', async (t) => {
  const service = await startService(t)
  const JSON_TYPE = 'application/json'
  const FORM_TYPE = 'application/x-www-form-urlencoded'

  async function refusal(body: string | Uint8Array, type: string) {
    const reply = await service.call(LOGIN, { body, headers: { 'content-type': type } })
    assert.equal(reply.status, 400)
    return reply.json().error
  }

  const unparsable: readonly (readonly [string, string | Uint8Array, string])[] = [
    ['half an object', '{"authRequestId":', JSON_TYPE],
    ['a trailing comma', '{"a":1,}', JSON_TYPE],
    ['two values', '{"a":1}{"b":2}', JSON_TYPE],
    ['a word', 'nope', JSON_TYPE],
    ['a comment', '{/* */}', JSON_TYPE],
    ['single quotes', "{'a':1}", JSON_TYPE],
    ['a member twice', '{"authRequestId":"a","authRequestId":"b"}', JSON_TYPE],
    ['bytes that are not UTF-8', Buffer.from('7b2261223a22ff227d', 'hex'), JSON_TYPE],
    ['a form that is called JSON', 'authRequestId=a&username=b', JSON_TYPE],
    ['a broken escape', 'authRequestId=%zz', FORM_TYPE],
    ['an escape that is not UTF-8', 'authRequestId=%ff', FORM_TYPE],
  ]
  for (const [title, body, type] of unparsable) {
    await t.test(`${title}: COULD_NOT_PARSE_BODY`, async () => {
      const error = await refusal(body, type)
      assert.equal(error.code, 'COULD_NOT_PARSE_BODY')
      assert.equal('cause' in error, false)
    })
  }

  for (const body of ['[]', '[{"authRequestId":"a"}]', '"text"', '7', 'null', 'true']) {
    await t.test(`${body} is JSON but no login: COULD_NOT_VALIDATE`, async () => {
      const error = await refusal(body, JSON_TYPE)
      assert.equal(error.code, 'COULD_NOT_VALIDATE')
      assert.deepEqual(error.cause, { field: 'body', reason: 'must be an object' })
    })
  }

  await t.test('an empty body counts as {}', async () => {
    const empty: readonly CallOptions[] = [
      { method: 'POST' },
      { body: '' },
      { body: '', headers: { 'content-type': JSON_TYPE } },
      { body: '', headers: { 'content-type': FORM_TYPE } },
      { body: '{}', headers: { 'content-type': JSON_TYPE } },
    ]
    for (const options of empty) {
      const reply = await service.call(LOGIN, options)
      assert.equal(reply.status, 400)
      assert.equal(reply.json().error.code, 'COULD_NOT_VALIDATE')
      assert.deepEqual(reply.json().error.cause, { field: 'authRequestId', reason: 'is missing' })
    }
  })

  await t.test('ignores unknown fields, and accepts every spelling of UTF-8 (D-4)', async () => {
    for (const type of [`${JSON_TYPE}; charset=utf-8`, 'APPLICATION/JSON', JSON_TYPE]) {
      const { authRequestId } = await beginLogin(service)
      const body = JSON.stringify({ authRequestId, ...ADMIN, sdkInfo: { type: 'x' }, more: [1] })
      const reply = await service.call(LOGIN, { body, headers: { 'content-type': type } })
      assert.ok(answerOf(reply).get('code'))
    }
  })
})
