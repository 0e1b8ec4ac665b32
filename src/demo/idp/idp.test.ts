/**
 * The identity provider of the demo believes every visitor of its page; what it hands out goes to its one client
 * alone, and once.
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import http from 'node:http'
import { text } from 'node:stream/consumers'
import { after, test } from 'node:test'
import { createRemoteJWKSet, jwtVerify } from 'jose'
import { ManualClock } from '../../../test/support/clocks/manual-clock.ts'
import { systemRandom } from '../../base/secrets/random.ts'
import { milliseconds } from '../../base/time/duration.ts'
import { startIdp } from './idp.ts'

const CALLBACK = 'https://localhost:1280/oidc/login/ext-jwt/callback'
const VERIFIER = 'a-verifier-that-is-long-enough-for-the-rfc-of-pkce'
const ASKED = {
  response_type: 'code',
  client_id: 'the-service',
  redirect_uri: CALLBACK,
  scope: 'openid',
  state: 'a state & more',
  nonce: 'a-nonce',
  code_challenge: createHash('sha256').update(VERIFIER).digest('base64url'),
  code_challenge_method: 'S256',
}
type Fields = Readonly<Record<string, string>>
// biome-ignore lint/suspicious/noExplicitAny: a test looks into answers of any shape
const jsonOf = (response: Response): Promise<any> => response.json()

const clock = new ManualClock()
const idp = await startIdp(
  { clientId: 'the-service', redirectUris: [CALLBACK] },
  { people: ['emil'], clock, random: systemRandom },
)
after(() => idp.stop())

const form = (fields: Fields | string) => ({
  method: 'POST',
  redirect: 'manual' as const,
  body: new URLSearchParams(fields),
})
const authorize = (fields: Fields | string) =>
  fetch(`${idp.issuer}/authorize?${new URLSearchParams(fields)}`, { redirect: 'manual' })
const answerOf = (response: Response) => {
  assert.equal(response.status, 303)
  const location = response.headers.get('location') ?? ''
  assert.ok(location.startsWith(`${CALLBACK}?`), location)
  return Object.fromEntries(new URL(location).searchParams)
}
async function codeFor(account: string): Promise<string> {
  const { code, ...rest } = answerOf(
    await fetch(`${idp.issuer}/authorize`, form({ ...ASKED, account })),
  )
  assert.deepEqual(rest, { state: ASKED.state, iss: idp.issuer })
  return code ?? ''
}
const exchange = (code: string, changes: Fields | string = {}) => {
  const fields = {
    grant_type: 'authorization_code',
    client_id: 'the-service',
    redirect_uri: CALLBACK,
    code_verifier: VERIFIER,
    code,
  }
  const given =
    typeof changes === 'string'
      ? `${new URLSearchParams(fields)}${changes}`
      : { ...fields, ...changes }
  return fetch(`${idp.issuer}/token`, form(given))
}
async function assertRefused(response: Response, status: number, error: string): Promise<void> {
  assert.deepEqual([response.status, await response.json()], [status, { error }])
}

const keys = createRemoteJWKSet(new URL(`${idp.issuer}/keys`))
const claimsOf = async (jwt: string) => {
  const options = {
    issuer: idp.issuer,
    audience: 'the-service',
    currentDate: new Date(clock.now()),
  }
  return (await jwtVerify(jwt.trim(), keys, options)).payload
}

test('discovery names what there is', async () => {
  const found = await jsonOf(await fetch(`${idp.issuer}/.well-known/openid-configuration`))
  assert.equal(found.issuer, idp.issuer)
  assert.equal(found.authorization_endpoint, `${idp.issuer}/authorize`)
  assert.equal(found.token_endpoint, `${idp.issuer}/token`)
  assert.equal(found.jwks_uri, `${idp.issuer}/keys`)
  assert.equal(found.authorization_response_iss_parameter_supported, true)
})

test('the keys are public ones', async () => {
  const { keys: published } = await jsonOf(await fetch(`${idp.issuer}/keys`))
  assert.deepEqual(
    published.map((key: Fields) => Object.keys(key).sort()),
    [['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y']],
  )
})

test('the page offers the users, runs no script, and leads nowhere but to this machine', async () => {
  const response = await authorize(ASKED)
  assert.equal(response.status, 200)
  const policy = response.headers.get('content-security-policy') ?? ''
  assert.ok(policy.startsWith("default-src 'none'; "), policy)
  const [, leadsTo = ''] = /form-action ([^;]*)/.exec(policy) ?? []
  for (const source of leadsTo.split(' ')) {
    assert.match(source, /^'self'$|^https?:\/\/(localhost|127\.0\.0\.1):\*$/)
  }
  assert.equal(response.headers.get('cache-control'), 'no-store')
  const page = await response.text()
  for (const account of ['emil', 'stranger']) {
    assert.ok(page.includes(`<button type="submit" name="account" value="${account}">`))
  }
  assert.ok(page.includes('name="state" value="a state &#38; more"'))
  assert.doesNotMatch(page, /<script/)
})

test('a code becomes an ID token, once', async () => {
  const code = await codeFor('emil')
  const response = await exchange(code)
  assert.equal(response.status, 200)
  const { id_token, token_type } = await jsonOf(response)
  assert.equal(token_type, 'Bearer')
  const { sub, nonce, auth_time, iat } = await claimsOf(id_token)
  assert.deepEqual([sub, nonce], ['emil', 'a-nonce'])
  // OIDC Core §2: an IdP must include it if the client asked for max_age.
  assert.ok(typeof auth_time === 'number' && auth_time <= (iat ?? 0), `auth_time ${auth_time}`)
  await assertRefused(await exchange(code), 400, 'invalid_grant')
})

test('of one code many times at once, one wins', async () => {
  const code = await codeFor('emil')
  const answers = await Promise.all(Array.from({ length: 10 }, () => exchange(code)))
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, ...Array(9).fill(400)])
})

// Attack: a code was seen on its way (R012): the attacker lacks the verifier, and has one try.
test('a code is spent by its first use, even with a wrong verifier or redirect URI', async () => {
  for (const changes of [
    { code_verifier: `${VERIFIER}x` },
    { code_verifier: '' },
    { redirect_uri: `${CALLBACK}/` },
  ]) {
    const code = await codeFor('emil')
    await assertRefused(await exchange(code, changes), 400, 'invalid_grant')
    await assertRefused(await exchange(code), 400, 'invalid_grant')
  }
})

test('a code is good for a minute', async () => {
  const code = await codeFor('emil')
  clock.pass(milliseconds(60_000))
  await assertRefused(await exchange(code), 400, 'invalid_grant')
})

test('another client gets nothing, and spends nothing', async () => {
  const code = await codeFor('emil')
  await assertRefused(await exchange(code, { client_id: 'another' }), 401, 'invalid_client')
  assert.equal((await exchange(code)).status, 200)
})

test('other grants, repeated fields and other bodies are refused', async () => {
  const code = await codeFor('emil')
  await assertRefused(
    await exchange(code, { grant_type: 'password' }),
    400,
    'unsupported_grant_type',
  )
  await assertRefused(await exchange(code, `&code=${code}`), 400, 'invalid_request')
  const json = { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } }
  await assertRefused(await fetch(`${idp.issuer}/token`, json), 400, 'invalid_request')
  const long = form({ code: 'x'.repeat(17 * 1024) })
  await assertRefused(await fetch(`${idp.issuer}/token`, long), 400, 'invalid_request')
})

// Attack: a code is requested for an address of the attacker (R005): nothing is redirected there, not even a fault.
test('an unknown client or redirect URI is refused on the spot', async () => {
  const cases = [
    { ...ASKED, client_id: 'another' },
    { ...ASKED, redirect_uri: 'https://attacker.example/' },
    { ...ASKED, redirect_uri: `${CALLBACK}?x=y` },
    `${new URLSearchParams(ASKED)}&redirect_uri=https://attacker.example/`,
    '',
    'client_id=%ff',
  ]
  for (const fields of cases) {
    const responses = [
      await authorize(fields),
      await fetch(`${idp.issuer}/authorize`, form(fields)),
    ]
    for (const response of responses) {
      assert.equal(response.status, 400)
      assert.equal(response.headers.get('location'), null)
      assert.match(await response.text(), /This does not work/)
    }
  }
})

test('any other fault goes back to the client', async () => {
  const cases: readonly (readonly [fields: Fields | string, error: string])[] = [
    [{ ...ASKED, response_type: 'token' }, 'unsupported_response_type'],
    [{ ...ASKED, scope: 'profile' }, 'invalid_scope'],
    [{ ...ASKED, code_challenge_method: 'plain' }, 'invalid_request'],
    [{ ...ASKED, code_challenge: 'short' }, 'invalid_request'],
    [{ ...ASKED, prompt: 'none' }, 'login_required'],
    [`${new URLSearchParams(ASKED)}&nonce=another`, 'invalid_request'],
  ]
  for (const [fields, error] of cases) {
    const answer = answerOf(await authorize(fields))
    assert.deepEqual(answer, { error, state: ASKED.state, iss: idp.issuer })
  }
})

test('a user who cancels, or an unknown one, comes back without a code', async () => {
  for (const chosen of [{ cancel: 'yes' }, { account: 'mallory' }, {}]) {
    const answer = answerOf(await fetch(`${idp.issuer}/authorize`, form({ ...ASKED, ...chosen })))
    assert.deepEqual(answer, { error: 'access_denied', state: ASKED.state, iss: idp.issuer })
  }
})

test('a JWT for a program is for the service, and for users whom the IdP knows', async () => {
  const response = await fetch(`${idp.issuer}/people/emil/jwt`, { method: 'POST' })
  const { sub, exp = 0, iat = 0 } = await claimsOf(await response.text())
  assert.deepEqual([sub, exp - iat], ['emil', 3_600])
  const unknown = await fetch(`${idp.issuer}/people/mallory/jwt`, { method: 'POST' })
  await assertRefused(unknown, 404, 'not_found')
  await assertRefused(await fetch(`${idp.issuer}/people/emil/jwt`), 404, 'not_found')
  await assertRefused(await fetch(`${idp.issuer}/`), 404, 'not_found')
})

// DNS rebinding: a page makes its own name lead to 127.0.0.1, and its browser then lets it read what we answer.
test('a request for another host name is refused', async () => {
  const { port } = new URL(idp.issuer)
  for (const host of [`attacker.example:${port}`, `localhost:${port}`, '127.0.0.1']) {
    const request = http.request({ port, method: 'POST', path: '/people/emil/jwt', setHost: false })
    request.setHeader('host', host).end()
    const [response] = await once(request, 'response')
    assert.equal(response.statusCode, 421)
    assert.doesNotMatch(await text(response), /eyJ/)
  }
})
