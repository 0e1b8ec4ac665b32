/**
 * Faults that have no address to go to stay here: a page for browsers, JSON for everybody else, never a redirect.
 * Phase one of D-5; the pages' headers of D-50.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Reply } from '../../support/http-client.ts'
import { authorizationParameters, beginLogin, pkce } from '../../support/login/login.ts'
import { type Service, startService } from '../../support/service.ts'

/** What Chromium sends for a navigation. */
const BROWSER_ACCEPT =
  'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8'

type Changes = Readonly<Record<string, string | undefined>>

const CASES: readonly (readonly [title: string, Changes, error: string])[] = [
  ['R004: an unknown client_id', { client_id: 'stranger' }, 'invalid_client'],
  ['R004: a client_id in another case', { client_id: 'Service' }, 'invalid_client'],
  ['R004: a missing client_id', { client_id: undefined }, 'invalid_client'],
  [
    'R005: a redirect URI that is not allowed',
    { redirect_uri: 'https://evil.example/<script>' },
    'invalid_request',
  ],
  ['R005: a missing redirect URI', { redirect_uri: undefined }, 'invalid_request'],
  [
    'R004: an unknown client with a redirect URI of its own',
    { client_id: 'evil', redirect_uri: 'https://evil.example/callback' },
    'invalid_client',
  ],
]

/** Further faults that would travel over the redirect, if there were one. */
const MORE_FAULTS: readonly Changes[] = [
  {},
  { prompt: 'none' },
  { response_mode: 'form_post', code_challenge: undefined },
  { request_uri: 'https://evil.example/', response_type: 'token' },
]

test('a fault in client_id or redirect_uri stays here', async (t) => {
  const service = await startService(t)
  const { challenge } = pkce()

  async function everyWay(changes: Changes, accept: string | undefined): Promise<Reply[]> {
    const parameters = authorizationParameters(challenge, changes)
    const headers = accept === undefined ? {} : { accept }
    return [
      await service.call(`/oidc/authorization?${parameters}`, { headers }),
      await service.call('/oidc/authorization', { form: [...parameters], headers }),
    ]
  }

  function assertStays(reply: Reply): void {
    assert.equal(reply.status, 400)
    for (const name of ['location', 'refresh', 'auth-request-id', 'set-cookie']) {
      assert.equal(reply.headers[name], undefined, name)
    }
    assert.doesNotMatch(reply.text, /evil/)
    assert.equal(reply.headers['cache-control'], 'no-store')
  }

  for (const [title, changes, error] of CASES) {
    await t.test(`${title} is shown as a page to a browser`, async () => {
      for (const more of MORE_FAULTS) {
        for (const reply of await everyWay({ ...more, ...changes }, BROWSER_ACCEPT)) {
          assertStays(reply)
          assert.match(reply.headers['content-type'] ?? '', /^text\/html; charset=utf-8$/)
          assert.doesNotMatch(reply.text, /<(form|script|a |meta http-equiv)/)
          assert.ok(reply.text.includes(String(reply.headers['x-request-id'])))
        }
      }
    })

    await t.test(`${title} is told in JSON to a program`, async () => {
      for (const accept of [undefined, '*/*', 'application/json']) {
        for (const more of MORE_FAULTS) {
          for (const reply of await everyWay({ ...more, ...changes }, accept)) {
            assertStays(reply)
            assert.equal(reply.json().error, error)
            assert.deepEqual(Object.keys(reply.json()), [
              'error',
              'error_description',
              'code',
              'next',
            ])
          }
        }
      }
    })
  }

  await t.test('R005: the service keeps running', async () => {
    await beginLogin(service)
  })
})

test('R022: every page forbids framing, foreign content, keeping and sniffing (D-50)', async (t) => {
  const service = await startService(t)
  for (const [title, reply] of await allPages(service)) {
    await t.test(title, () => {
      assert.match(reply.headers['content-type'] ?? '', /^text\/html; charset=utf-8$/)
      assert.equal(reply.headers['x-content-type-options'], 'nosniff')
      assert.equal(reply.headers['cache-control'], 'no-store')
      // D-50 in place of no-referrer, which would turn the Origin of the form into null.
      assert.equal(reply.headers['referrer-policy'], 'same-origin')
      const policy = String(reply.headers['content-security-policy']).split('; ')
      assert.ok(policy.includes("default-src 'none'"))
      assert.ok(policy.includes("frame-ancestors 'none'"))
      assert.ok(policy.includes("base-uri 'none'"))
      for (const directive of policy) {
        assert.doesNotMatch(directive, /unsafe-|^script-src (?!'sha256-)/, directive)
      }
      const [formAction, ...others] = policy.filter((part) => part.startsWith('form-action'))
      assert.deepEqual(others, [])
      const expected = reply.text.includes('<form')
        ? "form-action 'self' http://127.0.0.1:9876"
        : "form-action 'none'"
      assert.equal(formAction, expected)
      // Nothing that the policy would have to allow.
      assert.doesNotMatch(reply.text, / on\w+="| style="|<(iframe|object|embed|img|base)/)
    })
  }
})

async function allPages(service: Service): Promise<readonly (readonly [string, Reply])[]> {
  const { challenge } = pkce()
  const headers = { accept: BROWSER_ACCEPT }
  const page = (path: string, form?: readonly [string, string][]) =>
    service.call(path, form === undefined ? { headers } : { headers, form })
  const formPost = authorizationParameters(challenge, {
    response_mode: 'form_post',
    prompt: 'none',
  })
  const { authRequestId } = await beginLogin(service)
  const credentials: [string, string][] = [
    ['authRequestId', authRequestId],
    ['username', '"><script>alert(1)</script>'],
    ['password', 'wrong'],
  ]
  return [
    ['the login page', await page(`/oidc/login/username?authRequestID=${authRequestId}`)],
    ['the page of a failed login', await page('/oidc/login/username', credentials)],
    ['the page of an unknown auth request', await page('/oidc/login/username?authRequestID=x')],
    ['the error page of the authorization', await page('/oidc/authorization')],
    ['the page that posts to the client', await page(`/oidc/authorization?${formPost}`)],
  ]
}
