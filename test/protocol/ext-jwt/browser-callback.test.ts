/**
 * GET /oidc/login/ext-jwt/callback: the answer of an IdP counts in the browser that was sent there, for that login, once.
 * D-47, D-155; RFC 9207, RFC 9700 §4.4, §4.5, §4.7.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { minutes, seconds } from '../../../src/base/time/duration.ts'
import { failureOf } from '../../support/audit.ts'
import {
  callbackPath,
  cookieBrowser,
  sentTo,
  startPath,
} from '../../support/browser/cookie-browser.ts'
import { passUptime } from '../../support/clocks/pass-uptime.ts'
import { UptimeClock } from '../../support/clocks/uptime-clock.ts'
import { JSON_PLEASE, prepareIdpLogin } from '../../support/idp/idp-login.ts'
import { tokensOf } from '../../support/idp/jwt-login.ts'
import { startLoginIdp } from '../../support/idp/login-idp.ts'
import { assertRefused } from '../../support/management.ts'
import { sql } from '../../support/stores/sql.ts'

const UNKNOWN = 'this browser was not sent to an IdP with that state'
const ANOTHER_TRIP = 'the state is that of another round trip'
const BAD_GRANT = 'idp-refused: the token endpoint answered invalid_grant'

test('the way back', async (t) => {
  const kit = await prepareIdpLogin(t)
  const { service, admin, idp, signer, away, back, assertStartAgain, assertNoProof } = kit

  await t.test('an answer without what it needs is refused by the name of the field', async () => {
    const { browser, location } = await away()
    const state = location.searchParams.get('state') ?? ''
    const get = (query: string) => browser.get(`/oidc/login/ext-jwt/callback${query}`, JSON_PLEASE)
    assertRefused(await get('?code=x'), 400, 'COULD_NOT_VALIDATE', 'state')
    assertRefused(await get(`?state=${state}`), 400, 'COULD_NOT_VALIDATE', 'code')
    const codes = await get(`?state=${state}&code=x&code=y`)
    assertRefused(codes, 400, 'COULD_NOT_VALIDATE', 'code')
    const states = await get(`?state=${state}&state=${state}&code=x`)
    assertRefused(states, 400, 'COULD_NOT_VALIDATE', 'state')
    const long = await get(`?state=${state}&code=${'x'.repeat(8_193)}`)
    assertRefused(long, 400, 'COULD_NOT_VALIDATE', 'code')
    await assertStartAgain(await get('?state=nonsense&code=x'), UNKNOWN)
    assert.equal(idp.redeemed.length, 0)
  })

  await t.test("an attacker's response has no effect in another user's browser", async () => {
    // Attack (R033): login CSRF. The attacker logs in at the IdP himself and has the victim open his callback, so that
    // the victim works in the attacker's account.
    const attacker = await away()
    const victim = await away()
    const code = idp.approve(attacker.location, 'zoe')
    await assertStartAgain(await back(victim.browser, attacker.location, { code }), UNKNOWN)
    const other = cookieBrowser(service)
    await assertStartAgain(await back(other, attacker.location, { code }), UNKNOWN)
    // The victim's state with the attacker's code fails by PKCE, at the IdP.
    const reply = await back(victim.browser, victim.location, { code })
    await assertNoProof(reply, 'invalid', BAD_GRANT)
  })

  await t.test('the cookie of one login does not serve another one', async () => {
    const { browser, location } = await away()
    const before = new Set(browser.cookies.keys())
    await browser.begin()
    const [fresh = ''] = [...browser.cookies.keys()].filter((name) => !before.has(name))
    const key = fresh.slice('__Host-latchkey-'.length)
    const [, kept = ''] = [...browser.cookies].find(([name]) => name.includes('-idp-')) ?? []
    browser.cookies.set(`__Host-latchkey-idp-${key}-0`, kept)
    const [, secret] = (location.searchParams.get('state') ?? '').split('.')
    const path = `/oidc/login/ext-jwt/callback?code=x&state=${key}.${secret}`
    await assertStartAgain(await browser.get(path, JSON_PLEASE), ANOTHER_TRIP)
  })

  await t.test('the auth request beside the seal cannot be exchanged', async () => {
    const { browser, location } = await away()
    const other = await browser.begin()
    for (const [name, value] of browser.cookies) {
      if (!name.includes('-idp-')) continue
      browser.cookies.set(name, `${other.authRequestId}.${value.split('.')[1]}`)
    }
    const reply = await back(browser, location, { code: 'x' })
    await assertStartAgain(reply, 'the state is that of another login')
  })

  await t.test('D-10: without the cookie of the login the response is not accepted', async () => {
    const { browser, location } = await away()
    for (const name of browser.cookies.keys()) {
      if (!name.includes('-idp-')) browser.cookies.delete(name)
    }
    const reply = await back(browser, location, { code: idp.approve(location, 'zoe') })
    await assertStartAgain(reply, 'the cookie of the browser that began the login is missing')
  })

  await t.test('only the last of several ways to an IdP leads back', async (t) => {
    // Attack: mix-up (RFC 9700 §4.4). The person chose an evil IdP first and the good one then; the code of the good one
    // must not go to the evil one.
    const evil = await startLoginIdp(t, service)
    const there = await evil.register(admin)
    const { browser, location, begun } = await away(cookieBrowser(service), there)
    const then = sentTo(await browser.get(startPath(signer, begun.authRequestId)))
    const code = idp.approve(then, 'zoe')
    await assertStartAgain(await back(browser, location, { code }), ANOTHER_TRIP)
    assert.equal(evil.redeemed.length, 0)
    await tokensOf(service, begun, await back(browser, then, { code }))
  })

  await t.test('R024: the login has expired meanwhile', async () => {
    const { browser, location } = await away()
    const code = idp.approve(location, 'zoe')
    service.clock.advance(minutes(10))
    await assertStartAgain(await back(browser, location, { code }), 'the auth request has expired')
  })

  await t.test('an answer works once, also when nothing came of it', async () => {
    const { browser, location, begun } = await away()
    const cookies = new Map(browser.cookies)
    const code = idp.approve(location, 'zoe')
    const asked = idp.redeemed.length
    const wrong = await back(browser, location, { code: 'wrong' })
    await assertNoProof(wrong, 'invalid', BAD_GRANT)
    await assertStartAgain(await back(browser, location, { code }), 'the state was used before')
    // D-427: reloaded while the first one is under way, or because its response was lost.
    const reloaded = await browser.get(callbackPath(location, { code }))
    assert.equal(reloaded.status, 400)
    assert.match(reloaded.text, /href="\/oidc\/login\/restart[^"]+">Start again<\/a>/)
    assert.equal(idp.redeemed.length, asked + 1)

    const again = sentTo(await browser.get(startPath(signer, begun.authRequestId)))
    const good = idp.approve(again, 'zoe')
    await tokensOf(service, begun, await back(browser, again, { code: good }))
    for (const [name, value] of cookies) browser.cookies.set(name, value)
    const late = await back(browser, location, { code })
    await assertStartAgain(late, 'the auth request has its tokens already')
  })

  await t.test('R028: of one answer twenty times at once, one logs in', async () => {
    const { browser, location, begun } = await away()
    const code = idp.approve(location, 'zoe')
    const asked = idp.redeemed.length
    const path = callbackPath(location, { code })
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const headers = { accept: 'application/json', 'sec-fetch-site': 'cross-site', cookie }
    const calls = Array.from({ length: 20 }, () => service.call(path, { headers }))
    const replies = await Promise.all(calls)
    const [won, ...others] = replies.filter(({ status }) => status === 302)
    assert.ok(won !== undefined && others.length === 0)
    for (const reply of replies.filter(({ status }) => status !== 302)) {
      assertRefused(reply, 400, 'INVALID_AUTH_REQUEST')
    }
    assert.equal(idp.redeemed.length, asked + 1, 'the IdP saw the code once')
    await tokensOf(service, begun, won)
  })

  for (const [error, words] of [
    ['access_denied', 'access_denied'],
    ['<script>alert(1)</script>', 'an error'],
  ] as const) {
    await t.test(
      `the IdP says ${words}: so does the page, and offers the choice again`,
      async () => {
        const { browser, location, begun } = await away()
        const answer = { error, error_description: 'please <b>call</b> 555 1234' }
        const reply = await back(browser, location, answer)
        await assertNoProof(reply, 'missing', `idp-refused: the IdP answered ${words}`)
        const page = await browser.get(callbackPath(location, answer))
        assert.equal(page.status, 401)
        assert.match(
          page.text,
          /role="alert">The identity provider did not sign you in\. Try again/,
        )
        assert.match(page.text, /Continue with Example/)
        assert.doesNotMatch(page.text, /555|alert\(1\)/)
        const again = sentTo(await browser.get(startPath(signer, begun.authRequestId)))
        const code = idp.approve(again, 'zoe')
        await tokensOf(service, begun, await back(browser, again, { code }))
      },
    )
  }

  await t.test('RFC 9207: the answer of another issuer is not redeemed', async () => {
    const { browser, location } = await away()
    const asked = idp.redeemed.length
    const code = idp.approve(location, 'zoe')
    const reply = await back(browser, location, { code, iss: 'https://evil.example' })
    await assertNoProof(reply, 'invalid', 'idp-refused: the answer is of another issuer (iss)')
    assert.equal(idp.redeemed.length, asked)
  })

  await t.test('RFC 9207: an IdP that always names itself must have done so', async (t) => {
    const strict = await startLoginIdp(t, service)
    const { issuer } = strict
    strict.document = { ...strict.document, authorization_response_iss_parameter_supported: true }
    const id = await strict.register(admin)
    const { browser, location, begun } = await away(cookieBrowser(service), id)
    const code = strict.approve(location, 'zoe')
    assertRefused(await back(browser, location, { code }), 401, 'UNAUTHORIZED')
    await tokensOf(service, begun, await back(browser, location, { code, iss: issuer }))
  })

  await t.test('a signer that is gone by now gets no code', async (t) => {
    const other = await startLoginIdp(t, service)
    const id = await other.register(admin)
    const { browser, location } = await away(cookieBrowser(service), id)
    const code = other.approve(location, 'zoe')
    await admin.act('DELETE', `/external-jwt-signers/${id}`)
    const reply = await back(browser, location, { code })
    await assertStartAgain(reply, 'the signer has changed meanwhile')
    assert.equal(other.redeemed.length, 0)
  })

  await t.test('R109: a failure is an event with its exact reason, and no secret', async () => {
    const { browser, location } = await away()
    const event = await failureOf(
      service,
      await back(browser, location, { error: 'access_denied' }),
    )
    assert.equal(event.reason, 'idp-refused')
    const why = 'Example: the IdP answered access_denied'
    assert.deepEqual(event.details, { method: 'ext-jwt', why })
  })
})

test('D-155: failures from an address do not refuse a good answer from the same address', async (t) => {
  const config = { edge: { limits: { failuresPerAddress: 3 } } }
  const { away, back, idp } = await prepareIdpLogin(t, config)
  const { browser, location } = await away()
  for (let n = 0; n < 3; n += 1) {
    const reply = await back(browser, location, { error: 'access_denied' })
    assertRefused(reply, 401, 'UNAUTHORIZED')
    const other = await away()
    const wrong = await back(other.browser, other.location, { code: 'guessed' })
    assertRefused(wrong, 401, 'UNAUTHORIZED')
  }
  const code = idp.approve(location, 'zoe')
  assert.equal((await back(browser, location, { code })).status, 302)
})

test('D-155: the IdP gets a limited number of calls at the same time, and every return is answered', async (t) => {
  const { away, back, idp } = await prepareIdpLogin(t)
  const trips = await Promise.all(Array.from({ length: 40 }, () => away()))
  let atOnce = 0
  let most = 0
  idp.answer = async (response) => {
    atOnce += 1
    most = Math.max(most, atOnce)
    await setTimeout(20)
    atOnce -= 1
    response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":"invalid_grant"}')
  }
  const replies = await Promise.all(
    trips.map(({ browser, location }) => back(browser, location, { code: 'guessed' })),
  )
  for (const reply of replies) assertRefused(reply, 401, 'UNAUTHORIZED')
  assert.equal(idp.redeemed.length, 40)
  assert.ok(most <= 16, `${most} at the same time`)
})

test('D-487: while the copy of the rules is too old, the IdP gets no users and no codes, and nothing is spent', async (t) => {
  const clock = new UptimeClock()
  const { service, signer, away, back, idp } = await prepareIdpLogin(t, {}, clock)
  const { browser, begun, location } = await away()
  const code = idp.approve(location, 'zoe')
  const start = startPath(signer, (await browser.begin()).authRequestId)

  // The instance can no longer read the rules.
  await sql(service, 'alter table rule_versions rename to out_of_reach')
  clock.pass(seconds(6))
  assertRefused(await back(browser, location, { code }), 503, 'NOT_READY')
  assert.equal(idp.redeemed.length, 0)
  assertRefused(await browser.get(start, JSON_PLEASE), 503, 'NOT_READY')

  await sql(service, 'alter table out_of_reach rename to rule_versions')
  await passUptime(service, clock, seconds(0))
  await tokensOf(service, begun, await back(browser, location, { code }))
})
