/** What the token endpoint of an IdP may answer, and whom its tokens are good for. D-12, D-14, D-47, D-156; R104, R106. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  callbackPath,
  cookieBrowser,
  sentTo,
  startPath,
} from '../../support/browser/cookie-browser.ts'
import { newIdpKey, signJwt } from '../../support/idp/external-idp.ts'
import { JSON_PLEASE, prepareIdpLogin } from '../../support/idp/idp-login.ts'
import { AUDIENCE, secondaryChallenge } from '../../support/idp/jwt-login.ts'
import type { LoginIdp } from '../../support/idp/login-idp.ts'
import { assertRefused } from '../../support/management.ts'

const PASSWORD = 'a password of somebody'
const LATER = 9_000_000_000
const NOT_THE_ANSWER = /^idp-refused: the ID token is not the answer to this login \(nonce\)$/

test('what the IdP answers', async (t) => {
  const kit = await prepareIdpLogin(t)
  const { service, admin, idp, signer, away, back, reasonOf, assertStartAgain } = kit
  const impostor = await newIdpKey('a-key')
  const about = { iss: idp.issuer, aud: AUDIENCE, sub: 'zoe', exp: LATER }

  const BAD_TOKENS: readonly [what: string, body: (nonce: string) => Promise<object>, RegExp][] = [
    ['nothing', async () => ({}), /^idp-refused: the answer has no ID token$/],
    ['a list', async () => [], /^idp-refused: the answer has no ID token$/],
    ['a number', async () => ({ id_token: 7 }), NOT_THE_ANSWER],
    ['no JWT', async () => ({ id_token: 'abc' }), NOT_THE_ANSWER],
    [
      'an ID token without a nonce',
      async () => ({ id_token: await signJwt(idp.key, about) }),
      NOT_THE_ANSWER,
    ],
    [
      'the ID token of another login',
      async () => ({ id_token: await signJwt(idp.key, { ...about, nonce: 'another' }) }),
      NOT_THE_ANSWER,
    ],
    [
      'a token of another issuer',
      async (nonce) => ({
        id_token: await signJwt(idp.key, { ...about, iss: 'https://b', nonce }),
      }),
      /^idp-refused: the ID token is not a JWT of the signer$/,
    ],
    [
      'a token with a forged signature',
      async (nonce) => ({ id_token: await signJwt(impostor, { ...about, nonce }) }),
      /^jwt-invalid: the signature is wrong$/,
    ],
    [
      'a token for another audience',
      async (nonce) => ({ id_token: await signJwt(idp.key, { ...about, aud: 'b', nonce }) }),
      /^jwt-invalid: the claim aud is refused$/,
    ],
  ]
  for (const [what, body, reason] of BAD_TOKENS) {
    await t.test(`R104: ${what} does not log in`, async () => {
      const { browser, location } = await away()
      const value = await body(location.searchParams.get('nonce') ?? '')
      idp.answer = (response) => void response.end(JSON.stringify(value))
      const reply = await back(browser, location, { code: 'x' })
      idp.answer = undefined
      assertRefused(reply, 401, 'UNAUTHORIZED')
      assert.match(await reasonOf(reply), reason)
    })
  }

  const BAD_ANSWERS: readonly [what: string, answer: NonNullable<LoginIdp['answer']>, RegExp][] = [
    ['500', (response) => void response.writeHead(500).end('{}'), /has the status 500$/],
    [
      'a redirect',
      (response) => void response.writeHead(307, { location: '/elsewhere' }).end(),
      /is a redirect \(307\); those are not followed$/,
    ],
    ['a page', (response) => void response.end('<html>'), /is not JSON that can be read$/],
    [
      'more than 256 KiB',
      (response) => void response.end(JSON.stringify({ id_token: 'x'.repeat(300_000) })),
      /is larger than 256 KiB$/,
    ],
    ['nothing, for ever', () => {}, /it took longer than 5s$/],
  ]
  for (const [what, answer, reason] of BAD_ANSWERS) {
    await t.test(`R106: a token endpoint that answers with ${what} is out of order`, async () => {
      const { browser, location } = await away()
      idp.answer = answer
      let isBack = false
      const waiting = back(browser, location, { code: 'x' }).finally(() => {
        isBack = true
      })
      if (what === 'nothing, for ever') {
        await cookieBrowser(service).begin()
        assert.equal(isBack, false, 'nobody else waits for it')
      }
      const reply = await waiting
      idp.answer = undefined
      assertRefused(reply, 503, 'IDP_UNAVAILABLE')
      assert.match(await reasonOf(reply), reason)
    })
  }

  await t.test(
    'D-12: unknown identities and those that may not log in get the same generic error',
    async () => {
      const policy = await admin.createPolicy({ primary: { updb: { allowed: true } } })
      await admin.createIdentity({ externalId: 'not-this-way', policy })
      const { id } = await admin.createIdentity({ externalId: 'disabled' })
      await admin.act('POST', `/identities/${id}/disable`, { durationMinutes: 0 })
      const texts = new Set<string>()
      for (const subject of ['stranger', 'not-this-way', 'disabled']) {
        const { browser, location, begun } = await away()
        const code = idp.approve(location, subject)
        assertRefused(await back(browser, location, { code }), 401, 'INVALID_AUTH')
        const again = sentTo(await browser.get(startPath(signer, begun.authRequestId)))
        const page = await browser.get(callbackPath(again, { code: idp.approve(again, subject) }))
        const [, alert = ''] = /role="alert">([^<]+)</.exec(page.text) ?? []
        texts.add(`${page.status} ${alert}`)
      }
      const text = '401 That account cannot be used to sign in here. Try another one.'
      assert.deepEqual([...texts], [text])
    },
  )

  /** A browser that has sent the password of somebody whose policy demands a token of the IdP, and is there. */
  async function awayForSecond(externalId: string) {
    const policy = await admin.createPolicy({ secondary: { requireExtJwt: signer } })
    const person = await admin.createIdentity({ password: PASSWORD, externalId, policy })
    const browser = cookieBrowser(service)
    const { authRequestId } = await browser.begin()
    const { username, password } = person
    await browser.post('/oidc/login/username', { authRequestId, username, password })
    const path = startPath(signer, authRequestId, { factor: 'secondary' })
    return { person, browser, authRequestId, location: sentTo(await browser.get(path)) }
  }

  await t.test('D-14: a second proof of another identity is not accepted', async () => {
    // Attack (R069): whoever knows a password brings the token of an account of his own.
    const { browser, authRequestId, location } = await awayForSecond('bob')
    const reply = await back(browser, location, { code: idp.approve(location, 'zoe') })
    assert.equal(reply.status, 401)
    assert.equal(reply.json().error.code, 'UNAUTHORIZED')
    const challenge = secondaryChallenge('invalid', { id: signer, issuer: idp.issuer })
    assert.equal(reply.headers['www-authenticate'], challenge)

    // Nor does the password alone prove anything: no code is asked for, and no app can be set up (R027).
    for (const step of ['/oidc/login/totp', '/oidc/login/totp/enroll']) {
      const path = `${step}?authRequestID=${encodeURIComponent(authRequestId)}`
      const asked = await browser.get(path, JSON_PLEASE)
      await assertStartAgain(asked, 'no primary factor is proven')
    }
  })

  await t.test('the page of a second proof that failed says so and leads there again', async () => {
    const { browser, location } = await awayForSecond('eve')
    const answer = { code: idp.approve(location, 'zoe') }
    const page = await browser.get(callbackPath(location, answer))
    assert.equal(page.status, 401)
    assert.match(page.text, /role="alert">That account does not belong to your account here/)
    assert.match(page.text, /href="[^"]+factor=secondary">Continue with Example/)
  })

  await t.test('D-156: the identity is looked at again before what was kept counts', async () => {
    const { person, browser, location } = await awayForSecond('dora')
    await admin.act('POST', `/identities/${person.id}/disable`, { durationMinutes: 0 })
    const reply = await back(browser, location, { code: idp.approve(location, 'dora') })
    await assertStartAgain(reply, 'identity-disabled')
  })

  await t.test('D-156: what was kept in one browser is not accepted in another login', async () => {
    const { browser, location } = await awayForSecond('fred')
    const other = await awayForSecond('gina')
    const kept = [...browser.cookies].find(([name]) => name.includes('-primary-'))?.[1] ?? ''
    const [name = ''] = [...other.browser.cookies.keys()].filter((one) => one.includes('-primary-'))
    assert.ok(kept !== '' && name !== '' && location.href !== other.location.href)
    other.browser.cookies.set(name, kept)
    const code = idp.approve(other.location, 'fred')
    const reply = await back(other.browser, other.location, { code })
    await assertStartAgain(reply, 'no primary factor is kept in this browser')
  })
})
