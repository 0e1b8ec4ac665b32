/** Posting to a real server on this machine, a good one and several bad ones. D-139. */
import assert from 'node:assert/strict'
import { createServer, type RequestListener } from 'node:http'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { listenUntilEnd } from '../../test/support/ports.ts'
import { Secret } from '../base/secrets/secret.ts'
import { milliseconds, seconds } from '../base/time/duration.ts'
import { createPostJson } from './post-json.ts'

async function serve(t: TestContext, listener: RequestListener): Promise<URL> {
  const port = await listenUntilEnd(t, createServer(listener))
  return new URL(`http://127.0.0.1:${port}/v1/traces?tenant=1`)
}

test('a value is posted as JSON, with the configured header fields', async (t) => {
  const received: unknown[] = []
  const endpoint = await serve(t, async (request, response) => {
    const { method, url, headers } = request
    const { authorization, 'content-type': type } = headers
    received.push({ method, url, authorization, type, body: await text(request) })
    response.writeHead(202).end('{}')
  })
  const post = createPostJson({ endpoint, headers: { Authorization: new Secret('Bearer token') } })
  await post({ a: 'ä' }, seconds(5))
  await post({ b: 1 }, seconds(5))
  const common = {
    method: 'POST',
    url: '/v1/traces?tenant=1',
    authorization: 'Bearer token',
    type: 'application/json',
  }
  assert.deepEqual(received, [
    { ...common, body: '{"a":"ä"}' },
    { ...common, body: '{"b":1}' },
  ])
})

for (const status of [301, 307, 400, 429, 503]) {
  test(`the status ${status} is a failure, and is not followed`, async (t) => {
    let asked = 0
    const endpoint = await serve(t, (_request, response) => {
      asked += 1
      response.writeHead(status, { location: '/elsewhere' }).end('hunter2')
    })
    const post = createPostJson({ endpoint, headers: {} })
    await assert.rejects(post({}, seconds(5)), {
      message: `the answer has the status ${status}`,
    })
    assert.equal(asked, 1)
  })
}

test('does not wait for a response that never comes, or does not end', async (t) => {
  const silent = await serve(t, () => {})
  const endless = await serve(t, (_request, response) => void response.writeHead(200).write('…'))
  for (const endpoint of [silent, endless]) {
    const post = createPostJson({ endpoint, headers: {} })
    await assert.rejects(post({}, milliseconds(50)), { message: /^it took longer than / })
  }
})

test('does not wait for a server that switches to another protocol', async (t) => {
  const endpoint = await serve(t, (_request, response) => {
    response.writeHead(101, { connection: 'upgrade', upgrade: 'x' }).end()
  })
  const post = createPostJson({ endpoint, headers: {} })
  await assert.rejects(post({}, seconds(60)), {
    message: 'the host switched protocols without a request',
  })
})

test('an unreachable server is a failure with only its code', async (t) => {
  const endpoint = await serve(t, () => {})
  const gone = new URL(endpoint)
  gone.port = '1'
  const post = createPostJson({ endpoint: gone, headers: {} })
  await assert.rejects(post({}, seconds(5)), {
    message: 'the host could not be reached (ECONNREFUSED)',
  })
})
