/**
 * SPEC Authorization, phase two of D-5: client and redirect URI are good, something else is not. The fault travels
 * back to the client, in the asked response mode, and no auth request begins. By GET and by POST alike.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clientAnswer } from '../../support/client/client-answer.ts'
import type { Reply } from '../../support/http-client.ts'
import {
  authorizationParameters,
  beginLogin,
  logIn,
  pkce,
  REDIRECT_URI,
} from '../../support/login/login.ts'
import { type Service, startService } from '../../support/service.ts'

type Changes = Readonly<Record<string, string | undefined>>

const { challenge } = pkce()

const WAYS = {
  GET: (service: Service, parameters: URLSearchParams) =>
    service.call(`/oidc/authorization?${parameters}`),
  POST: (service: Service, parameters: URLSearchParams) =>
    service.call('/oidc/authorization', { form: [...parameters] }),
} as const

function assertRefused(service: Service, reply: Reply, error: string, state?: string): string {
  const { target, parameters } = clientAnswer(reply)
  assert.ok(target === REDIRECT_URI || target.startsWith(`${REDIRECT_URI}?`), target)
  const description = parameters.get('error_description') ?? ''
  assert.deepEqual(Object.fromEntries(parameters), {
    error,
    error_description: description,
    ...(state === undefined ? {} : { state }),
    iss: `${service.baseUrl}/oidc`,
  })
  // RFC 6749 §4.1.2.1: printable ASCII without quotation mark and backslash.
  assert.match(description, /^[ !#-[\]-~]+$/)
  assertNothingBegan(reply)
  return description
}

function assertNothingBegan(reply: Reply): void {
  assert.equal(reply.headers['auth-request-id'], undefined)
  assert.equal(reply.headers['set-cookie'], undefined)
  assert.doesNotMatch(reply.headers.location ?? '', /authRequestID/)
  assert.equal(reply.headers['cache-control'], 'no-store')
}

/** Each with the error that the client must hear and a word that its description must have. */
const FAULTS: readonly (readonly [title: string, Changes, error: string, about: RegExp])[] = [
  [
    'R001: a request without code_challenge',
    { code_challenge: undefined },
    'invalid_request',
    /code_challenge/,
  ],
  ['R001: an empty code_challenge', { code_challenge: '' }, 'invalid_request', /code_challenge/],
  [
    'R002: an absent code_challenge_method',
    { code_challenge_method: undefined },
    'invalid_request',
    /S256/,
  ],
  ['R002: the method plain', { code_challenge_method: 'plain' }, 'invalid_request', /S256/],
  [
    'R002: the method s256 in small letters',
    { code_challenge_method: 's256' },
    'invalid_request',
    /S256/,
  ],
  ['R002: the method S512', { code_challenge_method: 'S512' }, 'invalid_request', /S256/],
  [
    'R003: a challenge of 42 characters',
    { code_challenge: challenge.slice(1) },
    'invalid_request',
    /43/,
  ],
  [
    'R003: a challenge of 44 characters',
    { code_challenge: `${challenge}A` },
    'invalid_request',
    /43/,
  ],
  ['R003: a padded challenge', { code_challenge: `${challenge}=` }, 'invalid_request', /43/],
  [
    'R003: 43 characters with padding',
    { code_challenge: `${challenge.slice(1)}=` },
    'invalid_request',
    /43/,
  ],
  [
    'R003: the + of plain base64',
    { code_challenge: `+${challenge.slice(1)}` },
    'invalid_request',
    /43/,
  ],
  [
    'R003: the / of plain base64',
    { code_challenge: `/${challenge.slice(1)}` },
    'invalid_request',
    /43/,
  ],
  [
    'R003: a letter outside ASCII',
    { code_challenge: `é${challenge.slice(1)}` },
    'invalid_request',
    /43/,
  ],
  [
    'R003: a line break after a good challenge',
    { code_challenge: `${challenge}\n` },
    'invalid_request',
    /43/,
  ],
  [
    'R013: the response type token',
    { response_type: 'token' },
    'unsupported_response_type',
    /code/,
  ],
  [
    'R013: the response type id_token',
    { response_type: 'id_token' },
    'unsupported_response_type',
    /code/,
  ],
  [
    'R013: the response type code id_token',
    { response_type: 'code id_token' },
    'unsupported_response_type',
    /code/,
  ],
  [
    'R013: the response type code token',
    { response_type: 'code token' },
    'unsupported_response_type',
    /code/,
  ],
  ['R013: the response type CODE', { response_type: 'CODE' }, 'unsupported_response_type', /code/],
  ['R013: the response type none', { response_type: 'none' }, 'unsupported_response_type', /code/],
  [
    'a request without response_type',
    { response_type: undefined },
    'invalid_request',
    /response_type/,
  ],
  ['R018: prompt=none', { prompt: 'none' }, 'login_required', /asked/],
  ['R018: prompt=none beside another word', { prompt: 'login none' }, 'login_required', /asked/],
  ['a max_age that is not a number', { max_age: 'soon' }, 'invalid_request', /max_age/],
  ['a negative max_age', { max_age: '-1' }, 'invalid_request', /max_age/],
  ['R019: a request without scope', { scope: undefined }, 'invalid_scope', /openid/],
  ['R019: a scope without openid', { scope: 'profile' }, 'invalid_scope', /openid/],
  ['R019: openid in capitals', { scope: 'OPENID' }, 'invalid_scope', /openid/],
  ['R019: openid inside another word', { scope: 'openidx xopenid' }, 'invalid_scope', /openid/],
  ['a request object', { request: 'eyJhbGciOiJub25lIn0.e30.' }, 'request_not_supported', /request/],
  [
    'a request_uri',
    { request_uri: 'https://evil.example/r' },
    'request_uri_not_supported',
    /request_uri/,
  ],
  ['an unknown response_mode', { response_mode: 'fragment' }, 'invalid_request', /response_mode/],
  ['a method that is none of ours', { method: 'telepathy' }, 'invalid_request', /method/],
  ['a method in capitals', { method: 'PASSWORD' }, 'invalid_request', /method/],
  [
    'a state too long to be sealed (D-7)',
    { state: 'x'.repeat(4096) },
    'invalid_request',
    /too long/,
  ],
]

test('a faulty authorization request goes back to the client and begins nothing (D-5)', async (t) => {
  const service = await startService(t)

  for (const [title, changes, error, about] of FAULTS) {
    await t.test(`${title} is refused with ${error}`, async () => {
      for (const way of [WAYS.GET, WAYS.POST]) {
        const inQuery = await way(service, authorizationParameters(challenge, changes))
        assert.equal(clientAnswer(inQuery).mode, 'query')
        const state = changes['state'] ?? 'a-state'
        assert.match(assertRefused(service, inQuery, error, state), about)

        if ('response_mode' in changes) continue
        const posted = { ...changes, response_mode: 'form_post' }
        const inForm = await way(service, authorizationParameters(challenge, posted))
        assert.equal(clientAnswer(inForm).mode, 'form_post')
        assert.match(assertRefused(service, inForm, error, state), about)
      }
    })
  }

  await t.test('the same request without a fault begins a login', async () => {
    for (const way of [WAYS.GET, WAYS.POST]) {
      const reply = await way(service, authorizationParameters(challenge))
      assert.equal(reply.status, 302)
      assert.match(reply.headers.location ?? '', /^\/oidc\/login\/username\?authRequestID=[\w-]+$/)
      assert.equal(
        reply.headers['auth-request-id'],
        reply.headers.location?.split('authRequestID=')[1],
      )
      assert.equal(reply.headers['cache-control'], 'no-store')
    }
  })

  await t.test('D-311: a POST reads form and query; a parameter in both is refused', async () => {
    const inQueryAlone = await service.call(
      `/oidc/authorization?${authorizationParameters(challenge)}`,
      { form: [] },
    )
    assert.match(inQueryAlone.headers.location ?? '', /^\/oidc\/login\/username\?/)

    const inBoth = await service.call('/oidc/authorization?prompt=none', {
      form: [...authorizationParameters(challenge), ['prompt', 'login']],
    })
    assert.equal(inBoth.status, 400)
    assert.equal(inBoth.json().error, 'invalid_request')
    assertNothingBegan(inBoth)
  })

  await t.test('a POST that is not a form is refused', async () => {
    const json = Object.fromEntries(authorizationParameters(challenge))
    const reply = await service.call('/oidc/authorization', { json })
    assert.equal(reply.status, 415)
    assert.equal(reply.json().error, 'invalid_request')
    assertNothingBegan(reply)
  })
})

test('R014: a repeated parameter is an error, in query and form alike', async (t) => {
  const service = await startService(t)
  const good = authorizationParameters(challenge, {
    nonce: 'a-nonce',
    response_mode: 'query',
    prompt: 'login',
    max_age: '60',
    method: 'password',
  })
  const known = [...good.keys()].filter((name) => name !== 'client_id' && name !== 'redirect_uri')
  assert.equal(known.length, 10)

  for (const name of known) {
    await t.test(`${name} twice is refused, with another value and with the same`, async () => {
      for (const way of [WAYS.GET, WAYS.POST]) {
        for (const second of ['other', good.get(name) ?? '']) {
          const parameters = new URLSearchParams(good)
          parameters.append(name, second)
          // Two states: neither is the state.
          const state = name === 'state' ? undefined : 'a-state'
          const reply = await way(service, parameters)
          assert.equal(
            assertRefused(service, reply, 'invalid_request', state),
            `${name} is repeated`,
          )
        }
      }
    })
  }

  for (const name of ['client_id', 'redirect_uri']) {
    await t.test(`${name} twice stays here`, async () => {
      for (const way of [WAYS.GET, WAYS.POST]) {
        const parameters = new URLSearchParams(good)
        parameters.append(name, good.get(name) ?? '')
        const reply = await way(service, parameters)
        assert.equal(reply.status, 400)
        assert.equal(reply.headers.location, undefined)
        const error = name === 'client_id' ? 'invalid_client' : 'invalid_request'
        assert.equal(reply.json().error, error)
      }
    })
  }

  await t.test('configTypes repeats (D-9), and so may what we do not know', async () => {
    const parameters = authorizationParameters(challenge)
    for (const name of ['configTypes', 'configTypes', 'unknown', 'unknown']) {
      parameters.append(name, 'value')
    }
    const reply = await WAYS.GET(service, parameters)
    assert.match(reply.headers.location ?? '', /^\/oidc\/login\/username\?/)
  })
})

test('what is unknown or too much', async (t) => {
  const service = await startService(t)

  await t.test('R019: unknown scopes are dropped and known ones granted', async () => {
    const tokens = await logIn(service, { scope: 'email openid admin profile openid' })
    assert.equal((tokens as unknown as { scope: string }).scope, 'openid profile')
    const [, payload = ''] = tokens.access_token.split('.')
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString())
    assert.equal(claims.scope, 'openid profile')
  })

  await t.test('R019: unknown parameters are ignored', async () => {
    await beginLogin(service, { audience: 'x', display: 'popup', ui_locales: 'fr', 'a b': 'c' })
  })

  for (const [method, page] of [
    ['password', 'username'],
    ['cert', 'cert'],
    ['ext-jwt', 'ext-jwt'],
  ] as const) {
    await t.test(`D-6: the method hint ${method} leads to its login`, async () => {
      const parameters = authorizationParameters(challenge, { prompt: 'login', method })
      for (const way of [WAYS.GET, WAYS.POST]) {
        const reply = await way(service, parameters)
        assert.equal(reply.status, 302)
        const location = reply.headers.location ?? ''
        assert.ok(location.startsWith(`/oidc/login/${page}?authRequestID=`), location)
      }
    })
  }

  await t.test('D-6: with no hint and no certificate the login is by password', async () => {
    const reply = await WAYS.GET(service, authorizationParameters(challenge))
    assert.match(reply.headers.location ?? '', /^\/oidc\/login\/username\?authRequestID=/)
  })

  await t.test('64 config types of 2 KiB are taken, one more of either is not (D-9)', async () => {
    const ask = (types: readonly string[]) => {
      const parameters = authorizationParameters(challenge)
      for (const type of types) parameters.append('configTypes', type)
      return WAYS.POST(service, parameters)
    }
    const most = Array.from({ length: 64 }, (_, i) => String(i).padStart(32, '0'))
    const taken = await ask(most)
    assert.match(taken.headers.location ?? '', /^\/oidc\/login\/username\?/)
    for (const types of [[...Array.from({ length: 65 }, (_, i) => `t${i}`)], ['x'.repeat(2049)]]) {
      const reply = await ask(types)
      assert.match(assertRefused(service, reply, 'invalid_request', 'a-state'), /configTypes/)
    }
  })
})
