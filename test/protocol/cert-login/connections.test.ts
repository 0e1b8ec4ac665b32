/**
 * What a certificate on the connection changes, and what it does not: where a login begins, whose login it is, and
 * what other requests over the same connection get. D-6, D-21; R093, R094, R096.
 */
import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import type tls from 'node:tls'
import { decodeJwt } from 'jose'
import { eventsOf, failureOf } from '../../support/audit.ts'
import {
  logInByCertificate,
  presenting,
  registerCa,
  shows,
  submitCertificate,
} from '../../support/certificates/certificate-login.ts'
import { openOpenssl } from '../../support/certificates/openssl.ts'
import { connectRaw, type RawConnection, type RawReply } from '../../support/edge/raw-connection.ts'
import { IDENTITY } from '../../support/login/challenges.ts'
import {
  answerOf,
  authorizationParameters,
  authorize,
  bearer,
  beginLogin,
  exchange,
  logIn,
  pkce,
  REDIRECT_URI,
  submitPassword,
} from '../../support/login/login.ts'
import { administrate } from '../../support/management.ts'
import { ADMIN, type Service, startService } from '../../support/service.ts'

const openssl = await openOpenssl()
after(() => openssl.close())
const { makeCa, makeLeaf } = openssl
const ca = await makeCa({ subject: '/CN=Partner CA' })
const alice = await makeLeaf(ca, { subject: '/CN=alice' })
const stranger = await makeLeaf(await makeCa(), { subject: '/CN=stranger' })

/** A service where alice logs in with her certificate. */
async function start(t: TestContext) {
  const service = await startService(t)
  const admin = await administrate(service)
  await registerCa(admin, openssl, ca)
  const { id: aliceId } = await admin.createIdentity({ name: 'alice', certPem: alice.pem })
  const adminId = decodeJwt(admin.token).sub
  return { service, admin, aliceId, adminId }
}

/** Where the authorization redirect leads, without the id. */
async function loginPath(service: Service, method: string | undefined): Promise<string> {
  const reply = await authorize(service, authorizationParameters(pkce().challenge, { method }))
  assert.equal(reply.status, 302, reply.text)
  return new URL(reply.headers.location ?? '', service.baseUrl).pathname
}

test('which login an authorization leads to', async (t) => {
  const { service } = await start(t)
  const withCertificate = presenting(service, alice)

  await t.test('D-6: without a hint it is the certificate, when one is presented', async () => {
    assert.equal(await loginPath(withCertificate, undefined), '/oidc/login/cert')
    assert.equal(await loginPath(presenting(service, stranger), undefined), '/oidc/login/cert')
    const parameters = authorizationParameters(pkce().challenge)
    const posted = await withCertificate.call('/oidc/authorization', { form: [...parameters] })
    assert.match(posted.headers.location ?? '', /^\/oidc\/login\/cert\?/)
  })

  await t.test('R096: without a hint it is the password, when none is presented', async () => {
    assert.equal(await loginPath(service, undefined), '/oidc/login/username')
  })

  await t.test('D-6: a hint wins, with a certificate and without', async () => {
    for (const client of [service, withCertificate]) {
      assert.equal(await loginPath(client, 'password'), '/oidc/login/username')
      assert.equal(await loginPath(client, 'cert'), '/oidc/login/cert')
      assert.equal(await loginPath(client, 'ext-jwt'), '/oidc/login/ext-jwt')
    }
  })

  await t.test('a login may take another way than the one it began with', async () => {
    const { authRequestId } = await beginLogin(withCertificate)
    assert.ok(answerOf(await submitPassword(service, authRequestId)).get('code'))
    const { authRequestId: other } = await beginLogin(service, { method: 'password' })
    assert.ok(answerOf(await submitCertificate(withCertificate, other)).get('code'))
  })

  await t.test('D-6: the page of a certificate login offers the password', async () => {
    const headers = { accept: 'text/html' }
    for (const [client, buttons] of [
      [withCertificate, 1],
      [service, 0],
    ] as const) {
      const { authRequestId } = await beginLogin(client, { method: 'cert' })
      const path = `/oidc/login/cert?authRequestID=${authRequestId}`
      const page = await client.call(path, { headers })
      assert.equal(page.status, 200, page.text)
      const link = `href="/oidc/login/username?authRequestID=${authRequestId}"`
      assert.ok(page.text.includes(link))
      assert.equal(page.text.split('<button').length - 1, buttons, 'without one, nothing to press')
      const said = (await client.call(path)).json()
      assert.deepEqual(said, {
        authRequestId,
        method: 'POST',
        url: '/oidc/login/cert',
        fields: ['authRequestId'],
      })
    }
  })
})

test('R096: a certificate on the wire does not change another login', async (t) => {
  const { service, admin, aliceId, adminId } = await start(t)
  const client = presenting(service, alice)

  await t.test('a password login is that of the password', async () => {
    const claims = decodeJwt((await logIn(client, { method: 'password' })).access_token)
    assert.equal(claims.sub, adminId)
    assert.deepEqual(claims['amr'], ['pwd'])
    assert.equal(claims['cnf'], undefined)
    assert.equal(claims['z_ice'], false)
  })

  await t.test('a valid certificate does not make up for a wrong password', async () => {
    const { authRequestId } = await beginLogin(client)
    const wrong = { ...ADMIN, password: 'wrong horse battery' }
    const reply = await submitPassword(client, authRequestId, wrong)
    assert.equal(reply.json().error.code, 'INVALID_AUTH')
    assert.equal((await failureOf(service, reply)).reason, 'wrong-password')
  })

  await t.test('an external JWT that is missing is missing', async () => {
    const { authRequestId } = await beginLogin(client)
    const reply = await client.call('/oidc/login/ext-jwt', { json: { authRequestId } })
    assert.equal(reply.json().error.code, 'UNAUTHORIZED')
    assert.equal((await failureOf(service, reply)).reason, 'jwt-missing')
  })

  await t.test('a legacy login with a username is one by password', async () => {
    const reply = await client.call('/edge/client/v1/authenticate', { json: ADMIN })
    assert.equal(reply.json().data.identityId, adminId)
    assert.deepEqual(reply.json().data.amr, ['pwd'])
  })

  await t.test('a call with a token is that of the token', async () => {
    const reply = await client.call(IDENTITY, bearer(admin.token))
    assert.equal(reply.json().data.id, adminId)
    const { access_token } = await logInByCertificate(client)
    for (const caller of [service, client, presenting(service, stranger)]) {
      const call = await caller.call(IDENTITY, bearer(access_token))
      assert.equal(call.json().data.id, aliceId, 'D-24: no token is bound unless a policy says so')
    }
  })
})

/** One request, as it goes over the wire; the answer is read apart. */
function send(
  { send: write }: RawConnection,
  service: Service,
  path: string,
  json?: Readonly<Record<string, string>>,
): void {
  const body = json === undefined ? '' : JSON.stringify(json)
  write(
    [
      `${json === undefined ? 'GET' : 'POST'} ${path} HTTP/1.1`,
      `Host: ${new URL(service.baseUrl).host}`,
      'Content-Type: application/json',
      `Content-Length: ${Buffer.byteLength(body)}`,
      '',
      body,
    ].join('\r\n'),
  )
}

async function ask(...[connection, ...request]: Parameters<typeof send>): Promise<RawReply> {
  send(connection, ...request)
  const reply = await connection.reply()
  assert.ok(reply, 'the connection stays open')
  return reply
}

async function connect(t: TestContext, service: Service, options: tls.ConnectionOptions = {}) {
  const connection = await connectRaw(service, options)
  t.after(() => connection.socket.destroy())
  return connection
}

/** Whose tokens the code of an answer is exchanged for. */
async function ownerOf(service: Service, reply: RawReply | undefined, verifier: string) {
  assert.ok(reply)
  assert.equal(reply.status, 302, reply.text)
  const code = new URL(reply.header('location') ?? '').searchParams.get('code') ?? ''
  const form = { code, code_verifier: verifier, redirect_uri: REDIRECT_URI }
  const tokens = await exchange(service, form)
  assert.equal(tokens.status, 200, tokens.text)
  return decodeJwt(tokens.json().access_token).sub
}

test('R093: one connection that carries the requests of two users confuses neither', async (t) => {
  // Attack: something in front of the service, or one program, uses a connection for whoever comes.
  const { service, aliceId, adminId } = await start(t)

  async function begin(connection: RawConnection) {
    const { verifier, challenge } = pkce()
    const path = `/oidc/authorization?${authorizationParameters(challenge)}`
    const reply = await ask(connection, service, path)
    assert.equal(reply.status, 302, reply.text)
    return { verifier, authRequestId: reply.header('auth-request-id') ?? '' }
  }

  await t.test('one after the other', async (t) => {
    const connection = await connect(t, service, shows(alice))
    const [first, second] = [await begin(connection), await begin(connection)]
    const { authRequestId } = second
    const password = { authRequestId, ...ADMIN }
    const hers = { authRequestId: first.authRequestId }
    const byPassword = await ask(connection, service, '/oidc/login/username', password)
    const byCertificate = await ask(connection, service, '/oidc/login/cert', hers)
    assert.equal(await ownerOf(service, byCertificate, first.verifier), aliceId)
    assert.equal(await ownerOf(service, byPassword, second.verifier), adminId)
  })

  await t.test('both at once, before either is answered', async (t) => {
    const connection = await connect(t, service, shows(alice))
    const [first, second] = [await begin(connection), await begin(connection)]
    send(connection, service, '/oidc/login/cert', { authRequestId: first.authRequestId })
    const { authRequestId } = second
    send(connection, service, '/oidc/login/username', { authRequestId, ...ADMIN })
    const [hers, his] = [await connection.reply(), await connection.reply()]
    assert.equal(await ownerOf(service, hers, first.verifier), aliceId)
    assert.equal(await ownerOf(service, his, second.verifier), adminId)
  })

  await t.test('D-21: the certificate is that of the connection that posts', async (t) => {
    const [plain, certified] = [await connect(t, service), await connect(t, service, shows(alice))]
    const [begunPlain, begunCertified] = [await begin(plain), await begin(certified)]
    const posted = { authRequestId: begunCertified.authRequestId }
    const refused = await ask(plain, service, '/oidc/login/cert', posted)
    assert.equal(refused.status, 401)
    assert.equal(refused.json().error.code, 'INVALID_AUTH')
    const headers = { 'x-request-id': refused.header('x-request-id') ?? '' }
    assert.equal((await failureOf(service, { headers })).reason, 'no-certificate')
    const { authRequestId, verifier } = begunPlain
    const reply = await ask(certified, service, '/oidc/login/cert', { authRequestId })
    assert.equal(await ownerOf(service, reply, verifier), aliceId)
  })
})

for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
  test(`R094: a resumed connection shows no certificate, with ${version}`, async (t) => {
    // Attack: whoever holds the ticket of a connection that showed alice's certificate comes back without her key.
    const { service } = await start(t)
    const only = { minVersion: version, maxVersion: version }
    const first = await connect(t, service, { ...only, ...shows(alice) })
    const sessions: Buffer[] = []
    first.socket.on('session', (session) => sessions.push(session))
    const login = await beginLogin(service)
    const hers = await ask(first, service, '/oidc/login/cert', {
      authRequestId: login.authRequestId,
    })
    assert.equal(hers.status, 302)
    const last = first.socket.getSession()
    first.socket.destroy()

    const held = last === undefined ? sessions : [...sessions, last]
    assert.ok(held.length > 0)
    for (const session of held) {
      const again = await connect(t, service, { ...only, session })
      assert.equal(again.socket.isSessionReused(), false)
      const parameters = authorizationParameters(pkce().challenge)
      const begun = await ask(again, service, `/oidc/authorization?${parameters}`)
      assert.match(begun.header('location') ?? '', /^\/oidc\/login\/username\?/)
      const authRequestId = begun.header('auth-request-id') ?? ''
      const refused = await ask(again, service, '/oidc/login/cert', { authRequestId })
      assert.equal(refused.status, 401)
      const headers = { 'x-request-id': refused.header('x-request-id') ?? '' }
      const [event] = await eventsOf(service, { headers })
      assert.equal(event?.reason, 'no-certificate')
    }
  })
}

test('D-13: a second login on one request, by another identity, starts over', async (t) => {
  // Attack: alice's certificate opens the request, and somebody else's code is taken for her second factor.
  const { service, admin, adminId } = await start(t)
  const policy = await admin.createPolicy({ secondary: { requireTotp: true } })
  const carol = await makeLeaf(ca, { subject: '/CN=carol' })
  await admin.createIdentity({ name: 'carol', certPem: carol.pem, policy })
  const { authRequestId, verifier } = await beginLogin(service)
  const partial = await submitCertificate(presenting(service, carol), authRequestId)
  assert.equal(partial.status, 200, partial.text)
  assert.deepEqual(
    partial.json().authQueries.map(({ typeId }: { typeId: string }) => typeId),
    ['MFA'],
  )
  assert.equal(partial.headers['totp-required'], 'true')
  const code = answerOf(await submitPassword(service, authRequestId)).get('code') ?? ''
  const form = { code, code_verifier: verifier, redirect_uri: REDIRECT_URI }
  const claims = decodeJwt((await exchange(service, form)).json().access_token)
  assert.equal(claims.sub, adminId)
  assert.deepEqual(claims['amr'], ['pwd'])
  assert.equal(claims['cnf'], undefined)
})
