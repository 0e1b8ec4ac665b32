/**
 * Which API is where: SPEC Authentication 8 and 9, D-2. What a listener does not bind is 404 there; OIDC joins
 * `edge-client` by itself unless it is listed somewhere or the joining is switched off.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Binding } from '../../../src/config/config.ts'
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
import { type Service, serviceAt, startService } from '../../support/service.ts'

/** One address of each API that answers 200 without a credential. */
const SIGN_OF_LIFE = {
  'edge-client': ['/edge/client/v1/version'],
  'edge-management': ['/edge/management/v1/version'],
  'edge-oidc': [
    '/oidc/keys',
    '/.well-known/openid-configuration',
    '/oidc/.well-known/openid-configuration',
  ],
  console: ['/console/assets/console.css', '/console/signed-out'],
  'health-checks': ['/health-checks', '/health-checks/live'],
  metrics: ['/metrics'],
} as const satisfies Record<Binding, readonly string[]>
const BINDINGS = Object.keys(SIGN_OF_LIFE) as Binding[]

function listener(name: string, ...bindings: readonly Binding[]) {
  return {
    name,
    bindPoints: [{ interface: '127.0.0.1:0', address: 'localhost:0' }],
    apis: bindings.map((binding) => ({ binding })),
  }
}

/** The service as each of its listeners shows it, in the same order. */
async function startListeners<const L extends readonly ReturnType<typeof listener>[]>(
  t: TestContext,
  web: L,
  api: object = {},
): Promise<{ [I in keyof L]: Service }> {
  const service = await startService(t, { config: { web, edge: { api } } })
  const shown = service.instance.listeners.map(({ baseUrls }) =>
    serviceAt(service, baseUrls[0] ?? ''),
  )
  assert.equal(shown.length, web.length)
  return shown as { [I in keyof L]: Service }
}

async function boundAt(service: Service): Promise<readonly Binding[]> {
  const found: Binding[] = []
  for (const binding of BINDINGS) {
    const replies = await Promise.all(SIGN_OF_LIFE[binding].map((path) => service.call(path)))
    const statuses = new Set(replies.map(({ status }) => status))
    assert.equal(statuses.size, 1, `${binding} is there as a whole or not at all`)
    if (statuses.has(200)) found.push(binding)
    else {
      for (const reply of replies) {
        assert.equal(reply.status, 404)
        assert.equal(reply.json().error.code, 'NOT_FOUND')
      }
    }
  }
  return found
}

test('OIDC is added to every listener with edge-client, and to no other', async (t) => {
  const [one, two, three] = await startListeners(t, [
    listener('one', 'edge-client'),
    listener('two', 'edge-management'),
    listener('three', 'edge-management', 'edge-client'),
  ])
  assert.deepEqual(await boundAt(one), ['edge-client', 'edge-oidc'])
  assert.deepEqual(await boundAt(two), ['edge-management'])
  assert.deepEqual(await boundAt(three), ['edge-client', 'edge-management', 'edge-oidc'])
})

test('OIDC that is listed somewhere is added nowhere', async (t) => {
  const [clients, login, more] = await startListeners(t, [
    listener('clients', 'edge-client'),
    listener('login', 'edge-oidc'),
    listener('more', 'edge-client', 'edge-management'),
  ])
  assert.deepEqual(await boundAt(clients), ['edge-client'])
  assert.deepEqual(await boundAt(login), ['edge-oidc'])
  assert.deepEqual(await boundAt(more), ['edge-client', 'edge-management'])
})

test('OIDC that is listed beside edge-client is there once, and not elsewhere', async (t) => {
  const [one, two] = await startListeners(t, [
    listener('one', 'edge-client', 'edge-oidc'),
    listener('two', 'edge-client'),
  ])
  assert.deepEqual(await boundAt(one), ['edge-client', 'edge-oidc'])
  assert.deepEqual(await boundAt(two), ['edge-client'])
  for (const path of ['/version', '/edge/client/v1/version']) {
    assert.deepEqual((await one.call(path)).json().data.capabilities, ['OIDC_AUTH'])
    assert.deepEqual((await two.call(path)).json().data.capabilities, [], 'API 3.1')
  }
})

test('with disableOidcAutoBinding OIDC is only where it is listed', async (t) => {
  const [one, two, three] = await startListeners(
    t,
    [
      listener('one', 'edge-client'),
      listener('two', 'edge-management', 'edge-oidc'),
      listener('three', 'edge-client', 'edge-oidc'),
    ],
    { disableOidcAutoBinding: true },
  )
  assert.deepEqual(await boundAt(one), ['edge-client'])
  assert.deepEqual(await boundAt(two), ['edge-management', 'edge-oidc'])
  assert.deepEqual(await boundAt(three), ['edge-client', 'edge-oidc'])
})

test('with disableOidcAutoBinding and no listing there is no OIDC at all', async (t) => {
  const [one] = await startListeners(t, [listener('one', 'edge-client', 'edge-management')], {
    disableOidcAutoBinding: true,
  })
  assert.deepEqual(await boundAt(one), ['edge-client', 'edge-management'])
  const { data } = (await one.call('/version')).json()
  assert.deepEqual(data.capabilities, [])
  assert.deepEqual(Object.keys(data.apiVersions), ['edge-client', 'edge-management'])
  for (const path of ['/oidc/authorization', '/oidc/token', '/oidc/login/username']) {
    const reply = await one.call(path, { form: [] })
    assert.equal(reply.status, 404)
    assert.equal(reply.json().error.code, 'NOT_FOUND')
  }
})

test('with disableOidcAutoBinding false it is as if it were not written', async (t) => {
  const [one] = await startListeners(t, [listener('one', 'edge-client')], {
    disableOidcAutoBinding: false,
  })
  assert.deepEqual(await boundAt(one), ['edge-client', 'edge-oidc'])
})

test('every listener tells what there is and where', async (t) => {
  const [apis, login] = await startListeners(t, [
    listener('apis', 'edge-client', 'edge-management'),
    listener('login', 'edge-oidc'),
  ])
  for (const service of [apis, login]) {
    const { data } = (await service.call('/version')).json()
    assert.ok('edge-oidc' in data.apiVersions)
    // D-319: clients that read it log in at the address that they asked.
    assert.deepEqual(data.capabilities, service === login ? ['OIDC_AUTH'] : [])
    const v1 = (path: string, at: Service) => ({
      v1: { path, apiBaseUrls: [`${at.baseUrl}${path}`] },
    })
    assert.deepEqual(data.apiVersions, {
      'edge-client': v1('/edge/client/v1', apis),
      'edge-management': v1('/edge/management/v1', apis),
      'edge-oidc': v1('/oidc', login),
    })
  }
})

test('OIDC on a listener of its own serves the APIs of the others (SPEC Authentication 9)', async (t) => {
  const [apis, management, login] = await startListeners(t, [
    listener('apis', 'edge-client'),
    listener('management', 'edge-management'),
    listener('login', 'edge-oidc'),
  ])
  const tokens = await logIn(login)

  await t.test('the issuer is the address of the login listener', () => {
    for (const jwt of [tokens.access_token, tokens.id_token]) {
      assert.equal(claimsOf(jwt).iss, `${login.baseUrl}/oidc`)
    }
  })

  await t.test('its tokens are accepted on every API', async () => {
    for (const path of ['current-api-session', 'current-identity']) {
      const options = bearer(tokens.access_token)
      assert.equal((await apis.call(`/edge/client/v1/${path}`, options)).status, 200)
      assert.equal((await management.call(`/edge/management/v1/${path}`, options)).status, 200)
    }
  })

  await t.test('the login listener has no API, whatever the credential', async () => {
    for (const prefix of ['/edge/client/v1', '/edge/management/v1']) {
      const reply = await login.call(`${prefix}/current-identity`, bearer(tokens.access_token))
      assert.equal(reply.status, 404)
      assert.equal(reply.json().error.code, 'NOT_FOUND')
      assert.equal(reply.headers['www-authenticate'], undefined)
    }
  })
})

test('the issuer follows the address that the client used, and stays (D-2)', async (t) => {
  const service = await startService(t, {
    config: {
      web: [
        {
          ...listener('one', 'edge-client'),
          bindPoints: [
            { interface: '127.0.0.1:0', address: 'localhost:0' },
            { interface: '127.0.0.1:0', address: '127.0.0.1:0' },
          ],
        },
        listener('two', 'edge-client'),
      ],
    },
  })
  const everywhere = service.instance.listeners
    .flatMap(({ baseUrls }) => baseUrls)
    .map((baseUrl) => serviceAt(service, baseUrl))
  assert.equal(new Set(everywhere.map(({ baseUrl }) => baseUrl)).size, 3)

  for (const [i, here] of everywhere.entries()) {
    const name = here.baseUrl.replace(/\d+$/, `PORT of listener ${i < 2 ? 'one' : 'two'}`)
    await t.test(`tokens of ${name} name it and open every API`, async () => {
      const { access_token: token, id_token: idToken } = await logIn(here)
      assert.equal(claimsOf(token).iss, `${here.baseUrl}/oidc`)
      assert.equal(claimsOf(idToken).iss, `${here.baseUrl}/oidc`)
      for (const there of everywhere) {
        const reply = await there.call('/edge/client/v1/current-identity', bearer(token))
        assert.equal(reply.status, 200, `${here.baseUrl} at ${there.baseUrl}`)
      }
    })
  }

  await t.test(
    'the issuer of the authorization stays, wherever the later steps are taken',
    async () => {
      const [first, second, third] = everywhere as [Service, Service, Service]
      const { authRequestId, verifier } = await beginLogin(first)
      const answer = answerOf(await submitPassword(second, authRequestId))
      assert.equal(answer.get('iss'), `${first.baseUrl}/oidc`)
      const reply = await exchange(third, {
        code: answer.get('code') ?? undefined,
        code_verifier: verifier,
        redirect_uri: REDIRECT_URI,
      })
      assert.equal(reply.status, 200, reply.text)
      assert.equal(claimsOf(reply.json().access_token).iss, `${first.baseUrl}/oidc`)
    },
  )

  await t.test('the keys are the same everywhere', async () => {
    const sets = await Promise.all(everywhere.map((there) => there.call('/oidc/keys')))
    assert.equal(new Set(sets.map(({ text }) => text)).size, 1)
  })
})

test('each listener has its own redirectURIs', async (t) => {
  const withOptions = (name: string, uri: string) => ({
    ...listener(name),
    apis: [{ binding: 'edge-oidc' as const, options: { redirectURIs: [uri] } }],
  })
  const [one, two] = await startListeners(t, [
    withOptions('one', 'https://one.example.com/callback'),
    withOptions('two', 'https://two.example.com/callback'),
  ])
  const { challenge } = pkce()
  const ask = (service: Service, redirectUri: string) =>
    authorize(service, authorizationParameters(challenge, { redirect_uri: redirectUri }))
  for (const [service, own, foreign] of [
    [one, 'https://one.example.com/callback', 'https://two.example.com/callback'],
    [two, 'https://two.example.com/callback', 'https://one.example.com/callback'],
  ] as const) {
    assert.equal((await ask(service, own)).status, 302)
    const refused = await ask(service, foreign)
    assert.equal(refused.status, 400)
    assert.equal(refused.json().error, 'invalid_request')
  }
})

// biome-ignore lint/suspicious/noExplicitAny: claims of any shape
function claimsOf(jwt: string): any {
  return JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString())
}
