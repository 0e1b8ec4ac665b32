/**
 * The issuer comes from the bind point that the Host names, and from nothing else: SPEC Authentication 9, D-2. The set
 * is closed; a Host outside it is refused on every path of the provider (R058).
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { connectRaw, type RawReply } from '../../support/edge/raw-connection.ts'
import { type Service, startService } from '../../support/service.ts'

const DISCOVERY = '/oidc/.well-known/openid-configuration'

/** One request with exactly these header fields. */
async function ask(
  t: TestContext,
  service: Service,
  fields: readonly string[],
  { line = `GET ${DISCOVERY}`, version = '1.1' } = {},
): Promise<RawReply> {
  const { port } = new URL(service.baseUrl)
  const connection = await connectRaw(service, { at: `https://127.0.0.1:${port}` })
  t.after(() => connection.socket.destroy())
  const head = [`${line} HTTP/${version}`, ...fields, 'Connection: close']
  connection.send(Buffer.from(`${head.join('\r\n')}\r\n\r\n`, 'latin1'))
  const reply = await connection.reply()
  connection.socket.destroy()
  assert.ok(reply !== undefined, 'there is an answer')
  return reply
}

test('the Host of a request', async (t) => {
  const service = await startService(t)
  const { port } = new URL(service.baseUrl)

  for (const [host, issuer] of [
    [`localhost:${port}`, `https://localhost:${port}/oidc`],
    [`127.0.0.1:${port}`, `https://127.0.0.1:${port}/oidc`],
    [`[::1]:${port}`, `https://[::1]:${port}/oidc`],
    [`LocalHOST:${port}`, `https://localhost:${port}/oidc`],
  ] as const) {
    await t.test(`${host.replace(port, 'PORT')} is a bind point and has its issuer`, async (t) => {
      const reply = await ask(t, service, [`Host: ${host}`])
      assert.equal(reply.status, 200)
      assert.equal(reply.json().issuer, issuer)
    })
  }

  // Attack: a Host of the attacker's choice in the discovery document, kept by a cache, sends other clients to his
  // endpoints and makes tokens of an issuer that is not ours.
  const strangers = [
    'evil.example',
    `evil.example:${port}`,
    'localhost',
    'localhost:443',
    `localhost:${Number(port) + 1}`,
    `localhost:0${port}`,
    `localhost.:${port}`,
    `localhost:${port}.evil.example`,
    `localhost:${port}@evil.example`,
    `evil.example@localhost:${port}`,
    `127.0.0.1.:${port}`,
    `127.1:${port}`,
    `localhost:${port}/`,
    `localhost:${port}, evil.example`,
    `localhost :${port}`,
    `::1:${port}`,
    '',
  ]
  for (const host of strangers) {
    await t.test(`"${host.replaceAll(port, 'PORT')}" is none of ours: 421`, async (t) => {
      const reply = await ask(t, service, [`Host: ${host}`])
      assert.equal(reply.status, 421)
      assert.equal(reply.json().error, 'invalid_request')
      assert.doesNotMatch(reply.text, /evil/)
    })
  }

  const elsewhere: readonly (readonly [line: string, code: (reply: RawReply) => string])[] = [
    ...[
      'GET /.well-known/openid-configuration',
      'GET /.well-known/openid-configuration/oidc',
      'GET /.well-known/oauth-authorization-server/oidc',
      'GET /oidc/authorization?client_id=service',
      'POST /oidc/authorization',
      'POST /oidc/token',
      'GET /oidc/keys',
    ].map((line) => [line, (reply: RawReply) => reply.json().error] as const),
    ...[
      'GET /oidc/login/username?authRequestID=x',
      'POST /oidc/login/username',
      'GET /oidc/login/password?authRequestID=x',
      'POST /oidc/login/password',
    ].map((line) => [line, (reply: RawReply) => reply.json().error.code] as const),
  ]
  for (const [line, code] of elsewhere) {
    await t.test(`a stranger's Host is refused at ${line.split('?')[0]}`, async (t) => {
      const reply = await ask(t, service, ['Host: evil.example'], { line })
      assert.equal(reply.status, 421)
      assert.ok(['invalid_request', 'MISDIRECTED_REQUEST'].includes(code(reply)))
    })
  }

  const good = `Host: localhost:${port}`
  for (const [title, fields] of [
    ['twice with two values', [good, 'Host: evil.example']],
    ['twice with two values, ours last', ['Host: evil.example', good]],
    ['twice with one value', [good, good]],
    ['not at all', []],
  ] as const) {
    await t.test(`given ${title} is 400, on every path`, async (t) => {
      for (const path of [DISCOVERY, '/oidc/keys', '/version', '/nothing']) {
        const reply = await ask(t, service, fields, { line: `GET ${path}` })
        assert.equal(reply.status, 400)
        const { error } = reply.json()
        assert.equal(
          error.code ?? error,
          path.startsWith('/oidc') ? 'invalid_request' : 'BAD_REQUEST',
        )
      }
    })
  }

  await t.test('is needed on the provider paths of HTTP/1.0 too', async (t) => {
    const reply = await ask(t, service, [], { version: '1.0' })
    assert.equal(reply.status, 400)
    assert.equal(reply.json().error, 'invalid_request')
    const elsewhereThanOidc = await ask(t, service, [], { line: 'GET /version', version: '1.0' })
    assert.equal(elsewhereThanOidc.status, 200)
  })

  await t.test('is not overruled by what proxies add', async (t) => {
    const reply = await ask(t, service, [
      good,
      'X-Forwarded-Host: evil.example',
      'X-Forwarded-Proto: http',
      'X-Forwarded-Port: 80',
      'X-Host: evil.example',
      'Forwarded: host=evil.example;proto=http',
    ])
    assert.equal(reply.status, 200)
    assert.equal(reply.json().issuer, `${service.baseUrl}/oidc`)
    assert.doesNotMatch(reply.text, /evil/)
  })
})

test('an address at port 443 is an issuer without a port, and may be asked either way', async (t) => {
  const service = await startService(t, {
    config: {
      web: [
        {
          name: 'only',
          bindPoints: [
            { interface: '127.0.0.1:0', address: 'localhost:0' },
            { interface: '127.0.0.1:0', address: 'Login.Example.com:443' },
          ],
          apis: [{ binding: 'edge-client' }],
        },
      ],
    },
  })
  for (const host of ['login.example.com', 'login.example.com:443', 'LOGIN.example.COM']) {
    const reply = await ask(t, service, [`Host: ${host}`])
    assert.equal(reply.status, 200)
    assert.equal(reply.json().issuer, 'https://login.example.com/oidc')
    assert.equal(reply.json().token_endpoint, 'https://login.example.com/oidc/token')
  }
  const { port } = new URL(service.baseUrl)
  const reply = await ask(t, service, [`Host: login.example.com:${port}`])
  assert.equal(reply.status, 421)
  assert.equal(reply.json().error, 'invalid_request')
})
