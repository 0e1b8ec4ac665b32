/** The sign-in pages over the protocol: language, branding, and a login that is started again. D-342 … D-344, D-346. */
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { minutes } from '../../../src/base/time/duration.ts'
import { cookieBrowser, sentTo } from '../../support/browser/cookie-browser.ts'
import { headingOf, openAccount } from '../../support/login/account.ts'
import { PASSWORD, startEnrollment, totpPolicy } from '../../support/login/authenticator-app.ts'
import { answerOf, beginLogin, submitPassword } from '../../support/login/login.ts'
import { administrate } from '../../support/management.ts'
import { startService, temporaryFolder } from '../../support/service.ts'

const LOGO = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><path d="M0 0h9v9z"/></svg>'

const loginPath = (id: string, more = '') => `/oidc/login/username?authRequestID=${id}${more}`

test('the sign-in pages', async (t) => {
  const logo = join(await temporaryFolder(t), 'logo.svg')
  await writeFile(logo, LOGO)
  const service = await startService(t, {
    config: {
      branding: {
        name: 'Example <Corp>',
        logo,
        colors: { accent: '#0A6B4F' },
        support: 'mailto:help@example.org',
      },
    },
  })
  const admin = await administrate(service)
  const person = await admin.createIdentity({ password: PASSWORD })
  const browser = () => cookieBrowser(service)

  await t.test('D-342: a page is in the language of Accept-Language and says so', async () => {
    const visitor = browser()
    const { authRequestId } = await visitor.begin()
    const headers = { 'accept-language': 'de-AT,de;q=0.9,en;q=0.8' }
    const german = await visitor.get(loginPath(authRequestId), { headers })
    assert.equal(headingOf(german.text), 'Anmelden')
    assert.match(german.text, /<html lang="de">/)
    assert.equal(german.headers['content-language'], 'de')
    assert.equal(german.headers['vary'], 'Accept, Accept-Language, Cookie')
    const english = await visitor.get(loginPath(authRequestId))
    assert.equal(headingOf(english.text), 'Sign in')
    assert.equal(english.headers['content-language'], 'en')
  })

  await t.test(
    'D-342: the switch on the page is remembered for the pages that follow',
    async () => {
      const visitor = browser()
      const { authRequestId } = await visitor.begin()
      const page = await visitor.get(loginPath(authRequestId))
      const link = /<a href="([^"]+)" lang="de"/.exec(page.text)?.[1]?.replaceAll('&#38;', '&')
      assert.equal(link, loginPath(authRequestId, '&ui_locales=de'))
      assert.equal(headingOf((await visitor.get(link)).text), 'Anmelden')
      assert.equal(visitor.cookies.get('__Host-latchkey-language'), 'de')
      const wrong = { authRequestId, username: 'nobody', password: 'wrong password' }
      const refused = await visitor.post('/oidc/login/username', wrong)
      assert.equal(refused.status, 401)
      assert.match(refused.text, /Benutzername und Passwort stimmen nicht überein/)
      assert.match(refused.text, /<title>Fehler: Anmelden – Example/)
    },
  )

  await t.test(
    'D-342: ui_locales of the application counts first, until the user switches',
    async () => {
      const visitor = browser()
      visitor.cookies.set('__Host-latchkey-language', 'en')
      const { authRequestId } = await visitor.begin({ ui_locales: 'fr-FR de' })
      assert.equal(headingOf((await visitor.get(loginPath(authRequestId))).text), 'Anmelden')
      await visitor.get(loginPath(authRequestId, '&ui_locales=en'))
      assert.equal(headingOf((await visitor.get(loginPath(authRequestId))).text), 'Sign in')
    },
  )

  await t.test(
    'D-342: a refusal is a page in the language of the reader; programs get English',
    async () => {
      const headers = { 'accept-language': 'de' }
      const page = await browser().get('/oidc/login/username?authRequestID=x', { headers })
      assert.equal(page.status, 400)
      assert.equal(headingOf(page.text), 'Diese Anmeldung ist beendet')
      const program = await service.call('/oidc/login/username?authRequestID=x', { headers })
      assert.equal(program.json().error.code, 'INVALID_AUTH_REQUEST')
      assert.equal(program.headers['content-language'], undefined)
    },
  )

  await t.test(
    'D-343: name, logo, color and help are on every page, escaped, and allowed by its policy',
    async () => {
      const visitor = browser()
      const { authRequestId } = await visitor.begin()
      const { text, headers } = await visitor.get(loginPath(authRequestId))
      assert.match(text, /<title>Sign in – Example &#60;Corp&#62;<\/title>/)
      assert.match(text, /<img class="logo" src="\/branding\/logo" alt="Example &#60;Corp&#62;"/)
      assert.match(text, /--accent: #0a6b4f;/)
      assert.match(
        text,
        /<a href="mailto:help@example.org" rel="noopener noreferrer">Get help<\/a>/,
      )
      const policy = String(headers['content-security-policy'])
      assert.match(policy, /img-src 'self' data:;/)
      assert.doesNotMatch(policy, /unsafe/)
      const shown = await service.call('/branding/logo')
      assert.equal(shown.text, LOGO)
      assert.equal(shown.headers['content-type'], 'image/svg+xml')
      assert.match(String(shown.headers['content-security-policy']), /default-src 'none'/)
      assert.equal(shown.headers['x-content-type-options'], 'nosniff')
    },
  )

  await t.test('D-343, D-19: authenticator apps show the name as the issuer', async () => {
    const policy = await totpPolicy(admin)
    const person = await admin.createIdentity({ password: PASSWORD, policy })
    const { authRequestId } = await beginLogin(service)
    const { username, password } = person
    await submitPassword(service, authRequestId, { username, password })
    const started = await startEnrollment(service, authRequestId)
    assert.equal(started.status, 201, started.text)
    const { provisioningUrl } = started.json()
    const url = new URL(provisioningUrl)
    assert.equal(url.searchParams.get('issuer'), 'Example <Corp>')
  })

  await t.test('D-346: every page says who is signing in to what', async () => {
    const visitor = browser()
    const { authRequestId } = await visitor.begin()
    const login = await visitor.get(loginPath(authRequestId))
    assert.match(login.text, /You are signing in to an application on this device\./)
    const account = browser()
    const begun = await account.get('/account')
    const { text } = await account.get(begun.headers.location ?? '')
    assert.match(text, /You are signing in to your account\./)
  })

  await t.test(
    'D-344: an expired sign-in starts again, and the application gets its own state',
    async () => {
      const visitor = browser()
      const { authRequestId } = await visitor.begin({ state: 'the state of the application' })
      service.clock.advance(minutes(11))
      visitor.cookies.clear()
      const expired = await visitor.get(loginPath(authRequestId))
      assert.equal(expired.status, 400)
      assert.equal(headingOf(expired.text), 'This sign-in has ended')
      const link = /<a class="choice only" href="([^"]+)">Start again<\/a>/.exec(expired.text)?.[1]
      assert.equal(link, `/oidc/login/restart?authRequestID=${authRequestId}`)
      const again = await visitor.get(link)
      assert.equal(again.status, 302)
      const { pathname, searchParams } = new URL(again.headers.location ?? '', service.baseUrl)
      assert.equal(pathname, '/oidc/login/username')
      const id = searchParams.get('authRequestID') ?? ''
      assert.notEqual(id, authRequestId)
      const { username, password } = person
      const done = await visitor.post('/oidc/login/username', {
        authRequestId: id,
        username,
        password,
      })
      const answer = answerOf(done)
      assert.equal(answer.get('state'), 'the state of the application')
      assert.ok(answer.get('code'))
      assert.match(sentTo(done).href, /^http:\/\/127\.0\.0\.1:9876\/callback\?/)
    },
  )

  await t.test(
    'D-344: a complete sign-in can be started again, one that is open elsewhere cannot',
    async () => {
      const visitor = browser()
      const { authRequestId } = await visitor.begin()
      const elsewhere = await browser().get(loginPath(authRequestId))
      assert.equal(elsewhere.status, 400)
      assert.doesNotMatch(elsewhere.text, /restart/)
      const { username, password } = person
      answerOf(await visitor.post('/oidc/login/username', { authRequestId, username, password }))
      const complete = await visitor.get(loginPath(authRequestId))
      assert.equal(complete.status, 400)
      assert.match(complete.text, /\/oidc\/login\/restart\?authRequestID=/)
    },
  )

  // Attack: a forged id, or the id of a login that a program began, is used to send a user somewhere (R020, R024).
  await t.test(
    'R024, D-344: what we did not seal, and what a program began, cannot be started again',
    async () => {
      const visitor = browser()
      const { authRequestId } = await beginLogin(service)
      service.clock.advance(minutes(11))
      for (const id of [authRequestId, 'x', `${authRequestId.slice(0, -4)}AAAA`]) {
        const shown = await visitor.get(loginPath(id))
        assert.equal(shown.status, 400)
        assert.doesNotMatch(shown.text, /restart/)
        const refused = await visitor.get(`/oidc/login/restart?authRequestID=${id}`)
        assert.equal(refused.status, 400)
        assert.equal(refused.headers.location, undefined)
        const program = await service.call(`/oidc/login/restart?authRequestID=${id}`)
        assert.equal(program.json().error.code, 'INVALID_AUTH_REQUEST')
      }
    },
  )

  await t.test('D-344: an expired sign-in to the account page starts again there', async () => {
    const visitor = browser()
    const begun = await visitor.get('/account')
    const id = new URL(begun.headers.location ?? '', service.baseUrl).searchParams.get(
      'authRequestID',
    )
    service.clock.advance(minutes(11))
    const again = await visitor.get(`/oidc/login/restart?authRequestID=${id}`)
    assert.equal(again.headers.location, '/account')
  })

  await t.test('the overview shows the last sign-in in the language of the reader', async () => {
    const { page } = await openAccount(service, person)
    assert.match(await page('/account'), /Last sign-in: <time/)
    assert.match(
      await page('/account?ui_locales=de'),
      /Letzte Anmeldung: <time[^>]*>\d\d\.\d\d\.20/,
    )
    assert.equal(headingOf(await page('/account')), 'Übersicht')
  })
})
