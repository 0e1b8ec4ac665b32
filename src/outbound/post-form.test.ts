/** Posting to real servers on this machine. The rules about addresses are those of fetch-json.ts, tested there. R106. */
import assert from 'node:assert/strict'
import { createServer, type RequestListener } from 'node:http'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { listenUntilEnd } from '../../test/support/ports.ts'
import { milliseconds } from '../base/time/duration.ts'
import { createPostForm } from './post-form.ts'

const RULES = { allowHttp: false, blockPrivateAddresses: false, allowed: [], denied: [] }

async function serve(t: TestContext, listener: RequestListener): Promise<string> {
  const port = await listenUntilEnd(t, createServer(listener))
  return `http://127.0.0.1:${port}`
}

test('the fields are sent as a form, with nothing else', async (t) => {
  const asked: unknown[] = []
  const origin = await serve(t, async (request, response) => {
    const { method, url, headers } = request
    asked.push({ method, url, headers: { ...headers }, body: await text(request) })
    response.end('{"ok":true}')
  })
  const answer = await createPostForm(RULES)(`${origin}/token`, { code: 'a&b=c', more: 'ä +' })
  assert.deepEqual(answer, { status: 200, value: { ok: true } })
  const body = 'code=a%26b%3Dc&more=%C3%A4+%2B'
  const headers = {
    accept: 'application/json',
    'accept-encoding': 'identity',
    'user-agent': 'latchkey',
    'content-type': 'application/x-www-form-urlencoded',
    'content-length': String(body.length),
    host: new URL(origin).host,
    connection: 'close',
  }
  assert.deepEqual(asked, [{ method: 'POST', url: '/token', headers, body }])
})

for (const status of [400, 401]) {
  test(`an answer with ${status} says why, and is read`, async (t) => {
    const origin = await serve(t, (_, response) => {
      response.writeHead(status).end('{"error":"invalid_grant"}')
    })
    const answer = await createPostForm(RULES)(origin, {})
    assert.deepEqual(answer, { status, value: { error: 'invalid_grant' } })
  })
}

for (const status of [201, 204, 302, 307, 403, 404, 500, 503]) {
  test(`a response with ${status} is a failure, and is not followed`, async (t) => {
    let asked = 0
    const origin = await serve(t, (_, response) => {
      asked += 1
      response.writeHead(status, { location: '/elsewhere' }).end()
    })
    const isRedirect = status === 302 || status === 307
    const message = isRedirect
      ? `the answer is a redirect (${status}); those are not followed`
      : `the answer has the status ${status}`
    await assert.rejects(createPostForm(RULES)(origin, {}), { message })
    assert.equal(asked, 1)
  })
}

test('R106: a private address is not posted to where those are blocked', async (t) => {
  let asked = 0
  const origin = await serve(t, (_, response) => {
    asked += 1
    response.end('{}')
  })
  const post = createPostForm({ ...RULES, blockPrivateAddresses: true })
  const message = 'the host has a private address, and the configuration blocks those'
  await assert.rejects(post(origin, { code: 'secret' }), { message })
  assert.equal(asked, 0)
})

test('does not wait for a response that never comes', async (t) => {
  const origin = await serve(t, () => {})
  const post = createPostForm(RULES, { timeLimit: milliseconds(100) })
  await assert.rejects(post(origin, {}), /^Error: it took longer than /)
})
