/**
 * Fetching from real servers on this machine, good ones and all kinds of bad ones. R106, API 4.5. Which addresses
 * are refused is tested beside address-rules.ts.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, createServer as createSocketServer, type Socket } from 'node:net'
import { env } from 'node:process'
import { type TestContext, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { listenUntilEnd } from '../../test/support/ports.ts'
import { parseHostOrNetwork } from '../base/network.ts'
import { systemRandom } from '../base/secrets/random.ts'
import { systemClock } from '../base/time/clock.ts'
import { days, hours, milliseconds, minutes, seconds } from '../base/time/duration.ts'
import { minus, plus } from '../base/time/instant.ts'
import { newKeyPair, signCertificate } from '../domain/certificates/write-certificate.ts'
import type { FetchOptions, FetchRules } from './checked-request.ts'
import { createFetchJson } from './fetch-json.ts'

const RULES: FetchRules = {
  allowHttp: false,
  blockPrivateAddresses: false,
  allowed: [],
  denied: [],
}
const LIMIT = 256 * 1024
const SHORT = { timeLimit: milliseconds(150) }

const DOCUMENT = { keys: [{ kid: 'ä' }] }
const good: RequestListener = (_request, response) => response.end(JSON.stringify(DOCUMENT))

/** Where plain servers can be reached: `http://127.0.0.1:PORT`. */
async function serve(t: TestContext, listener: RequestListener): Promise<string> {
  return `http://127.0.0.1:${await listenUntilEnd(t, createServer(listener))}`
}

/** What the fetch says when it fails; fails the test when it does not. */
async function failureOf(
  url: string,
  rules: Partial<FetchRules> = {},
  options: FetchOptions = { timeLimit: seconds(5) },
): Promise<string> {
  const outcome = await createFetchJson(
    { ...RULES, ...rules },
    options,
  )(url).then(
    () => undefined,
    (error: unknown) => error,
  )
  assert.ok(outcome instanceof Error, 'the fetch succeeds')
  return outcome.message
}

test('a document is fetched with one plain question', async (t) => {
  const asked: unknown[] = []
  const origin = await serve(t, (request, response) => {
    asked.push({ method: request.method, url: request.url, headers: { ...request.headers } })
    good(request, response)
  })
  assert.deepEqual(await createFetchJson(RULES)(`${origin}/jwks?v=1#part`), DOCUMENT)
  assert.deepEqual(asked, [
    {
      method: 'GET',
      url: '/jwks?v=1',
      headers: {
        accept: 'application/json',
        'accept-encoding': 'identity',
        'user-agent': 'latchkey',
        host: new URL(origin).host,
        connection: 'close',
      },
    },
  ])
})

for (const [what, listener] of [
  ['a good answer', good],
  ['a refused one', (_request, response) => response.writeHead(500).write('more to come')],
] as const satisfies [string, RequestListener][]) {
  test(`leaves no connection open after ${what}`, { timeout: 60_000 }, async (t) => {
    const sockets: Socket[] = []
    const server = createServer({ keepAlive: true }, listener)
    server.on('connection', (socket) => sockets.push(socket))
    const port = await listenUntilEnd(t, server)
    // The time limit would close it too, so it is far away.
    const fetchJson = createFetchJson(RULES, { timeLimit: minutes(10) })
    await fetchJson(`http://127.0.0.1:${port}/`).catch(() => undefined)
    const [socket] = sockets
    assert.ok(socket)
    if (!socket.destroyed) await once(socket, 'close')
    assert.equal(sockets.length, 1)
  })
}

for (const status of [301, 302, 303, 304, 307, 308]) {
  test(`R106: a redirect with ${status} is refused and not followed`, async (t) => {
    // Attack: a harmless host sends the service on to an address that would have been refused.
    const asked: unknown[] = []
    const origin = await serve(t, (request, response) => {
      asked.push(request.url)
      response.writeHead(status, { location: '/inside' }).end()
    })
    assert.equal(
      await failureOf(`${origin}/jwks`),
      `the answer is a redirect (${status}); those are not followed`,
    )
    assert.deepEqual(asked, ['/jwks'])
  })
}

for (const status of [201, 204, 206, 400, 401, 404, 429, 500, 503]) {
  test(`a response with the status ${status} is a failure`, async (t) => {
    const origin = await serve(t, (_request, response) => {
      response.writeHead(status).end(status === 204 ? undefined : '{"keys":[]}')
    })
    assert.equal(await failureOf(origin), `the answer has the status ${status}`)
  })
}

const NO_JSON: readonly [string, string | Uint8Array][] = [
  ['nothing', ''],
  ['a page', '<!doctype html><p>token-of-somebody'],
  ['JSON cut short', '{"keys":['],
  ['JSON with something behind it', '{} token-of-somebody'],
  ['JSON that is not UTF-8', Uint8Array.of(0x22, 0xff, 0x22)],
  ['a member named twice', '{"keys":[],"keys":[1]}'],
  ['nesting without end', `${'['.repeat(33)}${']'.repeat(33)}`],
]

for (const [what, body] of NO_JSON) {
  test(`${what} is refused, and the message shows nothing of it`, async (t) => {
    const origin = await serve(t, (_request, response) => response.end(body))
    assert.equal(await failureOf(origin), 'the answer is not JSON that can be read')
  })
}

test('R106: a compressed answer is refused', async (t) => {
  // Attack: a few kilobytes that unpack to gigabytes.
  const origin = await serve(t, (_request, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('{}'))
  })
  assert.equal(await failureOf(origin), 'the answer is compressed')
})

test('an answer that says it is not compressed is fine', async (t) => {
  const origin = await serve(t, (request, response) => {
    response.setHeader('content-encoding', 'Identity')
    good(request, response)
  })
  assert.deepEqual(await createFetchJson(RULES)(origin), DOCUMENT)
})

test('R106: 256 KiB are read, and one byte more is refused', async (t) => {
  const text = (size: number) => `"${'x'.repeat(size - 2)}"`
  const origin = await serve(t, ({ url }, response) => {
    response.end(text(url === '/more' ? LIMIT + 1 : LIMIT))
  })
  assert.equal(String(await createFetchJson(RULES)(origin)).length, LIMIT - 2)
  assert.equal(await failureOf(`${origin}/more`), 'the answer is larger than 256 KiB')
})

test('R106: an answer without end is refused at the limit, and nothing more is read', async (t) => {
  const closed: Promise<unknown>[] = []
  const origin = await serve(t, (_request, response) => {
    closed.push(once(response, 'close'))
    const more = (): void => {
      while (!response.destroyed && response.write(' '.repeat(16_384)));
    }
    response.on('drain', more)
    more()
  })
  assert.equal(await failureOf(origin), 'the answer is larger than 256 KiB')
  await Promise.all(closed)
  assert.equal(closed.length, 1)
})

test('R106: an answer that announces too much is refused before its body', async (t) => {
  const origin = await serve(t, (_request, response) => {
    response.writeHead(200, { 'content-length': LIMIT + 1 }).flushHeaders()
  })
  assert.equal(await failureOf(origin), 'the answer is larger than 256 KiB')
})

const SLOW: readonly [string, RequestListener][] = [
  ['never answers', () => undefined],
  ['sends its header and nothing more', (_request, response) => response.flushHeaders()],
  [
    'sends a byte now and then',
    (_request, response) => {
      const timer = setInterval(() => response.write(' '), 10)
      response.on('close', () => clearInterval(timer))
    },
  ],
]

for (const [what, listener] of SLOW) {
  test(`R106: a host that ${what} is given up in time`, async (t) => {
    const origin = await serve(t, listener)
    assert.match(await failureOf(origin, {}, SHORT), /^it took longer than /)
  })
}

test('R106: a host that accepts a connection and is silent in TLS is given up in time', async (t) => {
  const port = await listenRaw(t, () => undefined)
  assert.match(await failureOf(`https://127.0.0.1:${port}`, {}, SHORT), /^it took longer than /)
})

test('R106: gives up in time on a name that takes forever to resolve', async () => {
  const resolve = () => new Promise<never>(() => undefined)
  const timer = setTimeout(() => undefined, 10_000)
  const failure = await failureOf('https://idp.example', {}, { ...SHORT, resolve })
  clearTimeout(timer)
  assert.match(failure, /^it took longer than /)
})

test('a name that does not resolve is named by its code', async () => {
  const resolve = () => Promise.reject(Object.assign(new Error('x'), { code: 'ENOTFOUND' }))
  const failure = await failureOf('https://idp.example', {}, { resolve })
  assert.equal(failure, 'the host could not be reached (ENOTFOUND)')
  const nothing = await failureOf('https://idp.example', {}, { resolve: async () => [] })
  assert.equal(nothing, 'the host has no address')
})

test('a host that is down is named by its code', async (t) => {
  const origin = await new Promise<string>((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(`http://127.0.0.1:${port}`))
    })
    t.after(() => server.close())
  })
  assert.equal(await failureOf(origin), 'the host could not be reached (ECONNREFUSED)')
})

const BROKEN: readonly [string, string, string][] = [
  ['speaks no HTTP', 'SSH-2.0-token-of-somebody\r\n', '(HPE_INVALID_CONSTANT)'],
  ['hangs up', '', '(ECONNRESET)'],
  ['hangs up in the body', 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{', '(ECONNRESET)'],
]

for (const [what, answer, code] of BROKEN) {
  test(`a host that ${what} is named by the code of the fault`, async (t) => {
    const port = await listenRaw(t, (socket) => socket.once('data', () => socket.end(answer)))
    const failure = await failureOf(`http://127.0.0.1:${port}`)
    assert.equal(failure, `the host could not be reached ${code}`)
  })
}

test('a host that wants to change the protocol is refused', async (t) => {
  const answer = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'
  const port = await listenRaw(t, (socket) => socket.once('data', () => socket.write(answer)))
  const failure = await failureOf(`http://127.0.0.1:${port}`)
  assert.match(failure, /^the (?:connection ended without an answer|host could not be reached)/)
})

const BAD_URLS: readonly [string, string][] = [
  ['', 'it is not a URL'],
  ['/jwks', 'it is not a URL'],
  ['https://', 'it is not a URL'],
  ['file:///etc/passwd', 'the URL is not https'],
  ['data:application/json,{}', 'the URL is not https'],
  ['ftp://idp.example/', 'the URL is not https'],
  ['https://me:pass@idp.example/', 'the URL carries credentials'],
  ['http://idp.example/', 'the URL is plain http to another machine'],
  ['http://10.0.0.1/', 'the URL is plain http to another machine'],
  ['http://localhost.idp.example/', 'the URL is plain http to another machine'],
  ['http://127.0.0.1.nip.io/', 'the URL is plain http to another machine'],
  ['https://169.254.169.254/latest', 'the host has an address of a cloud metadata service'],
  ['https://2852039166/', 'the host has an address of a cloud metadata service'],
  ['https://0xa9fea9fe/', 'the host has an address of a cloud metadata service'],
  ['https://[::ffff:169.254.169.254]/', 'the host has an address of a cloud metadata service'],
  ['https://[fe80::1]/', 'the host has a link-local address'],
  ['https://0/', 'the host has an address that does not belong to a single host'],
  ['https://[fe80::1%25eth0]/', 'it is not a URL'],
]

for (const [url, failure] of BAD_URLS) {
  test(`R106: ${JSON.stringify(url)} is refused before any request`, async () => {
    const resolve = () => Promise.reject(new Error('nobody is resolved'))
    assert.equal(await failureOf(url, {}, { resolve }), failure)
  })
}

test('R106: a host is resolved once, and the connection goes to what was checked', async (t) => {
  // Attack: a name that answers with a good address when it is checked and with another when it is used.
  const hosts: unknown[] = []
  const port = await listenUntilEnd(
    t,
    createServer((request, response) => {
      hosts.push(request.headers.host)
      good(request, response)
    }),
  )
  const answers = ['127.0.0.1', '169.254.169.254']
  const resolve = async () => [{ address: answers.shift() ?? '', family: 4 }]
  const fetchJson = createFetchJson({ ...RULES, allowHttp: true }, { resolve })
  assert.deepEqual(await fetchJson(`http://idp.invalid:${port}/`), DOCUMENT)
  assert.deepEqual(hosts, [`idp.invalid:${port}`])
  assert.deepEqual(answers, ['169.254.169.254'])
})

test('R106: one refused address refuses the host, and no request is sent', async (t) => {
  let connections = 0
  const server = createServer(good).on('connection', () => (connections += 1))
  const port = await listenUntilEnd(t, server)
  const resolve = async () => [
    { address: '127.0.0.1', family: 4 },
    { address: 'fe80::1%lo', family: 6 },
  ]
  const failure = await failureOf(`http://idp.invalid:${port}/`, { allowHttp: true }, { resolve })
  assert.equal(failure, 'the host has a link-local address')
  assert.equal(connections, 0)
})

test('a second address is tried when the first one does not answer', async (t) => {
  const port = await listenUntilEnd(t, createServer(good))
  const resolve = async () => [
    { address: '::1', family: 6 },
    { address: '127.0.0.1', family: 4 },
  ]
  assert.deepEqual(await createFetchJson(RULES, { resolve })(`http://localhost:${port}`), DOCUMENT)
})

test('R106: plain http to localhost is refused when that is another machine', async () => {
  const resolve = async () => [{ address: '10.0.0.1', family: 4 }]
  assert.equal(
    await failureOf('http://localhost/', {}, { resolve }),
    'the URL is plain http to another machine',
  )
})

test('R106: the rules of the configuration count for this machine too', async (t) => {
  const port = await listenUntilEnd(t, createServer(good))
  const url = `http://127.0.0.1:${port}/`
  const here = parseHostOrNetwork('127.0.0.0/8')
  assert.ok(here)
  const blocked = { blockPrivateAddresses: true }
  assert.equal(
    await failureOf(url, blocked),
    'the host has a private address, and the configuration blocks those',
  )
  const lifted = createFetchJson({ ...RULES, ...blocked, allowed: [here] })
  assert.deepEqual(await lifted(url), DOCUMENT)
  assert.equal(
    await failureOf(url, { ...blocked, allowed: [here], denied: [here] }),
    'the host is denied by the configuration',
  )
})

test('R106: a denied name is denied with a dot at its end too', async () => {
  const denied = [{ kind: 'host', host: 'idp.example' }] as const
  const resolve = async () => [{ address: '93.184.216.34', family: 4 }]
  assert.equal(
    await failureOf('https://IDP.example./', { denied }, { resolve }),
    'the host is denied by the configuration',
  )
})

test('a document is fetched over TLS from a host whose certificate is trusted', async (t) => {
  const { port, authority } = await serveTls(t, 'idp.example')
  const resolve = async () => [{ address: '127.0.0.1', family: 4 }]
  const fetchJson = createFetchJson(RULES, { resolve, authorities: [authority] })
  assert.deepEqual(await fetchJson(`https://idp.example:${port}/`), DOCUMENT)
})

test('R106: a certificate for another name, or of an untrusted CA, is refused', async (t) => {
  const { port, authority } = await serveTls(t, 'idp.example')
  const resolve = async () => [{ address: '127.0.0.1', family: 4 }]
  assert.equal(
    await failureOf(`https://other.example:${port}/`, {}, { resolve, authorities: [authority] }),
    'the host could not be reached (ERR_TLS_CERT_ALTNAME_INVALID)',
  )
  assert.equal(
    await failureOf(`https://idp.example:${port}/`, {}, { resolve }),
    'the host could not be reached (UNABLE_TO_VERIFY_LEAF_SIGNATURE)',
  )
})

test('R106: no environment variable switches the verification off', async (t) => {
  const { port } = await serveTls(t, 'idp.example')
  const resolve = async () => [{ address: '127.0.0.1', family: 4 }]
  env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0'
  // biome-ignore lint/style/noProcessEnv: this variable is what must not count
  t.after(() => delete env['NODE_TLS_REJECT_UNAUTHORIZED'])
  assert.equal(
    await failureOf(`https://idp.example:${port}/`, {}, { resolve }),
    'the host could not be reached (UNABLE_TO_VERIFY_LEAF_SIGNATURE)',
  )
})

/** A server that does with each connection whatever it likes. */
async function listenRaw(t: TestContext, accept: (socket: Socket) => void): Promise<number> {
  return listenUntilEnd(
    t,
    createSocketServer((socket) => accept(socket.on('error', () => undefined))),
  )
}

/** A good server with a certificate for this name, and the PEM of the authority behind it. */
async function serveTls(
  t: TestContext,
  name: string,
): Promise<{ readonly port: number; readonly authority: string }> {
  const now = systemClock.now()
  const times = { notBefore: minus(now, hours(1)), notAfter: plus(now, days(1)) }
  const [root, leaf] = [await newKeyPair(), await newKeyPair()]
  const authority = signCertificate(
    {
      ...times,
      commonName: 'Root',
      publicKey: root.publicKey,
      profile: { kind: 'authority' },
    },
    { privateKey: root.privateKey },
    systemRandom,
  )
  const certificate = signCertificate(
    {
      ...times,
      commonName: name,
      publicKey: leaf.publicKey,
      profile: { kind: 'server', names: [{ type: 'dns', value: name }] },
    },
    { certificate: authority, privateKey: root.privateKey },
    systemRandom,
  )
  const server = createTlsServer(
    {
      cert: certificate.toString(),
      key: leaf.privateKey.export({ format: 'pem', type: 'pkcs8' }),
    },
    good,
  )
  const port = await listenUntilEnd(t, server)
  return { port, authority: authority.toString() }
}
