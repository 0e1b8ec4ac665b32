/**
 * Which redirect URIs the running service follows: SPEC Authentication 10, D-8, phase one of D-5. What is not
 * allowed is answered on the spot; nothing is ever sent to it.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConfigProblems } from '../../../src/config/problems.ts'
import { clientAnswer } from '../../support/client/client-answer.ts'
import type { Reply } from '../../support/http-client.ts'
import {
  authorizationParameters,
  authorize,
  beginLogin,
  exchange,
  obtainCode,
  pkce,
  submitPassword,
} from '../../support/login/login.ts'
import { type Service, startService } from '../../support/service.ts'

const { challenge } = pkce()

const ask = (service: Service, redirectUri: string | undefined): Promise<Reply> =>
  authorize(service, authorizationParameters(challenge, { redirect_uri: redirectUri }))

function assertRefusedHere(reply: Reply): void {
  assert.equal(reply.status, 400, reply.text)
  assert.equal(reply.headers.location, undefined)
  assert.equal(reply.headers['refresh'], undefined)
  assert.equal(reply.headers['auth-request-id'], undefined)
  assert.deepEqual(reply.json(), {
    error: 'invalid_request',
    error_description: 'the redirect_uri is missing or not one of the allowed ones',
    code: 'INVALID_REDIRECT_URI',
    next: 'fix-configuration',
  })
}

async function assertFollowed(service: Service, redirectUri: string): Promise<void> {
  const { authRequestId } = await beginLogin(service, { redirect_uri: redirectUri })
  const { target } = clientAnswer(await submitPassword(service, authRequestId))
  const mark = redirectUri.includes('?') ? '&' : '?'
  assert.ok(target.startsWith(`${redirectUri}${mark}state=`), target)
}

// Attack: a redirect URI that looks like the person's own machine to our check and like the attacker's host to the
// browser, or the other way round, carries the code to the attacker. Whatever two readers could read differently
// is refused.
const HOSTILE: readonly (readonly [title: string, uri: string])[] = [
  ['another host', 'https://evil.example/callback'],
  ['a host that begins like ours', 'http://localhost.evil.example/callback'],
  ['a host that ends like ours', 'http://evil-localhost/callback'],
  ['user info that looks like ours', 'http://127.0.0.1:1@evil.example/callback'],
  ['user info before our host', 'http://evil.example@127.0.0.1/callback'],
  ['an empty user info', 'http://@127.0.0.1/callback'],
  ['a fragment', 'http://127.0.0.1/callback#code'],
  ['an empty fragment', 'http://127.0.0.1/callback#'],
  ['a backslash for a slash', 'http:\\\\127.0.0.1\\callback'],
  ['a backslash before the at', 'http://127.0.0.1\\@evil.example/'],
  ['a backslash in the path', 'http://127.0.0.1/a\\b'],
  ['an encoded slash', 'http://127.0.0.1/a%2fb'],
  ['an encoded backslash', 'http://127.0.0.1/a%5Cb'],
  ['encoded dots', 'http://127.0.0.1/%2e%2e/callback'],
  ['plain dots', 'http://127.0.0.1/a/../callback'],
  ['a host with a trailing dot', 'http://localhost./callback'],
  ['an encoded host', 'http://%6cocalhost/callback'],
  ['a host with a tab', 'http://local\thost/callback'],
  ['a leading space', ' http://127.0.0.1/callback'],
  ['a trailing line break', 'http://127.0.0.1/callback\n'],
  ['a line break that would start a header', 'http://127.0.0.1/\r\nset-cookie: a=b'],
  ['a NUL', 'http://127.0.0.1/\0'],
  ['a port in another base', 'http://127.0.0.1:0x50/callback'],
  ['a port with leading zeros', 'http://127.0.0.1:0080/callback'],
  ['the default port, written out', 'http://127.0.0.1:80/callback'],
  ['a port that is no number', 'http://127.0.0.1:http/callback'],
  ['a port above 65535', 'http://127.0.0.1:65536/callback'],
  ['a negative port', 'http://127.0.0.1:-1/callback'],
  ['a port of *', 'http://127.0.0.1:*/callback'],
  ['a port separator without a port', 'http://127.0.0.1:/callback'],
  ['a short IPv4 address', 'http://127.1/callback'],
  ['an IPv4 address as one number', 'http://2130706433/callback'],
  ['an octal IPv4 address', 'http://0177.0.0.1/callback'],
  ['another loopback address', 'http://127.0.0.2/callback'],
  ['a long IPv6 address', 'http://[0:0:0:0:0:0:0:1]/callback'],
  ['an IPv4-mapped IPv6 address', 'http://[::ffff:127.0.0.1]/callback'],
  ['full-width letters', 'http://ｌocalhost/callback'],
  ['a Cyrillic look-alike', 'http://lоcalhost/callback'],
  ['a scheme in capitals', 'HTTP://127.0.0.1/callback'],
  ['a host in capitals', 'http://LOCALHOST/callback'],
  ['one slash', 'http:/127.0.0.1/callback'],
  ['three slashes', 'http:///127.0.0.1/callback'],
  ['no scheme', '//127.0.0.1/callback'],
  ['a path', '/callback'],
  ['a word', 'callback'],
  ['javascript', 'javascript:alert(1)//127.0.0.1/'],
  ['data', 'data:text/html,<script>alert(1)</script>'],
  ['blob', 'blob:http://127.0.0.1/9115d58c'],
  ['file', 'file:///etc/passwd'],
  ['a custom scheme that nobody listed', 'com.evil.app:/callback'],
  ['an over-long URI', `http://127.0.0.1/${'a'.repeat(2048)}`],
]

test('with no redirectURIs configured', async (t) => {
  const service = await startService(t)

  for (const [title, uri] of HOSTILE) {
    await t.test(`R005, R007: ${title} is refused here, with 400 and no Location`, async () => {
      assertRefusedHere(await ask(service, uri))
    })
  }

  await t.test('a missing or empty redirect_uri is refused here', async () => {
    assertRefusedHere(await ask(service, undefined))
    assertRefusedHere(await ask(service, ''))
  })

  await t.test('R005: the service keeps running after all of these', async () => {
    await assertFollowed(service, 'http://127.0.0.1:9876/callback')
  })

  for (const host of ['127.0.0.1', '[::1]', 'localhost']) {
    await t.test(`R008, R009: ${host} works on any port and path, as it was written`, async () => {
      await assertFollowed(service, `http://${host}:1/`)
      await assertFollowed(service, `http://${host}:65535/any/path?with=a&query=%20`)
      await assertFollowed(service, `https://${host}/callback`)
      await assertFollowed(service, `http://${host}:8080`)
    })
  }
})

test('with redirectURIs configured', async (t) => {
  const redirectURIs = [
    'https://app.example.com/callback',
    'https://app.example.com/callback?tenant=a',
    'http://127.0.0.1:*/native',
    'com.example.app:/callback',
  ]
  const service = await startService(t, {
    config: { web: listeners([{ binding: 'edge-oidc', options: { redirectURIs } }]) },
  })

  for (const uri of [
    'https://app.example.com/callback',
    'https://app.example.com/callback?tenant=a',
    'http://127.0.0.1/native',
    'http://127.0.0.1:5/native',
    'http://127.0.0.1:54321/native',
    'com.example.app:/callback',
  ]) {
    await t.test(`R006: ${uri} is followed`, () => assertFollowed(service, uri))
  }

  for (const [title, uri] of [
    ['another scheme', 'http://app.example.com/callback'],
    ['another host', 'https://app.example.org/callback'],
    ['a host below ours', 'https://x.app.example.com/callback'],
    ['another path', 'https://app.example.com/callback/'],
    ['a path below ours', 'https://app.example.com/callback/x'],
    ['a path in capitals', 'https://app.example.com/Callback'],
    ['another query', 'https://app.example.com/callback?tenant=b'],
    ['a longer query', 'https://app.example.com/callback?tenant=a&x=1'],
    ['an empty query', 'https://app.example.com/callback?'],
    ['a port where none is free', 'https://app.example.com:8443/callback'],
    ['a free port with another path', 'http://127.0.0.1:5/other'],
    ['a free port with another scheme', 'https://127.0.0.1:5/native'],
    ['a free port with another name of the host', 'http://localhost:5/native'],
    ['a longer custom URI', 'com.example.app:/callback/x'],
    ['a custom URI with slashes', 'com.example.app://callback'],
    ['what was allowed by default', 'http://127.0.0.1:9876/callback'],
  ] as const) {
    await t.test(`R006: ${title} is refused here`, async () => {
      assertRefusedHere(await ask(service, uri))
    })
  }

  await t.test('R012: the token call must name the same redirect_uri, port included', async () => {
    const { code, verifier } = await obtainCode(service, {
      redirect_uri: 'http://127.0.0.1:5000/native',
    })
    const reply = await exchange(service, {
      code,
      code_verifier: verifier,
      // Allowed by the same pattern, and yet not the one.
      redirect_uri: 'http://127.0.0.1:5001/native',
    })
    assert.equal(reply.status, 400)
    assert.equal(reply.json().error, 'invalid_grant')
  })
})

test('a list with a bad entry stops the start', async (t) => {
  for (const [title, entry, reason] of [
    ['R010: a * in the host', 'https://*.example.com/callback', /\* outside the port position/],
    ['R010: a * in the path', 'https://app.example.com/*', /\* outside the port position/],
    ['R010: a * in the scheme', '*://app.example.com/', /\* outside the port position/],
    ['R010: a * inside a port', 'http://127.0.0.1:80*/', /\* outside the port position/],
    ['R011: http to another machine', 'http://app.example.com/callback', /plain http/],
    ['the scheme javascript', 'javascript:alert(1)', /scheme javascript/],
  ] as const) {
    await t.test(`${title} is named in the refusal`, async (t) => {
      const apis = [{ binding: 'edge-oidc', options: { redirectURIs: [entry] } }]
      await assert.rejects(
        startService(t, { config: { web: listeners(apis) } }),
        (error: unknown) => {
          assert.ok(error instanceof ConfigProblems)
          const [problem, ...others] = error.problems
          assert.deepEqual(others, [])
          assert.equal(problem?.path, 'web[0].apis[0].options.redirectURIs[0]')
          assert.match(problem?.message ?? '', reason)
          assert.ok(problem?.message.includes(entry))
          return true
        },
      )
    })
  }
})

function listeners(apis: readonly object[]) {
  const bindPoints = [{ interface: '127.0.0.1:0', address: 'localhost:0' }]
  return [{ name: 'only', bindPoints, apis }]
}
