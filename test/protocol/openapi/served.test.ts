/** Where the OpenAPI documents and their pages are, and what a listener without an API has of it. API 1. */
import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import https from 'node:https'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { startService } from '../../support/service.ts'

const PREFIXES = ['/edge/client/v1', '/edge/management/v1']

test('the documents and the reference pages of both APIs are public', async (t) => {
  const service = await startService(t)
  for (const prefix of PREFIXES) {
    await t.test(`${prefix}/openapi.json describes the API that serves it`, async () => {
      const reply = await service.call(`${prefix}/openapi.json`)
      assert.equal(reply.status, 200)
      assert.equal(reply.headers['content-type'], 'application/json')
      assert.equal(reply.headers['www-authenticate'], undefined)
      const { openapi, servers, info, paths } = reply.json()
      assert.match(openapi, /^3\.1\./)
      assert.deepEqual(servers, [{ url: prefix }])
      const version = await service.call(`${prefix}/version`)
      assert.equal(info.version, version.json().data.version)
      assert.ok(paths['/current-api-session'].get !== undefined)
      assert.equal(paths['/identities'] !== undefined, prefix.includes('management'))
    })

    await t.test(
      `${prefix}/docs shows every call of the document on a page without scripts`,
      async () => {
        const { paths } = (await service.call(`${prefix}/openapi.json`)).json()
        const reply = await service.call(`${prefix}/docs`)
        assert.equal(reply.status, 200)
        assert.equal(reply.headers['content-type'], 'text/html; charset=utf-8')
        const policy = String(reply.headers['content-security-policy'])
        assert.match(policy, /default-src 'none'/)
        assert.doesNotMatch(policy, /unsafe/)
        assert.doesNotMatch(reply.text, /<script/)
        for (const [path, calls] of Object.entries<Record<string, { summary: string }>>(paths)) {
          assert.ok(reply.text.includes(`<code>${path}</code>`), path)
          for (const { summary } of Object.values(calls))
            assert.ok(reply.text.includes(summary), summary)
        }
      },
    )

    await t.test(
      `${prefix}/openapi.json can be read from a listed origin and not posted to`,
      async () => {
        const reply = await service.call(`${prefix}/openapi.json`, { method: 'POST' })
        assert.equal(reply.status, 405)
        assert.equal(reply.json().error.code, 'METHOD_NOT_ALLOWED')
        assert.equal(reply.headers.allow, 'GET, HEAD')
      },
    )
  }
})

test('compresses large documents for callers that accept it, and sends them once', async (t) => {
  const service = await startService(t)
  // Raw bytes: the client of the other tests would decode them as text.
  const get = (path: string, headers: Readonly<Record<string, string>>) =>
    new Promise<{ message: IncomingMessage; bytes: Buffer }>((resolve, reject) => {
      const options = { ca: service.ca, headers, agent: false } as const
      https
        .get(`${service.baseUrl}${path}`, options, (message) => {
          buffer(message).then((bytes) => resolve({ message, bytes }), reject)
        })
        .on('error', reject)
    })
  for (const path of PREFIXES.flatMap((prefix) => [`${prefix}/openapi.json`, `${prefix}/docs`])) {
    const plain = await get(path, {})
    assert.equal(plain.message.headers['content-encoding'], undefined)
    const tags = new Set([plain.message.headers.etag])
    for (const [coding, decode] of [
      ['gzip', gunzipSync],
      ['br', brotliDecompressSync],
    ] as const) {
      await t.test(`${path} as ${coding}`, async () => {
        const { message, bytes } = await get(path, { 'accept-encoding': coding })
        assert.equal(message.statusCode, 200)
        assert.equal(message.headers['content-encoding'], coding)
        assert.equal(message.headers['content-length'], String(bytes.length))
        assert.match(String(message.headers.vary), /Accept-Encoding/)
        assert.ok(bytes.length * 4 < plain.bytes.length, 'it is much smaller')
        assert.ok(decode(bytes).equals(plain.bytes))
        const etag = String(message.headers.etag)
        tags.add(etag)
        const asked = { 'accept-encoding': coding, 'if-none-match': `W/"other", ${etag}` }
        const again = await get(path, asked)
        assert.equal(again.message.statusCode, 304)
        assert.equal(again.message.headers.etag, etag)
        assert.equal(again.bytes.length, 0)
      })
    }
    assert.equal(tags.size, 3, 'each form has a validator of its own')
    await t.test(`${path} uncompressed for callers that refuse every coding`, async () => {
      for (const refusing of ['gzip;q=0, br;q=0', 'zstd', 'identity']) {
        const { message, bytes } = await get(path, { 'accept-encoding': refusing })
        assert.equal(message.headers['content-encoding'], undefined)
        assert.ok(bytes.equals(plain.bytes))
      }
    })
  }
})

test('a listener that does not bind the management API has no document of it', async (t) => {
  const service = await startService(t, {
    config: {
      web: [
        {
          name: 'client',
          bindPoints: [{ interface: '127.0.0.1:0', address: 'localhost:0' }],
          apis: [{ binding: 'edge-client' }],
        },
      ],
    },
  })
  const reply = await service.call('/edge/management/v1/openapi.json')
  assert.equal(reply.status, 404)
  assert.equal(reply.json().error.code, 'NOT_FOUND')
})
