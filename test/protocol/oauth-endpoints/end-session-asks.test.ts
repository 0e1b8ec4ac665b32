/**
 * /oidc/end_session in a browser, if no hint names a session: it asks, then ends the session of the browser, and never
 * claims something that did not happen. D-242, D-30, D-161; OIDC RP-Initiated Logout §2.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { decodeJwt } from 'jose'
import type { CookieBrowser } from '../../support/browser/cookie-browser.ts'
import { cookieBrowser } from '../../support/browser/cookie-browser.ts'
import type { Reply } from '../../support/http-client.ts'
import {
  assertRefusedPage,
  formTokenOf,
  headingOf,
  openAccount,
  post,
  SESSION_COOKIE,
} from '../../support/login/account.ts'
import { PASSWORD } from '../../support/login/authenticator-app.ts'
import { answerTo } from '../../support/login/challenges.ts'
import { eventsOf } from '../../support/login/refresh.ts'
import { administrate, logInAs } from '../../support/management.ts'
import { demand } from '../../support/policies.ts'
import { type Service, startService } from '../../support/service.ts'
import { sql } from '../../support/stores/sql.ts'

const PATH = '/oidc/end_session'
const BYE = 'http://127.0.0.1:9876/bye'
const OTHER_SITE = { 'sec-fetch-site': 'cross-site', origin: 'https://app.example' }

async function start(t: TestContext) {
  const service = await startService(t)
  const admin = await administrate(service)
  const name = 'Ada <b>& Co</b>'
  const ada = await admin.createIdentity({ name, username: 'ada', password: PASSWORD })
  return { service, admin, ada }
}

const query = (parameters: Readonly<Record<string, string>>) =>
  `${PATH}?${new URLSearchParams(parameters)}`

/** Whether the cookie of this browser still opens the account page. */
const isSignedIn = async (browser: CookieBrowser) => (await browser.get('/account')).status === 200

const endings = async (service: Service) =>
  (await sql(service, 'select subject from session_endings')).length

/** Presses the button on the page with the question. */
function confirm(service: Service, browser: CookieBrowser, question: Reply): Promise<Reply> {
  const hidden = [...question.text.matchAll(/type="hidden" name="([^"]+)" value="([^"]*)"/g)]
  const form = hidden.map(([, name = '', value = '']) => [name, unescaped(value)] as const)
  return post(service, browser, PATH, form)
}

const unescaped = (text: string) =>
  text.replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)))

test('asks a browser with a session, and ends nothing before the confirmation', async (t) => {
  const { service, ada } = await start(t)
  const { browser } = await openAccount(service, ada)
  const before = await endings(service)
  for (const path of [PATH, query({ client_id: 'service' }), query({ state: 's' })]) {
    const question = await browser.get(path)
    assert.equal(question.status, 200, question.text)
    assert.equal(headingOf(question.text), 'Sign out?')
    assert.ok(question.text.includes('Ada &#60;b&#62;&#38; Co&#60;/b&#62;'), 'the account is named')
    assert.doesNotMatch(question.text, /Signed out/)
    assert.equal(question.headers['cache-control'], 'no-store')
    assert.match(String(question.headers['content-security-policy']), /form-action 'self';/)
  }
  assert.equal(await endings(service), before)
  assert.ok(await isSignedIn(browser))
})

test('the confirmation ends the session of the browser and its token, and says so', async (t) => {
  const { service, ada } = await start(t)
  const elsewhere = await logInAs(service, ada)
  const { browser } = await openAccount(service, ada)
  const [row] = await sql(
    service,
    `select id from api_sessions where id <> '${decodeJwt(elsewhere.access_token)['z_asid']}'
     and identity_id = '${ada.id}'`,
  )
  const stolen = browser.cookies.get(SESSION_COOKIE) ?? ''
  const reply = await confirm(service, browser, await browser.get(PATH))
  assert.equal(reply.status, 200, reply.text)
  assert.equal(headingOf(reply.text), 'Signed out')
  assert.match(reply.text, /<a href="\/account" rel="noreferrer">Go to your account<\/a>/)
  assert.equal(browser.cookies.get(SESSION_COOKIE) || undefined, undefined, 'R113: the cookie goes')
  assert.equal(await isSignedIn(browser), false)
  // A copy of the cookie does not work either.
  const thief = cookieBrowser(service)
  thief.cookies.set(SESSION_COOKIE, stolen)
  assert.equal(await isSignedIn(thief), false)
  const events = await eventsOf(service, String(row?.['id']))
  assert.ok(events.includes('session.ended: logout'), String(events))
  assert.equal(await answerTo(service, elsewhere.access_token), 'taken', 'other sessions stay')
})

test('D-8: redirects back after the confirmation, with the state of the request', async (t) => {
  const { service, ada } = await start(t)
  const { browser } = await openAccount(service, ada)
  const state = 'a b&c=d#é"<'
  const parameters = { client_id: 'service', post_logout_redirect_uri: BYE, state }
  const question = await browser.get(query(parameters))
  assert.equal(headingOf(question.text), 'Sign out?')
  assert.match(
    String(question.headers['content-security-policy']),
    /form-action 'self' http:\/\/127\.0\.0\.1:9876;/,
    'Chromium would block the redirect',
  )
  assert.ok(await isSignedIn(browser))
  const reply = await confirm(service, browser, question)
  assert.equal(reply.status, 302, reply.text)
  assert.equal(reply.headers.location, `${BYE}?state=${encodeURIComponent(state)}`)
  assert.equal(await isSignedIn(browser), false)
})

test('tells a browser without a session that there is none, and never that it was signed out', async (t) => {
  const { service, ada } = await start(t)
  const tokens = await logInAs(service, ada)
  const forged = cookieBrowser(service)
  forged.cookies.set(SESSION_COOKIE, 'x')
  const over = (await openAccount(service, ada)).browser
  const copy = over.cookies.get(SESSION_COOKIE) ?? ''
  await confirm(service, over, await over.get(PATH))
  over.cookies.set(SESSION_COOKIE, copy)
  for (const browser of [cookieBrowser(service), forged, over]) {
    const isSent = browser.cookies.has(SESSION_COOKIE)
    const reply = await browser.get(PATH)
    assert.equal(reply.status, 200, reply.text)
    assert.equal(headingOf(reply.text), 'You are not signed in')
    assert.doesNotMatch(reply.text, /Signed out|<form/)
    assert.match(reply.text, /<a href="\/account" rel="noreferrer">Go to your account<\/a>/)
    // A cookie that was not sent, as from another site, is not deleted.
    assert.equal(reply.headers['set-cookie'] !== undefined, isSent)
    // An application can still get its redirect: the page claims nothing on the way.
    const back = await browser.get(query({ post_logout_redirect_uri: BYE, state: 's' }))
    assert.equal(back.status, 302, back.text)
    assert.equal(back.headers.location, `${BYE}?state=s`)
  }
  assert.equal(await answerTo(service, tokens.access_token), 'taken')
})

test('a foreign bearer token names no session: the browser is still asked', async (t) => {
  const { service, ada } = await start(t)
  const { browser } = await openAccount(service, ada)
  const question = await browser.get(PATH, { headers: { authorization: 'Bearer x' } })
  assert.equal(headingOf(question.text), 'Sign out?')
  assert.ok(await isSignedIn(browser))
})

test('a form of an application leads to the question, because it is sent without cookies', async (t) => {
  // SameSite=Lax: a POST from another site comes without the session cookie, so its absence means nothing.
  const { service, ada } = await start(t)
  const { browser } = await openAccount(service, ada)
  const parameters = { post_logout_redirect_uri: BYE, state: 'é &', client_id: 'service' }
  const form = Object.entries(parameters)
  const foreign = await post(service, cookieBrowser(service), PATH, form, OTHER_SITE)
  assert.equal(foreign.status, 303, foreign.text)
  assert.equal(foreign.headers.location, query(parameters).replace('+', '%20'))
  const question = await browser.get(foreign.headers.location ?? '')
  assert.equal(headingOf(question.text), 'Sign out?')
  assert.equal(
    (await confirm(service, browser, question)).headers.location,
    `${BYE}?state=%C3%A9%20%26`,
  )

  const bare = await post(service, cookieBrowser(service), PATH, [], OTHER_SITE)
  assert.deepEqual([bare.status, bare.headers.location], [303, PATH])
  const long = await post(service, cookieBrowser(service), PATH, [['state', 'x'.repeat(9_000)]])
  await assertRefusedPage(service, long, 400, 'COULD_NOT_VALIDATE')
})

test('R100: only the user can end the session of a browser', async (t) => {
  // Attack: a page of another site makes the browser send the confirmation; it cannot read the token of the form.
  const { service, admin, ada } = await start(t)
  const { browser, page } = await openAccount(service, ada)
  const question = await browser.get(PATH)
  const token = formTokenOf(question.text, PATH)
  const eve = await admin.createIdentity({ password: PASSWORD })
  const other = await openAccount(service, eve)
  const foreign = formTokenOf((await other.browser.get(PATH)).text, PATH)
  const ofAnotherForm = formTokenOf(await page('/account'), '/account/sign-out')
  for (const forged of ['x', foreign, ofAnotherForm]) {
    const reply = await post(service, browser, PATH, [['formToken', forged]])
    await assertRefusedPage(service, reply, 403, 'FORBIDDEN')
  }
  for (const headers of [OTHER_SITE, { 'sec-fetch-site': 'same-site' }, { origin: 'null' }]) {
    const reply = await post(service, browser, PATH, [['formToken', token]], headers)
    await assertRefusedPage(service, reply, 403, 'FORBIDDEN')
  }
  const twice = [
    ['formToken', token],
    ['formToken', token],
  ] as const
  await assertRefusedPage(service, await post(service, browser, PATH, twice), 403, 'FORBIDDEN')
  const inAddress = await browser.get(query({ formToken: token }))
  assert.equal(headingOf(inAddress.text), 'Sign out?')
  const evil = [
    ['formToken', token],
    ['post_logout_redirect_uri', 'https://evil.example/'],
  ] as const
  const away = await post(service, browser, PATH, evil)
  await assertRefusedPage(service, away, 400, 'INVALID_POST_LOGOUT_URI')
  assert.ok(await isSignedIn(browser))

  assert.equal(headingOf((await confirm(service, browser, question)).text), 'Signed out')
  const again = await confirm(service, browser, question)
  assert.equal(headingOf(again.text), 'You are not signed in', 'the answer, sent twice')
})

test('D-52: a session that lacks a demanded JWT can be ended', async (t) => {
  const { service, admin } = await start(t)
  const policy = await admin.createPolicy()
  const bob = await admin.createIdentity({
    name: 'bob',
    username: 'bob',
    password: PASSWORD,
    policy,
  })
  const { browser } = await openAccount(service, bob)
  const signer = await admin.createSigner({ issuer: 'https://idp.example' })
  await demand(admin, policy, { requireExtJwt: signer })
  const reply = await confirm(service, browser, await browser.get(PATH))
  assert.equal(headingOf(reply.text), 'Signed out')
})

test('D-30: programs are answered {} as before, with or without cookies, and nothing ends', async (t) => {
  const { service, ada } = await start(t)
  const { browser } = await openAccount(service, ada)
  const accept = { headers: { accept: 'application/json' } }
  for (const reply of [
    await browser.get(PATH, accept),
    await browser.get(PATH, { ...accept, method: 'POST', form: [] }),
    await service.call(PATH),
  ]) {
    assert.equal(reply.status, 200, reply.text)
    assert.deepEqual(reply.json(), {})
  }
  assert.ok(await isSignedIn(browser))
})
