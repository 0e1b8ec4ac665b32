/**
 * What reaches the client, and how: `code` or `error` with `state` and `iss`, in the query or as a posted form.
 * RFC 6749 §4.1.2, RFC 9207, OAuth 2.0 Form Post Response Mode; D-5, D-8, D-11.
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, test } from 'node:test'
import { clientAnswer } from '../../support/client/client-answer.ts'
import type { Reply } from '../../support/http-client.ts'
import {
  authorizationParameters,
  authorize,
  beginLogin,
  exchange,
  logIn,
  pkce,
  REDIRECT_URI,
  submitPassword,
} from '../../support/login/login.ts'
import { ADMIN, forAll, type Service, serviceAt, startService } from '../../support/service.ts'

type Changes = Readonly<Record<string, string | undefined>>

const { challenge } = pkce()

/** The two answers that a client gets: a code, and a refusal. */
const ANSWERS = {
  async success(service: Service, changes: Changes): Promise<Reply> {
    const { authRequestId } = await beginLogin(service, changes)
    return submitPassword(service, authRequestId)
  },
  refusal: (service: Service, changes: Changes): Promise<Reply> =>
    authorize(service, authorizationParameters(challenge, { ...changes, prompt: 'none' })),
} as const

const PRINTABLE_STATES = [
  ['spaces', ' two  spaces '],
  ['what a query uses itself', 'a=b&c=d?e#f;g+h%20i%'],
  ['quotes and brackets', `"'<script>alert(1)</script>&amp;&#38;`],
  ['a backslash', '\\n\\u0041'],
  ['a URL', 'https://evil.example/?code=stolen&state=x'],
  ['accents, composed and not', 'caf\u00e9 cafe\u0301'],
  ['letters from right to left', '\u202eabc \u05e9'],
  ['characters beyond 16 bits', '\u{1f511}\u{10ffff}'],
  ['the word undefined', 'undefined'],
  ['a thousand characters', 'aZ9_-.~'.repeat(143)],
] as const

/** No browser could post these unchanged in a form; in a query they must survive. */
const CONTROL_STATES = [
  ['line breaks', 'a\r\nset-cookie: x=y\n\nb\r'],
  ['a NUL and other control characters', '\0\u0001\t\u007f\u0085\u2028'],
] as const

describe('an answer to the client', () => {
  const service = forAll(startService)

  test('R015: state comes back as it was sent', async (t) => {
    for (const [title, state] of [...PRINTABLE_STATES, ...CONTROL_STATES]) {
      await t.test(`with ${title}, in the query`, async () => {
        const { mode, parameters } = clientAnswer(await ANSWERS.refusal(service, { state }))
        assert.equal(mode, 'query')
        assert.equal(parameters.get('state'), state)
      })
    }

    for (const [title, state] of PRINTABLE_STATES) {
      await t.test(`with ${title}, in a form`, async () => {
        const changes = { state, response_mode: 'form_post' }
        const { mode, parameters } = clientAnswer(await ANSWERS.refusal(service, changes))
        assert.equal(mode, 'form_post')
        assert.equal(parameters.get('state'), state)
      })
    }

    await t.test('with all of this at once, beside a code', async () => {
      const printable = PRINTABLE_STATES.map(([, state]) => state).join('')
      const all = printable + CONTROL_STATES.map(([, state]) => state).join('')
      const inQuery = clientAnswer(await ANSWERS.success(service, { state: all }))
      assert.equal(inQuery.parameters.get('state'), all)
      const posted = { state: printable, response_mode: 'form_post' }
      const inForm = clientAnswer(await ANSWERS.success(service, posted))
      assert.equal(inForm.parameters.get('state'), printable)
    })

    await t.test('an absent state stays absent', async () => {
      for (const responseMode of ['query', 'form_post']) {
        for (const answer of Object.values(ANSWERS)) {
          const changes = { state: undefined, response_mode: responseMode }
          const { parameters } = clientAnswer(await answer(service, changes))
          assert.equal(parameters.has('state'), false)
        }
      }
    })

    await t.test('a state that is not UTF-8 is refused, not repaired', async () => {
      for (const broken of ['%ff', '%c3%28', '%zz', '%']) {
        const parameters = authorizationParameters(challenge, { state: undefined })
        const reply = await service.call(`/oidc/authorization?${parameters}&state=${broken}`)
        assert.equal(reply.status, 400)
        assert.equal(reply.json().error, 'invalid_request')
        assert.equal(reply.headers.location, undefined)
      }
    })
  })

  test('the code goes to the redirect URI as it was given', async (t) => {
    await t.test('in the query by default: state, iss and code, and no more', async () => {
      const { parameters, target } = clientAnswer(await ANSWERS.success(service, {}))
      assert.ok(target.startsWith(`${REDIRECT_URI}?state=`))
      assert.deepEqual([...parameters.keys()], ['state', 'iss', 'code'])
      assert.match(parameters.get('code') ?? '', /^[\w-]{22,}$/)
    })

    await t.test('a query of its own is kept, byte for byte (D-8)', async () => {
      const redirectUri = 'http://127.0.0.1:9876/callback?a=1&b=%7e+%20&a=2'
      const { location } = (await ANSWERS.refusal(service, { redirect_uri: redirectUri })).headers
      assert.ok(location?.startsWith(`${redirectUri}&error=login_required&`), `${location}`)
    })

    await t.test('response_mode=form_post posts the same fields from a page', async () => {
      const keys = pkce()
      const begun = await authorize(
        service,
        authorizationParameters(keys.challenge, { response_mode: 'form_post' }),
      )
      const authRequestId = begun.headers['auth-request-id']
      assert.equal(typeof authRequestId, 'string')
      const reply = await submitPassword(service, String(authRequestId))
      const { target, parameters } = clientAnswer(reply)
      assert.equal(target, REDIRECT_URI)
      assert.deepEqual([...parameters.keys()], ['state', 'iss', 'code'])
      assert.match(reply.text, /<button type="submit">/, 'works where scripts are off')

      const exchanged = await exchange(service, {
        code: parameters.get('code'),
        code_verifier: keys.verifier,
        redirect_uri: REDIRECT_URI,
      })
      assert.equal(exchanged.status, 200, exchanged.text)
    })

    await t.test(
      'the page that posts runs its one script and leads nowhere else (D-50)',
      async () => {
        for (const answer of Object.values(ANSWERS)) {
          const reply = await answer(service, { response_mode: 'form_post' })
          const policy = String(reply.headers['content-security-policy'])
          const scripts = [...reply.text.matchAll(/<script>([^<]*)<\/script>/g)].map(
            ([, text]) => text,
          )
          assert.equal(scripts.length, 1)
          const hash = createHash('sha256')
            .update(scripts[0] ?? '')
            .digest('base64')
          assert.match(policy, /(^|; )default-src 'none'(;|$)/)
          assert.ok(policy.split('; ').includes(`script-src 'sha256-${hash}'`), policy)
          assert.ok(policy.split('; ').includes("form-action 'self' http://127.0.0.1:9876"), policy)
          assert.equal(reply.headers['cache-control'], 'no-store')
        }
      },
    )
  })

  test('R016: nonce appears in the ID token when it was sent, and only then', async () => {
    const claimsOf = (jwt: string) =>
      JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString())

    for (const nonce of ['n-0S6_WzA2Mj', ' "odd"+%\u{1f511}']) {
      assert.equal(claimsOf((await logIn(service, { nonce })).id_token).nonce, nonce)
    }
    assert.equal('nonce' in claimsOf((await logIn(service)).id_token), false)
  })

  test('R017: the answer carries iss, equal to the issuer that was asked', async (t) => {
    const baseUrls = service.instance.listeners[0]?.baseUrls ?? []
    assert.equal(baseUrls.length, 3)

    for (const baseUrl of baseUrls) {
      await t.test(`at ${new URL(baseUrl).hostname}`, async () => {
        const there = serviceAt(service, baseUrl)
        const metadata = (await there.call('/oidc/.well-known/openid-configuration')).json()
        assert.equal(metadata.authorization_response_iss_parameter_supported, true)
        for (const responseMode of ['query', 'form_post']) {
          for (const answer of Object.values(ANSWERS)) {
            const { parameters } = clientAnswer(
              await answer(there, { response_mode: responseMode }),
            )
            assert.equal(parameters.get('iss'), metadata.issuer)
          }
        }
      })
    }
  })

  test('R020: the way back is the stored redirect URI, whatever the later steps say', async (t) => {
    // Attack: whoever can add a parameter or a header to the login call sends the code somewhere else.
    const evil = 'https://evil.example/callback'
    const names = ['redirect_uri', 'redirectUri', 'return_to', 'continue', 'next', 'url', 'target']
    const additions = Object.fromEntries(names.map((name) => [name, evil]))
    const query = new URLSearchParams(additions)
    const headers = {
      referer: evil,
      'x-forwarded-host': 'evil.example',
      'x-forwarded-proto': 'http',
      'x-original-url': evil,
      forwarded: 'host=evil.example',
    }

    await t.test('the code goes to the stored one', async () => {
      const { authRequestId } = await beginLogin(service)
      const json = { authRequestId, ...ADMIN, ...additions, state: 'other', iss: evil }
      const reply = await service.call(`/oidc/login/username?${query}`, { json, headers })
      const { target, parameters } = clientAnswer(reply)
      assert.ok(target.startsWith(`${REDIRECT_URI}?state=`), target)
      assert.equal(parameters.get('state'), 'a-state')
      assert.equal(parameters.get('iss'), `${service.baseUrl}/oidc`)
    })

    await t.test('the login page, the failed login and the error page do not name it', async () => {
      const { authRequestId } = await beginLogin(service)
      const asBrowser = { ...headers, accept: 'text/html' }
      const shown = await service.call(
        `/oidc/login/username?authRequestID=${authRequestId}&${query}`,
        { headers: asBrowser },
      )
      const failed = await service.call(`/oidc/login/username?${query}`, {
        form: Object.entries({ authRequestId, username: 'admin', password: 'no', ...additions }),
        headers: asBrowser,
      })
      const refused = await service.call(`/oidc/authorization?client_id=service&${query}`, {
        headers: asBrowser,
      })
      assert.deepEqual(
        [shown, failed, refused].map(({ status }) => status),
        [200, 401, 400],
      )
      for (const page of [shown, failed, refused]) {
        assert.equal(page.headers.location, undefined)
        assert.equal(page.headers['refresh'], undefined)
        assert.doesNotMatch(page.text, /evil\.example/)
        assert.doesNotMatch(String(page.headers['content-security-policy']), /evil\.example/)
        assert.doesNotMatch(page.text, /http-equiv/i)
      }
      assert.match(
        shown.text,
        /<form method="post" action="\/oidc\/login\/username\?authRequestID=[\w-]+">/,
      )
    })

    await t.test('a redirect to the login page stays at this origin', async () => {
      const reply = await authorize(service, authorizationParameters(challenge), { headers })
      assert.match(reply.headers.location ?? '', /^\/oidc\/login\/username\?authRequestID=[\w-]+$/)
    })
  })

  test('R021: every redirect is a 302, so that no browser posts credentials again', async () => {
    // Attack: a browser repeats a POST with its body after 307 and 308; the client would get the password.
    const { challenge: fresh } = pkce()
    const form = [...authorizationParameters(fresh)]
    const begun = await service.call('/oidc/authorization', { form })
    const refused = await service.call('/oidc/authorization', {
      form: [...form, ['prompt', 'none']],
    })
    const authRequestId = String(begun.headers['auth-request-id'])
    const done = await service.call('/oidc/login/username', {
      form: [['authRequestId', authRequestId], ...Object.entries(ADMIN)],
    })
    for (const reply of [begun, refused, done]) {
      assert.equal(reply.status, 302)
      assert.notEqual(reply.headers.location, undefined)
      assert.equal(reply.text, '')
    }
    assert.doesNotMatch(done.headers.location ?? '', new RegExp(encodeURIComponent(ADMIN.password)))
  })
})
