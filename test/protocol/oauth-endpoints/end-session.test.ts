/**
 * /oidc/end_session: logout on a client's word. Everything is checked before anything ends. D-30, D-8, R049; OIDC
 * RP-Initiated Logout §2.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeJwt, exportJWK, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose'
import { days, hours } from '../../../src/base/time/duration.ts'
import type { CallOptions, Reply } from '../../support/http-client.ts'
import { answerTo, INVALID } from '../../support/login/challenges.ts'
import { bearer, logIn } from '../../support/login/login.ts'
import {
  assertOauthError,
  assertRefreshRefused,
  eventsOf,
  logInOffline,
  type OfflineTokens,
  refresh,
  refreshed,
} from '../../support/login/refresh.ts'
import { type Service, startService } from '../../support/service.ts'
import { thiefOf } from '../../support/signing.ts'
import { sql } from '../../support/stores/sql.ts'

const URL_PATH = '/oidc/end_session'
const BYE = 'http://127.0.0.1:9876/bye'
const BROWSER = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

type Parameters = Readonly<Record<string, string>>

/** Both ways to call it do the same. */
const WAYS = {
  GET: (service: Service, parameters: Parameters, options: CallOptions = {}) =>
    service.call(`${URL_PATH}?${new URLSearchParams(parameters)}`, options),
  POST: (service: Service, parameters: Parameters, options: CallOptions = {}) =>
    service.call(URL_PATH, { ...options, method: 'POST', form: Object.entries(parameters) }),
} as const

const sessionOf = ({ access_token }: { readonly access_token: string }) =>
  String(decodeJwt(access_token)['z_asid'])

async function assertOver(service: Service, tokens: OfflineTokens): Promise<void> {
  assert.equal(await answerTo(service, tokens.access_token), INVALID)
  assertRefreshRefused(await refresh(service, tokens.refresh_token))
}

/** Refused here and shown here; the session lives on. */
async function assertRefused(
  service: Service,
  reply: Reply,
  error: string,
  tokens: OfflineTokens,
): Promise<void> {
  assertOauthError(reply, 400, error)
  assert.equal(reply.headers.location, undefined)
  assert.equal(await answerTo(service, tokens.access_token), 'taken')
}

const endings = async (service: Service) =>
  (await sql(service, 'select subject from session_endings')).length

for (const [method, logOut] of Object.entries(WAYS)) {
  test(`logout by ${method}`, async (t) => {
    const service = await startService(t)

    await t.test('R049: an ID token as hint ends its session, and no other', async () => {
      const [one, other] = [await logInOffline(service), await logInOffline(service)]
      const reply = await logOut(service, { id_token_hint: one.id_token })
      assert.equal(reply.status, 200, reply.text)
      assert.deepEqual(reply.json(), {})
      assert.equal(reply.headers['cache-control'], 'no-store')
      const path = `/edge/client/v1/endings/${reply.headers['latchkey-ending']}?wait=10`
      assert.equal((await service.call(path)).json().data.outcome, 'confirmed')
      await assertOver(service, one)
      await refreshed(service, other.refresh_token)
      assert.equal(await answerTo(service, other.access_token), 'taken')
      const events = await eventsOf(service, sessionOf(one))
      assert.deepEqual(events, ['session.ended: logout', 'token.issued'])
    })

    await t.test('the ID token of a refresh ends the session too', async () => {
      const first = await logInOffline(service)
      const second = await refreshed(service, first.refresh_token)
      await logOut(service, { id_token_hint: second.id_token })
      await assertOver(service, first)
      await assertOver(service, second)
    })

    await t.test('a bearer access token ends its own session', async () => {
      const tokens = await logInOffline(service)
      const reply = await logOut(service, {}, bearer(tokens.access_token))
      assert.equal(reply.status, 200, reply.text)
      await assertOver(service, tokens)
    })

    await t.test('without a hint nothing ends, and the response says so', async () => {
      const tokens = await logInOffline(service)
      const before = await endings(service)
      for (const parameters of [{}, { client_id: 'service' }, { id_token_hint: '' }] as const) {
        const reply = await logOut(service, parameters)
        assert.equal(reply.status, 200, reply.text)
        assert.deepEqual(reply.json(), {})
        assert.ok(reply.headers['latchkey-ending'], 'D-363: also if nothing ended')
      }
      assert.equal(await endings(service), before)
      assert.equal(await answerTo(service, tokens.access_token), 'taken')
    })

    await t.test('logging out twice is logging out once', async () => {
      const tokens = await logInOffline(service)
      for (let i = 0; i < 2; i++) {
        const reply = await logOut(service, { id_token_hint: tokens.id_token })
        assert.equal(reply.status, 200, reply.text)
      }
      const events = await eventsOf(service, sessionOf(tokens))
      assert.deepEqual(events, ['session.ended: logout', 'token.issued'])
    })

    await t.test('D-8: leads to an allowed address, with the state that was given', async () => {
      for (const [state, query] of [
        [undefined, ''],
        ['a b&c=d#é"<', `?state=${encodeURIComponent('a b&c=d#é"<')}`],
      ] as const) {
        const { id_token, ...tokens } = await logInOffline(service)
        const parameters = {
          id_token_hint: id_token,
          client_id: 'service',
          post_logout_redirect_uri: BYE,
          ...(state === undefined ? {} : { state }),
        }
        const reply = await logOut(service, parameters)
        assert.equal(reply.status, 302, reply.text)
        assert.equal(reply.headers.location, `${BYE}${query}`)
        assert.equal(await answerTo(service, tokens.access_token), INVALID)
      }
      const joined = await logOut(service, {
        post_logout_redirect_uri: `${BYE}?from=app`,
        state: 's',
      })
      assert.equal(joined.headers.location, `${BYE}?from=app&state=s`)
    })

    await t.test(
      'R049: does not redirect to an address that is not allowed, and ends nothing',
      async () => {
        // Attack: an open redirect behind a trusted name, and a session that ends on the way.
        const tokens = await logInOffline(service)
        const wrong = [
          'https://evil.example/',
          'http://evil.example:9876/bye',
          'http://127.0.0.1:9876@evil.example/',
          'http://127.0.0.1.evil.example/',
          '//evil.example/',
          '/relative',
          'javascript:alert(1)',
          `${BYE}#fragment`,
          `${BYE}\r\nset-cookie: a=b`,
          'http://127.1:9876/bye',
          `\t${BYE}`,
        ]
        for (const uri of wrong) {
          const reply = await logOut(service, {
            id_token_hint: tokens.id_token,
            post_logout_redirect_uri: uri,
            state: 's',
          })
          await assertRefused(service, reply, 'invalid_request', tokens)
        }
      },
    )

    await t.test('D-30: another client_id is refused, and nothing ends', async () => {
      const tokens = await logInOffline(service)
      for (const client of ['another', 'Service']) {
        const parameters = { id_token_hint: tokens.id_token, client_id: client }
        await assertRefused(service, await logOut(service, parameters), 'invalid_client', tokens)
      }
    })

    await t.test('R014: a repeated parameter is refused, and nothing ends', async () => {
      const tokens = await logInOffline(service)
      const given: [string, string][] = [
        ['id_token_hint', tokens.id_token],
        ['client_id', 'service'],
        ['post_logout_redirect_uri', BYE],
        ['state', 'x'],
      ]
      for (const pair of given) {
        const all = [...given, pair]
        const reply =
          method === 'GET'
            ? await service.call(`${URL_PATH}?${new URLSearchParams(all)}`)
            : await service.call(URL_PATH, { form: all })
        await assertRefused(service, reply, 'invalid_request', tokens)
        assert.match(reply.json().error_description, new RegExp(`${pair[0]} is repeated`))
      }
    })

    await t.test('a browser gets a page, also for a refusal', async () => {
      const { id_token } = await logInOffline(service)
      const done = await logOut(service, { id_token_hint: id_token }, { headers: BROWSER })
      assert.equal(done.status, 200)
      assert.match(done.headers['content-type'] ?? '', /^text\/html/)
      assert.match(done.text, /<h1>Signed out<\/h1>/)
      assert.match(String(done.headers['content-security-policy']), /frame-ancestors 'none'/)
      const refused = await logOut(service, { id_token_hint: '<x>' }, { headers: BROWSER })
      assert.equal(refused.status, 400)
      assert.match(refused.headers['content-type'] ?? '', /^text\/html/)
      assert.equal(refused.text.includes('<x>'), false)
      assert.equal(refused.headers['www-authenticate'], undefined)
    })
  })
}

test('R049: what is not an ID token of ours is not a hint, and nothing ends', async (t) => {
  const service = await startService(t)
  const tokens = await logInOffline(service)
  const before = await endings(service)
  const claims = decodeJwt(tokens.id_token)
  const thief = await thiefOf(service, tokens.id_token)
  const [header = '', payload = '', signature = ''] = tokens.id_token.split('.')
  const foreign = await generateKeyPair('ES256', { extractable: true })
  const jwk = await exportJWK(foreign.publicKey)
  const { kid } = JSON.parse(Buffer.from(header, 'base64url').toString())
  const forged = (extra: object) =>
    new SignJWT(claims)
      .setProtectedHeader({ alg: 'ES256', typ: 'JWT', kid, ...extra })
      .sign(foreign.privateKey)
  const another = Buffer.from(JSON.stringify({ ...claims, sid: 'another' })).toString('base64url')

  const hints: Readonly<Record<string, string>> = {
    'an unsigned one': new UnsecuredJWT(claims).encode(),
    'one without its signature': `${header}.${payload}.`,
    'one with another payload': `${header}.${another}.${signature}`,
    'one signed by somebody else': await forged({}),
    'one that brings its own key': await forged({ jwk }),
    'the access token': tokens.access_token,
    'the refresh token': tokens.refresh_token,
    'one of another issuer': await thief.sign({ iss: 'https://idp.example/' }, { typ: 'JWT' }),
    'one for another audience': await thief.sign({ aud: 'another' }, { typ: 'JWT' }),
    'one without a session': await thief.sign({ sid: undefined }, { typ: 'JWT' }),
    'one with a session that is a number': await thief.sign({ sid: 7 }, { typ: 'JWT' }),
    'a session id': sessionOf(tokens),
    'a text': 'x',
    'a very long text': 'x.'.repeat(5_000),
  }
  for (const [what, hint] of Object.entries(hints)) {
    await t.test(what, async () => {
      for (const logOut of Object.values(WAYS)) {
        const reply = await logOut(service, { id_token_hint: hint, post_logout_redirect_uri: BYE })
        await assertRefused(service, reply, 'invalid_request', tokens)
        assert.match(reply.json().error_description, /id_token_hint/)
      }
    })
  }
  assert.equal(await endings(service), before)

  await t.test('a good bearer token beside a bad hint does not help', async () => {
    const { headers } = bearer(tokens.access_token)
    const reply = await WAYS.GET(service, { id_token_hint: 'x' }, { headers })
    await assertRefused(service, reply, 'invalid_request', tokens)
  })
})

test('what a bearer token is worth at a logout', async (t) => {
  const service = await startService(t)
  const tokens = await logInOffline(service)
  for (const token of [tokens.id_token, tokens.refresh_token, 'x']) {
    const reply = await WAYS.POST(service, {}, bearer(token))
    assert.equal(reply.status, 200, reply.text)
    assert.equal(reply.headers['www-authenticate'], undefined, 'D-37: nobody is asked for one')
    assert.equal(await answerTo(service, tokens.access_token), 'taken')
  }
})

test('R049: an ID token that has expired is a hint all the same', async (t) => {
  const service = await startService(t)
  const first = await logInOffline(service)
  service.clock.advance(hours(20))
  const second = await refreshed(service, first.refresh_token)
  assert.equal(await answerTo(service, second.access_token), 'taken')
  const reply = await WAYS.GET(service, { id_token_hint: first.id_token })
  assert.equal(reply.status, 200, reply.text)
  await assertOver(service, second)
})

test('R049: a hint of a session that is long gone is taken, and does nothing', async (t) => {
  const service = await startService(t)
  const { id_token } = await logIn(service)
  service.clock.advance(days(1))
  const reply = await WAYS.GET(service, { id_token_hint: id_token })
  assert.equal(reply.status, 200, reply.text)
})

test('D-8: postLogoutURIs replaces the default, and only that of the logout', async (t) => {
  const web = [
    {
      name: 'default',
      bindPoints: [{ interface: '127.0.0.1:0', address: 'localhost:0' }],
      apis: [
        { binding: 'edge-client' },
        { binding: 'edge-management' },
        {
          binding: 'edge-oidc',
          options: {
            postLogoutURIs: [
              'https://app.example.com/bye',
              'http://localhost:*/bye',
              'com.example:/',
            ],
          },
        },
      ],
    },
  ]
  const service = await startService(t, { config: { web } })
  const allowed = ['https://app.example.com/bye', 'http://localhost:7777/bye', 'com.example:/']
  for (const uri of allowed) {
    const reply = await WAYS.GET(service, { post_logout_redirect_uri: uri, state: 's' })
    assert.equal(reply.status, 302, reply.text)
    assert.equal(reply.headers.location, `${uri}?state=s`)
  }
  for (const uri of [BYE, 'https://app.example.com/', 'http://localhost:7777/', 'com.example:/x']) {
    const reply = await WAYS.GET(service, { post_logout_redirect_uri: uri })
    assertOauthError(reply, 400, 'invalid_request')
  }
  await logIn(service)
})

test('logout takes only forms, and only GET and POST', async (t) => {
  const service = await startService(t)
  const { id_token, access_token } = await logInOffline(service)
  const json = await service.call(URL_PATH, { json: { id_token_hint: id_token } })
  assertOauthError(json, 415, 'invalid_request')
  for (const method of ['PUT', 'DELETE']) {
    const reply = await service.call(`${URL_PATH}?id_token_hint=${id_token}`, { method })
    assertOauthError(reply, 405, 'invalid_request')
    assert.equal(reply.headers.allow, 'GET, HEAD, POST')
  }
  assert.equal(await answerTo(service, access_token), 'taken')
})

test('R112: no page of another origin can read a logout', async (t) => {
  const origin = 'https://app.example.com'
  const service = await startService(t, { config: { edge: { api: { corsOrigins: [origin] } } } })
  const reply = await service.call(URL_PATH, { headers: { origin } })
  assert.equal(reply.headers['access-control-allow-origin'], undefined)
})
