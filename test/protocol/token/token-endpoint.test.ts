/** POST /oidc/token as an endpoint: what it reads, how it refuses, what an answer carries. SPEC Token; D-28, D-33. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeJwt } from 'jose'
import type { CallOptions, Reply } from '../../support/http-client.ts'
import { exchange, logIn, obtainCode, REDIRECT_URI } from '../../support/login/login.ts'
import { type Service, startService } from '../../support/service.ts'
import { sql } from '../../support/stores/sql.ts'

const post = (service: Service, options: CallOptions) =>
  service.call('/oidc/token', { method: 'POST', ...options })

async function goodForm(service: Service): Promise<[string, string][]> {
  const { code, verifier } = await obtainCode(service)
  return Object.entries({
    grant_type: 'authorization_code',
    client_id: 'service',
    code,
    code_verifier: verifier,
    redirect_uri: REDIRECT_URI,
  })
}

const basic = (text: string) => ({
  authorization: `Basic ${Buffer.from(text).toString('base64')}`,
})

/** RFC 6749 §5.2: `error` and `error_description`; D-323: our code and the next action. */
function assertError(reply: Reply, status: number, error: string): void {
  assert.equal(reply.status, status, reply.text)
  const body = reply.json()
  assert.equal(body.error, error)
  assert.deepEqual(Object.keys(body), ['error', 'error_description', 'code', 'next'])
  assert.match(body.error_description, /^[ !#-[\]-~]+$/, 'RFC 6749 §5.2: printable ASCII')
  assert.equal(reply.headers['cache-control'], 'no-store')
  assert.match(reply.headers['content-type'] ?? '', /^application\/json/)
  if (status !== 401) assert.equal(reply.headers['www-authenticate'], undefined)
}

test('the token endpoint', async (t) => {
  const service = await startService(t)

  await t.test('R036: the answer has the members of the SPEC and may not be kept', async () => {
    const reply = await post(service, { form: await goodForm(service) })
    assert.equal(reply.status, 200, reply.text)
    assert.equal(reply.headers['cache-control'], 'no-store')
    assert.match(reply.headers['content-type'] ?? '', /^application\/json/)
    const { access_token, id_token, ...rest } = reply.json()
    assert.deepEqual(rest, { token_type: 'Bearer', expires_in: 1800, scope: 'openid' })
    for (const token of [access_token, id_token]) assert.equal(token.split('.').length, 3)
  })

  await t.test(
    'R036: expires_in is 1800, and exp - iat of the access token is the same',
    async () => {
      const { access_token, expires_in } = await logIn(service)
      const { exp, iat } = decodeJwt(access_token)
      assert.equal(expires_in, 1_800)
      assert.equal(Number(exp) - Number(iat), 1_800)
    },
  )

  await t.test('R044: there is a refresh token where offline_access was asked for', async () => {
    const asked = await logIn(service, { scope: 'openid offline_access' })
    assert.match(String(asked.refresh_token), /^lkr_[\w-]{43}$/, 'D-27: 256 bits')
    for (const scope of ['openid', 'openid profile', 'openid OFFLINE_ACCESS']) {
      assert.equal('refresh_token' in (await logIn(service, { scope })), false, scope)
    }
  })

  await t.test('D-28: a body that is not a form is 415', async () => {
    const fields = Object.fromEntries(await goodForm(service))
    assertError(await post(service, { json: fields }), 415, 'invalid_request')
    const text = new URLSearchParams(fields).toString()
    for (const type of ['text/plain', 'multipart/form-data; boundary=x', 'application/xml', 'x']) {
      const reply = await post(service, { body: text, headers: { 'content-type': type } })
      assertError(reply, 415, 'invalid_request')
    }
    assertError(await post(service, { body: text }), 415, 'invalid_request')
    const broken = { body: '{', headers: { 'content-type': 'application/json' } }
    assertError(await post(service, broken), 415, 'invalid_request')
    assert.equal((await post(service, { form: Object.entries(fields) })).status, 200)
  })

  await t.test('a form with a charset, and a type in capitals, are forms', async () => {
    for (const type of [
      'application/x-www-form-urlencoded;charset=UTF-8',
      'Application/X-WWW-Form-URLEncoded',
    ]) {
      const form = await goodForm(service)
      const reply = await post(service, { form, headers: { 'content-type': type } })
      assert.equal(reply.status, 200, reply.text)
    }
  })

  await t.test('D-28: a malformed form, and an empty one, are refused', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    for (const body of ['', 'grant_type=%zz', 'grant_type=%ff', '&&&', 'grant_type=']) {
      assertError(await post(service, { body, headers }), 400, 'invalid_request')
    }
  })

  await t.test(
    'R014: a repeated parameter is refused, and the code is not spent by it',
    async () => {
      const form = await goodForm(service)
      for (const [name, value] of form) {
        for (const again of [value, 'another']) {
          const reply = await post(service, { form: [...form, [name, again]] })
          assertError(reply, 400, 'invalid_request')
          assert.match(reply.json().error_description, new RegExp(`${name} is repeated`))
        }
      }
      const unknown = await post(service, { form: [...form, ['x', '1'], ['x', '2']] })
      assertError(unknown, 400, 'invalid_request')
      assert.equal((await post(service, { form })).status, 200)
    },
  )

  await t.test('RFC 6749 §3.2: unknown parameters are ignored', async () => {
    const form = await goodForm(service)
    assert.equal((await post(service, { form: [...form, ['unknown', 'x']] })).status, 200)
  })

  await t.test('D-28: another grant is unsupported, and a missing one a fault', async () => {
    const grants = ['client_credentials', 'password', 'AUTHORIZATION_CODE', 'refresh token', 'x']
    for (const grant of grants) {
      const reply = await exchange(service, { grant_type: grant, code: 'x' })
      assertError(reply, 400, 'unsupported_grant_type')
    }
    assertError(await exchange(service, { grant_type: undefined }), 400, 'invalid_request')
    const noCode = await exchange(service, { code_verifier: 'A'.repeat(43) })
    assertError(noCode, 400, 'invalid_request')
    assert.match(noCode.json().error_description, /code is missing/)
    const noToken = await exchange(service, { grant_type: 'refresh_token' })
    assertError(noToken, 400, 'invalid_request')
    assert.match(noToken.json().error_description, /refresh_token is missing/)
  })

  await t.test('D-28: an unknown or missing client is invalid_client', async () => {
    for (const client of ['another', '', undefined]) {
      assertError(await exchange(service, { code: 'x', client_id: client }), 400, 'invalid_client')
    }
  })

  await t.test('D-28: the client may come as HTTP Basic user with an empty password', async () => {
    for (const text of ['service:', 'service']) {
      const form = (await goodForm(service)).filter(([name]) => name !== 'client_id')
      const reply = await post(service, { form, headers: basic(text) })
      assert.equal(reply.status, 200, reply.text)
    }
    const both = await post(service, { form: await goodForm(service), headers: basic('service:') })
    assert.equal(both.status, 200, both.text)
  })

  await t.test('D-28: two different clients in one call are refused', async () => {
    const form = await goodForm(service)
    const reply = await post(service, { form, headers: basic('another:') })
    assertError(reply, 400, 'invalid_request')
    assert.equal((await post(service, { form })).status, 200, 'and the code is not spent')
  })

  await t.test('D-28: a client secret is refused with 401 and a Basic challenge', async () => {
    // Whoever believes that this client has a secret is told that it has none; guessing at one gains nothing.
    const form = await goodForm(service)
    const attempts: readonly CallOptions[] = [
      { form, headers: basic('service:secret') },
      { form: form.filter(([name]) => name !== 'client_id'), headers: basic('service:secret') },
      { form: [...form, ['client_secret', 'secret']] },
    ]
    for (const attempt of attempts) {
      const reply = await post(service, attempt)
      assertError(reply, 401, 'invalid_client')
      assert.equal(reply.headers['www-authenticate'], 'Basic realm="service-oidc"')
    }
    assert.equal((await post(service, { form })).status, 200, 'and the code is not spent')
  })

  await t.test('D-28: credentials that are no Basic credentials are no client', async () => {
    const form = (await goodForm(service)).filter(([name]) => name !== 'client_id')
    for (const authorization of ['Basic', 'Basic %%%', 'Bearer x', basic('%zz:').authorization]) {
      const reply = await post(service, { form, headers: { authorization } })
      assertError(reply, 400, 'invalid_client')
    }
  })

  await t.test('R037: every other method is 405, and says which there is', async () => {
    for (const method of ['GET', 'PUT', 'PATCH', 'DELETE']) {
      const reply = await service.call('/oidc/token?grant_type=authorization_code', { method })
      assertError(reply, 405, 'invalid_request')
      assert.equal(reply.headers.allow, 'POST')
    }
  })

  await t.test('R037: a grant in the query of a POST is not read', async () => {
    const query = new URLSearchParams(await goodForm(service))
    const reply = await service.call(`/oidc/token?${query}`, { method: 'POST', form: [] })
    assertError(reply, 400, 'invalid_request')
  })

  await t.test('R037: the token endpoint never returns a page', async () => {
    const headers = { accept: 'text/html' }
    assertError(await post(service, { form: [['x', 'y']], headers }), 400, 'invalid_request')
  })
})

test('D-24: the lives of the tokens are those of the configuration', async (t) => {
  const oidc = { accessTokenDuration: '90s', idTokenDuration: '2h' }
  const service = await startService(t, { config: { edge: { oidc } } })
  const { access_token, id_token, expires_in } = await logIn(service)
  const [access, id] = [decodeJwt(access_token), decodeJwt(id_token)]
  assert.equal(expires_in, 90)
  assert.equal(Number(access.exp) - Number(access.iat), 90)
  assert.equal(Number(id.exp) - Number(id.iat), 7_200)
})

test('R052: a life that is too short is raised to a minute', async (t) => {
  const oidc = { accessTokenDuration: '5s', idTokenDuration: '0s' }
  const service = await startService(t, { config: { edge: { oidc } } })
  const { access_token, id_token, expires_in } = await logIn(service)
  const [access, id] = [decodeJwt(access_token), decodeJwt(id_token)]
  assert.equal(expires_in, 60)
  assert.equal(Number(access.exp) - Number(access.iat), 60)
  assert.equal(Number(id.exp) - Number(id.iat), 60)
})

test('D-28: a fault of our own is 500 server_error, and tells the caller nothing about itself', async (t) => {
  const service = await startService(t)
  const form = await goodForm(service)
  await sql(service, 'alter table auth_requests rename to somewhere_else')
  const reply = await post(service, { form })
  assertError(reply, 500, 'server_error')
  assert.doesNotMatch(reply.text, /auth_requests|sqlite|SELECT|update/i)
  const requestId = reply.headers['x-request-id']
  const logged = service.log.filter((line) => line.requestId === requestId && line.err)
  assert.match(JSON.stringify(logged), /auth_requests/, 'the operator is told')
})
