/** What is refused under `telemetry`, with the words for it. D-43, D-139, R108: a value may be a credential. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FILE, loadFile, problemsOf } from '../../test/support/process/config-home.ts'

const ENDPOINT = 'https://collector.example.com/v1/traces'
const PLAIN = 'http://collector.example.com/v1/traces'
const NO_URL = 'is not a URL like https://collector.example.com:4318/v1/traces'
const PLAIN_WITH_HEADERS = 'is plain http to another machine, and there are headers; use https'

interface Case {
  readonly what: string
  readonly traces: unknown
  readonly path: string
  readonly message: string
}

const at = (key: string) => `telemetry.traces.${key}`
const headers = (what: string, given: unknown, message: string): Case => ({
  what,
  traces: { endpoint: ENDPOINT, headers: given },
  path: at('headers'),
  message,
})
const endpoint = (what: string, given: unknown, message: string): Case => ({
  what,
  traces: { endpoint: given },
  path: at('endpoint'),
  message,
})
const ratio = (given: unknown): Case => ({
  what: `the ratio ${JSON.stringify(given)}`,
  traces: { endpoint: ENDPOINT, sampleRatio: given },
  path: at('sampleRatio'),
  message: 'must be a number from 0 to 1',
})

const CASES: readonly Case[] = [
  endpoint('no endpoint', undefined, 'is missing'),
  endpoint('an empty endpoint', '', NO_URL),
  endpoint('an endpoint that is a path', '/v1/traces', NO_URL),
  endpoint('an endpoint of gRPC', 'grpc://collector:4317', NO_URL),
  endpoint('an endpoint that is a number', 4318, 'must be a URL'),
  endpoint(
    'an endpoint with a password',
    'https://me:hunter2@collector.example.com/',
    'carries a user or password; give those as headers',
  ),
  endpoint('an endpoint with a fragment', `${ENDPOINT}#x`, 'has a fragment, which is never sent'),
  {
    what: 'a credential in plain http to another machine',
    traces: { endpoint: PLAIN, headers: { authorization: 'hunter2' } },
    path: at('endpoint'),
    message: PLAIN_WITH_HEADERS,
  },
  headers('header fields that are a list', ['authorization'], 'must be a map of header fields'),
  headers('header fields that are text', 'a: b', 'must be a map of header fields'),
  headers('a header field that is a number', { a: 1 }, '"a" must be text'),
  headers('an empty header field', { a: '' }, '"a" is not printable ASCII text'),
  headers('a header field with a line end', { a: 'b\r\nc: d' }, '"a" is not printable ASCII text'),
  headers(
    'a name that is not valid',
    { 'a b': 'hunter2' },
    'has a name that is not a valid field name',
  ),
  headers('a field that is ours', { Host: 'hunter2' }, '"Host" is a field that we set'),
  headers(
    'too many fields',
    Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`x-${i}`, 'y'])),
    'has more than 16 fields',
  ),
  ...[-0.1, 1.1, 'half', '2', '', null, '0x1', '1e-3'].map(ratio),
  {
    what: 'an unknown key',
    traces: { endpoint: ENDPOINT, header: {} },
    path: at('header'),
    message: 'is not a known key; did you mean web[].options.timeouts.header?',
  },
]

for (const { what, traces, path, message } of CASES) {
  test(`${what} is refused`, async (t) => {
    assert.deepEqual(await problemsOf(t, { ...FILE, telemetry: { traces } }), [{ path, message }])
  })
}

test('a credential in plain http may go to a collector on this machine', async (t) => {
  for (const host of ['localhost', '127.0.0.1', '[::1]']) {
    const traces = { endpoint: `http://${host}:4318/v1/traces`, headers: { a: 'b' } }
    const { config } = await loadFile(t, { ...FILE, telemetry: { traces } })
    assert.equal(config.telemetry.traces?.endpoint.href, traces.endpoint)
  }
})

test('D-378: a receiver of links is https or on this machine, and its key is never shown', async (t) => {
  const secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`
  const url = 'https://hooks.example.com/latchkey'
  const short = `whsec_${Buffer.alloc(23, 7).toString('base64')}`
  const cases = [
    [
      { url: 'http://hooks.example.com/', secret },
      'url',
      'is plain http to another machine, which could read the links; use https',
    ],
    [{ url: 'ftp://x', secret }, 'url', `is not a URL like ${url}`],
    [{ url, secret: short }, 'secret', 'must be whsec_ and 24 to 64 bytes in base64'],
    [
      { url, secret: 'correct horse battery staple' },
      'secret',
      'must be whsec_ and 24 to 64 bytes in base64',
    ],
  ] as const
  for (const [webhook, key, message] of cases) {
    const problems = await problemsOf(t, { ...FILE, notifications: { webhook } })
    assert.deepEqual(problems, [{ path: `notifications.webhook.${key}`, message }])
  }
  for (const good of [url, 'http://127.0.0.1:8080/x', 'http://localhost/']) {
    const { config } = await loadFile(t, {
      ...FILE,
      notifications: { webhook: { url: good, secret } },
    })
    assert.equal(config.notifications.webhook?.url.href, good)
  }
})
