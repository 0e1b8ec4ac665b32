/**
 * A passkey alone where the policy demands a JWT as well: what it proved is kept in the browser while the user is at the
 * IdP. The challenge is spent and the counter moves before that, not only when the login is complete. D-156, D-435.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { IdentityId } from '../../../src/base/ids.ts'
import { epochSeconds } from '../../../src/base/time/instant.ts'
import { eventsOf, failureOf } from '../../support/audit.ts'
import {
  type CookieBrowser,
  callbackPath,
  cookieBrowser,
  sentTo,
  startPath,
} from '../../support/browser/cookie-browser.ts'
import { eventually } from '../../support/eventually.ts'
import type { Reply } from '../../support/http-client.ts'
import { signJwt } from '../../support/idp/external-idp.ts'
import { AUDIENCE, tokensOf } from '../../support/idp/jwt-login.ts'
import { startLoginIdp } from '../../support/idp/login-idp.ts'
import { administrate, assertRefused } from '../../support/management.ts'
import { softAuthenticator } from '../../support/passkeys/authenticator.ts'
import { PASSKEY, passkeyPerson } from '../../support/passkeys/passkey-login.ts'
import { startService } from '../../support/service.ts'

const KEPT = /^__Host-latchkey-primary-/

test('a passkey alone, with a demanded JWT', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const idp = await startLoginIdp(t, service)
  const signer = await idp.register(admin, { name: 'Example' })
  const store = await service.openStore()

  /** A user whose policy demands a JWT of the signer beside the passkey. */
  const newcomer = async (externalId: string, counts: boolean) => {
    const policy = await admin.createPolicy({
      primary: { updb: { allowed: true }, passkey: { allowed: true } },
      secondary: { requirePasskey: true },
    })
    const key = softAuthenticator({ counts })
    const person = await passkeyPerson(service, admin, { policy, externalId, key })
    const secondary = { requirePasskey: false, requireExtJwt: signer }
    await admin.act('PATCH', `/auth-policies/${policy}`, { secondary })
    const stored = async () => (await store.passkeys.listOf(person.id as IdentityId))[0]

    /** A login in a browser, up to the answer of the passkey. */
    const begin = async (signCount?: number) => {
      const browser = cookieBrowser(service)
      const { authRequestId, ...pkce } = await browser.begin()
      const options = await browser.get(`${PASSKEY}/options`, {
        json: { id: authRequestId },
        headers: { accept: 'application/json' },
      })
      const { publicKey } = options.json()
      const lie = signCount === undefined ? {} : { signCount }
      const credential = JSON.stringify(key.get(publicKey, service.baseUrl, lie))
      const form = { id: authRequestId, credential }
      return { browser, login: { authRequestId, ...pkce }, form }
    }
    const goOn = async (browser: CookieBrowser, authRequestId: string) => {
      const start = startPath(signer, authRequestId, { factor: 'secondary' })
      const location = sentTo(await browser.get(start))
      const code = idp.approve(location, externalId)
      return browser.get(callbackPath(location, { code }))
    }
    return { stored, begin, goOn }
  }
  /** A page has no code; the log line of its request does. */
  const assertCode = async (reply: Reply, code: string) => {
    assert.equal(reply.status, 401, reply.text)
    const requestId = reply.headers['x-request-id']
    const line = await eventually(
      () => service.log.find((one) => one.requestId === requestId && one.msg === 'request'),
      'the log line of the request',
    )
    assert.equal(line.code, code)
  }
  const hasKept = ({ cookies }: CookieBrowser) =>
    [...cookies.keys()].some((name) => KEPT.test(name))

  await t.test(
    'moves the counter when it is kept, so that a copy of the key is noticed',
    async () => {
      const { stored, begin, goOn } = await newcomer('zoe', true)
      const { browser, login, form } = await begin(1000)
      const asked = await browser.post(PASSKEY, form)
      await assertCode(asked, 'UNAUTHORIZED')
      assert.equal((await failureOf(service, asked)).reason, 'secondary-jwt-missing')
      assert.ok(hasKept(browser))
      const used = await stored()
      assert.equal(used?.signCount, 1000)
      assert.notEqual(used?.lastUsedAt, undefined)
      const { claims } = await tokensOf(service, login, await goOn(browser, login.authRequestId))
      assert.equal(claims['acr'], 'phr')

      // Attack: a clone of the security key that is behind.
      for (const signCount of [500, 1000]) {
        const clone = await begin(signCount)
        const refused = await clone.browser.post(PASSKEY, clone.form)
        await assertCode(refused, 'INVALID_AUTH')
        assert.equal((await failureOf(service, refused)).reason, 'passkey-cloned')
        assert.equal(hasKept(clone.browser), false)
      }
      assert.equal((await stored())?.signCount, 1000)
    },
  )

  await t.test('spends the challenge when it is kept', async () => {
    // Attack: an answer that was recorded on its way is sent again. Keys without a counter rely on the challenge alone.
    const { begin, goOn } = await newcomer('yan', false)
    const { browser, login, form } = await begin()
    await assertCode(await browser.post(PASSKEY, form), 'UNAUTHORIZED')
    const thief = cookieBrowser(service)
    for (const [name, value] of browser.cookies)
      if (!KEPT.test(name)) thief.cookies.set(name, value)
    const again = await thief.post(PASSKEY, form)
    await assertCode(again, 'INVALID_AUTH')
    assert.equal(hasKept(thief), false)
    await tokensOf(service, login, await goOn(browser, login.authRequestId))
  })

  await t.test('is kept once, if its answer is sent many times at once', async () => {
    const { begin } = await newcomer('xia', false)
    const { browser, form } = await begin()
    const cookies = [...browser.cookies]
    const kept = await Promise.all(
      Array.from({ length: 10 }, async () => {
        const one = cookieBrowser(service)
        for (const [name, value] of cookies) one.cookies.set(name, value)
        const reply = await one.post(PASSKEY, form)
        await assertCode(reply, hasKept(one) ? 'UNAUTHORIZED' : 'INVALID_AUTH')
        return hasKept(one)
      }),
    )
    assert.equal(kept.filter(Boolean).length, 1)
  })

  await t.test('is not spent for a program, which sends it again with the JWT', async () => {
    // D-14: without the JWT the call proves nothing, and nothing is kept.
    const { stored, begin } = await newcomer('wim', true)
    const { browser, form } = await begin(7)
    const json = { ...form, credential: JSON.parse(form.credential) }
    const headers = { accept: 'application/json' }
    const refused = await browser.get(PASSKEY, { method: 'POST', json, headers })
    assertRefused(refused, 401, 'UNAUTHORIZED')
    assert.equal((await stored())?.lastUsedAt, undefined)
    const now = epochSeconds(service.clock.now())
    const claims = { iss: idp.issuer, aud: AUDIENCE, sub: 'wim', iat: now, exp: now + 600 }
    const authorization = `Bearer ${await signJwt(idp.key, claims)}`
    const done = await browser.get(PASSKEY, { json, headers: { ...headers, authorization } })
    assert.equal(done.status, 302, done.text)
    assert.equal((await stored())?.signCount, 7)
    const types = (await eventsOf(service, done)).map(({ type }) => type)
    assert.deepEqual(types, ['login.succeeded'])
  })
})
