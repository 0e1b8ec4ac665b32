/** Why a gateway refused a request, from its log: D-406. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findLogLine, gatewayLines, gatewayMeaning } from './explain-gateway.ts'

const ZOE = { id: 'i1', name: 'zoe smith', roleAttributes: ['dev'] }

const unmet = (rule: string, required: unknown, more: object = {}) => ({
  requestId: 'r1',
  reason: 'rule-unmet',
  code: 'X',
  upstream: 'grafana',
  rule,
  required,
  ...more,
})

test('names a missing role, and the command that adds it to the existing ones', () => {
  const { what, todo } = gatewayMeaning(unmet('roles', ['ops', 'admins']), ZOE)
  assert.equal(
    what,
    'The upstream grafana requires one of "ops", "admins". The identity has "dev" now.',
  )
  assert.equal(todo, "latchkey update identity 'zoe smith' --role dev --role ops")
})

test('advises a refresh if the role was added after the token, and an update if the token has no roles', () => {
  const later = gatewayMeaning(unmet('roles', ['dev']), ZOE)
  assert.equal(later.todo, 'refresh the token')
  const unknown = gatewayMeaning(unmet('roles', ['dev'], { isUnknown: true }), ZOE)
  assert.match(unknown.what, /older controller/)
})

test('explains every other rule', () => {
  assert.match(gatewayMeaning(unmet('identities', ['i2']), ZOE).what, /only certain identities/)
  assert.match(gatewayMeaning(unmet('policies', ['strict']), ZOE).todo ?? '', /--policy strict$/)
  assert.match(gatewayMeaning(unmet('amr', ['totp']), undefined).what, /proved "totp"/)
  assert.match(gatewayMeaning(unmet('maxAge', 3_600_000), undefined).what, /3600 seconds/)
})

test('explains refusals without a rule, and requests that were not refused', () => {
  assert.match(gatewayMeaning({ reason: 'token-expired' }, undefined).todo ?? '', /refresh/)
  const ambiguous = { code: 'BAD_REQUEST', why: 'its path has dot segments' }
  assert.match(gatewayMeaning(ambiguous, undefined).what, /dot segments/)
  assert.match(gatewayMeaning({ status: 500 }, undefined).what, /upstream answered with status 500/)
  assert.match(gatewayMeaning({ code: 'toString' }, undefined).what, /toString/)
})

test('finds the line among lines of any form, in chunks of any size', async () => {
  const wanted = JSON.stringify({ requestId: 'r1', msg: 'request', status: 403 })
  const text = `not json r1\n{"requestId":"r2","note":"r1"}\n[1]\n${wanted}\n{"requestId":"r1","status":1}\n`
  const io = (size: number) => ({
    resolve: (path: string) => path,
    input: (async function* () {
      for (let at = 0; at < text.length; at += size) yield text.slice(at, at + size)
    })(),
  })
  for (const size of [1, 7, 1_000]) {
    assert.equal((await findLogLine('-', 'r1', io(size)))?.['status'], 403)
    assert.equal(await findLogLine('-', 'r3', io(size)), undefined)
  }
  await assert.rejects(findLogLine('/nowhere/gateway.log', 'r1', io(1)), /cannot read/)
})

test('prints no control characters from the log', () => {
  const line = { requestId: 'r1', method: 'GET', path: '/\u001b[2J', status: 403, code: 'X' }
  const lines = gatewayLines(line, gatewayMeaning(line, undefined), undefined)
  assert.ok(lines.every((text) => !text.includes('\u001b')))
})
