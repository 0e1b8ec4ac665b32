import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  LoginRefused,
  RateLimited,
  Refused,
  ServerUnavailable,
  UnexpectedAnswer,
} from '../errors.ts'
import { isLost, refusalOf } from './answers.ts'

function answer(status: number, body: unknown = {}, headers: Record<string, string> = {}) {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return { status, headers: new Headers(headers), body: Buffer.from(text) }
}
const api = (code: string) => ({ error: { code, message: 'a sentence' } })

test('a refusal of an API and one of an OAuth endpoint are reported by their code', () => {
  const refused = refusalOf(answer(409, api('TOO_MANY_CERTIFICATES')), 'this')
  assert.ok(refused instanceof Refused)
  assert.equal(refused.code, 'TOO_MANY_CERTIFICATES')
  assert.equal(refusalOf(answer(400, { error: 'invalid_grant' }), 'this').code, 'invalid_grant')
  assert.ok(refusalOf(answer(401, api('INVALID_AUTH')), 'this') instanceof LoginRefused)
})

test('429 and 503 say when to come back, where they say it in seconds', () => {
  const limited = refusalOf(answer(429, api('RATE_LIMITED'), { 'retry-after': '30' }), 'this')
  assert.ok(limited instanceof RateLimited)
  assert.equal(limited.retryAfterSeconds, 30)
  const date = { 'retry-after': 'Wed, 21 Oct 2026 07:28:00 GMT' }
  const busy = refusalOf(answer(503, api('SERVER_TOO_BUSY'), date), 'this')
  assert.ok(busy instanceof ServerUnavailable)
  assert.equal(busy.retryAfterSeconds, undefined)
})

test('only what a proxy lost counts as lost; 503 says that nothing happened', () => {
  for (const [status, mayHaveHappened, lost] of [
    [500, true, false],
    [502, true, true],
    [503, false, false],
    [504, true, true],
  ] as const) {
    for (const body of ['<h1>no</h1>', api('UPSTREAM')]) {
      const error = refusalOf(answer(status, body), 'this')
      assert.ok(error instanceof ServerUnavailable)
      assert.equal(error.mayHaveHappened, mayHaveHappened, String(status))
      assert.equal(isLost(error), lost, String(status))
    }
  }
})

test('what a server says in its own words is nowhere in an error', () => {
  const secret = 'correct horse battery'
  for (const body of [api(secret), { error: secret, error_description: secret }, secret]) {
    const error = refusalOf(answer(400, body, { 'x-request-id': secret }), 'this')
    assert.ok(error instanceof UnexpectedAnswer)
    assert.equal(JSON.stringify(error).includes(secret) || error.message.includes(secret), false)
  }
})

test('a success or a redirect where neither is expected is not a refusal', () => {
  for (const status of [200, 204, 302]) {
    assert.ok(refusalOf(answer(status, api('NOT_FOUND')), 'this') instanceof UnexpectedAnswer)
  }
})
