/**
 * `latchkey/client` towards a server, or somebody in between, that says wrong things: nothing of it is believed, and no
 * credential goes anywhere else. OIDC Discovery §4.3, OIDC Core §3.1.3.7, RFC 9207, RFC 6749 §10.12.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connect, ServerUnavailable, UnexpectedAnswer } from '../../../src/client/client.ts'
import {
  asAdmin,
  CURRENT_IDENTITY,
  connectThrough,
  failureOf,
  whoIs,
} from '../../support/client/client-sessions.ts'
import {
  type ForwardedAnswer,
  type ForwardedRequest,
  type MeddlingProxy,
  startBehindProxy,
} from '../../support/client/meddling-proxy.ts'
import { logInOffline } from '../../support/login/refresh.ts'
import { ADMIN } from '../../support/service.ts'

/** Changes the answers of one path. */
function changeAnswers(
  proxy: MeddlingProxy,
  path: string,
  answer: (answer: ForwardedAnswer) => ForwardedAnswer,
): void {
  proxy.meddle(({ target }) => (target.split('?')[0] === path ? { answer } : undefined))
}

const withJson = (change: object) => (answer: ForwardedAnswer) => ({
  ...answer,
  body: JSON.stringify({ ...JSON.parse(answer.body), ...change }),
})

const withLocation = (change: (location: string) => string) => (answer: ForwardedAnswer) => ({
  ...answer,
  headers: { ...answer.headers, location: change(answer.headers['location'] ?? '') },
})

/** Changes one parameter of the authorization request on its way. */
function changeRequest(proxy: MeddlingProxy, name: string, value: string): void {
  proxy.meddle(({ target }: ForwardedRequest) => {
    if (!target.startsWith('/oidc/authorization?')) return undefined
    const url = new URL(target, 'https://proxy.invalid')
    url.searchParams.set(name, value)
    return { request: { target: `${url.pathname}${url.search}` } }
  })
}

const CREDENTIAL_PATHS = /username|token/

test('what a server says about itself', async (t) => {
  const { service, proxy } = await startBehindProxy(t)
  const discovery = '/oidc/.well-known/openid-configuration'
  const elsewhere = 'https://evil.example/oidc'

  const documents: Readonly<Record<string, object>> = {
    'names another issuer': { issuer: elsewhere },
    'names an issuer with a slash at its end': { issuer: `${proxy.url}/oidc/` },
    'names no issuer': { issuer: undefined },
    'has its token endpoint elsewhere': { token_endpoint: `${elsewhere}/token` },
    'has its token endpoint without TLS': {
      token_endpoint: `${proxy.url.replace('https', 'http')}/oidc/token`,
    },
    'has its keys elsewhere': { jwks_uri: `${elsewhere}/keys` },
    'has its authorization endpoint elsewhere': { authorization_endpoint: elsewhere },
    'has its logout elsewhere': { end_session_endpoint: elsewhere },
    'has a number for an endpoint': { token_endpoint: 7 },
  }
  for (const [what, change] of Object.entries(documents)) {
    await t.test(`is not believed when it ${what}`, async () => {
      // Attack: a document of somebody else makes the client send its code to him (RFC 9700 §4.4).
      changeAnswers(proxy, discovery, withJson(change))
      await failureOf(connectThrough(proxy, service), UnexpectedAnswer)
    })
  }

  const answers: Readonly<Record<string, ForwardedAnswer>> = {
    'is a page': { status: 200, headers: {}, body: '<h1>Please log in to the Wi-Fi</h1>' },
    'is a list': { status: 200, headers: {}, body: '[]' },
    'has a member twice': { status: 200, headers: {}, body: '{"issuer": "a", "issuer": "b"}' },
    'is larger than any document': { status: 200, headers: {}, body: ' '.repeat(1_100_000) },
    'is a redirect': { status: 302, headers: { location: elsewhere }, body: '' },
    'is a 404': { status: 404, headers: {}, body: 'not here' },
  }
  for (const [what, instead] of Object.entries(answers)) {
    await t.test(`is not believed when it ${what}`, async () => {
      proxy.meddle(() => ({ instead }))
      await failureOf(connectThrough(proxy, service), UnexpectedAnswer)
    })
  }

  await t.test('is not waited for longer than is said', async () => {
    proxy.meddle(() => ({ silent: 'before' }))
    // Long enough for the connection itself.
    const timeoutMilliseconds = 3_000
    const error = await failureOf(
      connectThrough(proxy, service, { timeoutMilliseconds }),
      ServerUnavailable,
    )
    assert.equal(error.code, 'TIMED_OUT')
    assert.equal(error.mayHaveHappened, true)
  })

  await t.test('is not waited for when the program gives up', async () => {
    proxy.meddle(() => ({ silent: 'before' }))
    const signal = AbortSignal.timeout(100)
    await assert.rejects(connectThrough(proxy, service, { signal }), { name: 'TimeoutError' })
  })

  await t.test('is not read when its certificate is for another name', async () => {
    proxy.meddle(undefined)
    const url = proxy.url.replace('localhost', '127.0.0.1')
    await assert.rejects(connect({ url, ca: proxy.ca }), {
      name: 'UntrustedServer',
      code: 'ERR_TLS_CERT_ALTNAME_INVALID',
    })
  })
})

test('a login', async (t) => {
  const { service, proxy } = await startBehindProxy(t)
  const client = await connectThrough(proxy, service, { timeoutMilliseconds: 60_000 })
  const refused = async (): Promise<UnexpectedAnswer> => {
    const error = await failureOf(client.logIn(asAdmin), UnexpectedAnswer)
    assert.equal(error.message.includes(ADMIN.password), false)
    return error
  }

  for (const location of [
    'https://evil.example/oidc/login/username?authRequestID=x',
    '//evil.example/oidc/login/username?authRequestID=x',
    '/somewhere?authRequestID=x',
    '/oidc/login/username',
    '',
  ]) {
    await t.test(`does not follow its first redirect to ${location || 'nowhere'}`, async () => {
      // Attack: the password is asked for at another address.
      const before = proxy.seen.length
      changeAnswers(
        proxy,
        '/oidc/authorization',
        withLocation(() => location),
      )
      await refused()
      const after = proxy.seen.slice(before)
      assert.deepEqual(
        after.filter((line) => CREDENTIAL_PATHS.test(line)),
        [],
      )
    })
  }

  const forged: Readonly<Record<string, (location: string) => string>> = {
    'goes to another address': (location) => location.replace('127.0.0.1', '127.0.0.2'),
    'goes to the callback of another server': () =>
      'https://evil.example/oidc/authorization/callback?id=x',
    'has another state': (location) => location.replace(/state=[^&]*/, 'state=another'),
    'has no state': (location) => location.replace(/state=[^&]*&/, ''),
    'has two states': (location) => `${location}&state=another`,
    'comes from another issuer': (location) => location.replace(/iss=[^&]*/, 'iss=https://evil'),
    'names no issuer': (location) => location.replace(/iss=[^&]*&/, ''),
    'has no code': (location) => location.replace(/code=[^&]*/, 'x=y'),
    'has two codes': (location) => `${location}&code=another`,
  }
  for (const [what, change] of Object.entries(forged)) {
    await t.test(`is given up when its answer ${what}`, async () => {
      // R017, R033. Attack: the code of another login, or of another server, is slipped in.
      const before = proxy.tokenForms.length
      changeAnswers(proxy, '/oidc/login/username', withLocation(change))
      await refused()
      assert.equal(proxy.tokenForms.length, before, 'no code was exchanged')
    })
  }

  await t.test('is given up when its request was changed on the way', async () => {
    for (const name of ['state', 'nonce']) {
      changeRequest(proxy, name, 'another')
      await refused()
    }
    changeRequest(proxy, 'code_challenge', 'A'.repeat(43))
    await assert.rejects(client.logIn(asAdmin), { code: 'invalid_grant' })
    changeRequest(proxy, 'scope', 'profile')
    await assert.rejects(client.logIn(asAdmin), { name: 'LoginRefused', code: 'invalid_scope' })
    changeRequest(proxy, 'redirect_uri', 'https://evil.example/')
    await assert.rejects(client.logIn(asAdmin), { name: 'Refused', code: 'invalid_request' })
  })

  await t.test('is given up when its tokens are not whole, or not its own', async () => {
    const other = await logInOffline({ ...service, baseUrl: proxy.url })
    const changes: readonly object[] = [
      { id_token: other.id_token },
      { access_token: other.access_token },
      { id_token: undefined },
      { id_token: 'no.jwt.' },
      { access_token: '' },
      { access_token: 'two words' },
      { token_type: 'mac' },
      { expires_in: 'soon' },
      { expires_in: -1 },
      { refresh_token: 7 },
    ]
    for (const change of changes) {
      changeAnswers(proxy, '/oidc/token', withJson(change))
      await refused()
    }
    for (const body of ['', '[]', 'null', '<html>', '{"access_token":', '['.repeat(10_000)]) {
      changeAnswers(proxy, '/oidc/token', (answer) => ({ ...answer, body }))
      await refused()
    }
  })

  await t.test('is given up when the ID token was tampered with', async () => {
    // R053. Attack: other claims under the old signature, or none at all.
    changeAnswers(proxy, '/oidc/token', (answer) => {
      const body = JSON.parse(answer.body)
      const [header, payload, signature] = body.id_token.split('.')
      const claims = JSON.parse(Buffer.from(payload, 'base64url').toString())
      const forgedClaims = Buffer.from(JSON.stringify({ ...claims, name: 'root' }))
      const id_token = `${header}.${forgedClaims.toString('base64url')}.${signature}`
      return { ...answer, body: JSON.stringify({ ...body, id_token }) }
    })
    await refused()
    changeAnswers(proxy, '/oidc/token', (answer) => {
      const body = JSON.parse(answer.body)
      const [, payload] = body.id_token.split('.')
      const none = Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url')
      return { ...answer, body: JSON.stringify({ ...body, id_token: `${none}.${payload}.` }) }
    })
    await refused()
  })

  await t.test('stops if the keys belong to another issuer', async () => {
    const fresh = await connectThrough(proxy, service)
    for (const keys of [[], [{ kty: 'oct', k: 'AAAA', kid: 'x', alg: 'HS256' }], 'none', [null]]) {
      changeAnswers(proxy, '/oidc/keys', withJson({ keys }))
      await failureOf(fresh.logIn(asAdmin), UnexpectedAnswer)
    }
    proxy.meddle(undefined)
    assert.equal(await whoIs(await fresh.logIn(asAdmin)), ADMIN.username)
  })

  await t.test('does not go on forever', async () => {
    const query = { typeId: 'MFA', provider: 'service', isTotpEnrolled: true }
    const again = {
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ authQueries: [query] }),
    }
    proxy.meddle(({ target }) =>
      target.startsWith('/oidc/login/') ? { instead: again } : undefined,
    )
    let asked = 0
    const totp = () => {
      asked += 1
      return '123456'
    }
    await failureOf(client.logIn(asAdmin, { totp }), UnexpectedAnswer)
    assert.equal(asked, 3)
  })

  await t.test('that asks for something unknown says what it was', async () => {
    const body = JSON.stringify({ authQueries: [{ typeId: 'RETINA' }] })
    changeAnswers(proxy, '/oidc/login/username', (answer) => ({ ...answer, status: 200, body }))
    await assert.rejects(client.logIn(asAdmin), {
      name: 'FactorRequired',
      queries: [{ typeId: 'RETINA' }],
    })
  })

  await t.test('repeats nothing that a refusal says in its own words', async () => {
    // R108. Attack: a server, or a proxy, echoes what was sent, and the program writes it into its log.
    const body = JSON.stringify({
      error: { code: ADMIN.password, message: ADMIN.password, requestId: ADMIN.password },
    })
    changeAnswers(proxy, '/oidc/login/username', () => ({
      status: 401,
      headers: { 'x-request-id': ADMIN.password },
      body,
    }))
    const error = await refused()
    assert.equal(String(error.stack).includes(ADMIN.password), false)
  })
})

test('a session', async (t) => {
  const { service, proxy } = await startBehindProxy(t)
  const client = await connectThrough(proxy, service)
  const session = await client.logIn(asAdmin)

  await t.test('is not moved to another one by a refresh', async () => {
    // Attack: the tokens of somebody else's session in the answer to a refresh (OIDC Core §12.2).
    const other = await logInOffline({ ...service, baseUrl: proxy.url })
    const { access_token, id_token } = other
    changeAnswers(proxy, '/oidc/token', withJson({ access_token, id_token }))
    const before = await session.accessToken()
    await failureOf(session.refresh(), UnexpectedAnswer)
    proxy.meddle(undefined)
    assert.equal(await session.accessToken(), before)
    await session.refresh()
    assert.equal(await whoIs(session), ADMIN.username)
  })

  await t.test('reads no answer that is larger than it was told', async () => {
    const instead = { status: 200, headers: {}, body: 'x'.repeat(2_000) }
    proxy.meddle(() => ({ instead }))
    const call = session.call(CURRENT_IDENTITY, { mostBytes: 1_000 })
    await failureOf(call, UnexpectedAnswer)
    assert.equal((await session.call(CURRENT_IDENTITY)).status, 200)
  })

  await t.test('follows no redirect', async () => {
    const headers = { location: 'https://evil.example/' }
    proxy.meddle(() => ({ instead: { status: 307, headers, body: '' } }))
    const response = await session.call(CURRENT_IDENTITY)
    assert.equal(response.status, 307)
    assert.equal(response.headers.get('location'), headers.location)
  })

  await t.test('takes a 401 that it cannot read for an answer like any other', async () => {
    for (const field of [
      'Basic realm="proxy"',
      'Bearer realm=',
      '',
      'Bearer realm="other-oidc", error="expired"',
    ]) {
      const headers = { 'www-authenticate': field }
      proxy.meddle(() => ({ instead: { status: 401, headers, body: '{}' } }))
      assert.equal((await session.call(CURRENT_IDENTITY)).status, 401, field)
    }
  })

  await t.test(
    'refreshes once and no more for a server that calls every token expired',
    async () => {
      const expired =
        'Bearer realm="service-oidc", error="expired", error_description="token expired"'
      const before = proxy.tokenForms.length
      const headers = { 'www-authenticate': expired }
      const instead = { status: 401, headers, body: '{}' }
      proxy.meddle(({ target }) => (target === CURRENT_IDENTITY ? { instead } : undefined))
      await assert.rejects(session.call(CURRENT_IDENTITY), {
        name: 'SessionEnded',
        code: 'expired',
      })
      assert.equal(proxy.tokenForms.length - before, 1)
    },
  )
})
