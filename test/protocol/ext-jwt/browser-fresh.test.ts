/**
 * A login that requires a fresh authentication, not a remembered session of an IdP: D-183, D-241, OIDC Core §3.1.2.1.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inSeconds, minutes } from '../../../src/base/time/duration.ts'
import { epochSeconds } from '../../../src/base/time/instant.ts'
import { AUTH_REQUEST_LIFE } from '../../../src/domain/login/start.ts'
import { cookieBrowser, sentTo, startPath } from '../../support/browser/cookie-browser.ts'
import { prepareIdpLogin } from '../../support/idp/idp-login.ts'

test('a fresh login', async (t) => {
  const kit = await prepareIdpLogin(t)
  const { service, idp, signer, back, assertNoProof } = kit
  service.clock.hold()

  async function away(changes: Readonly<Record<string, string>>) {
    const browser = cookieBrowser(service)
    const { authRequestId } = await browser.begin(changes)
    return { browser, location: sentTo(await browser.get(startPath(signer, authRequestId))) }
  }
  /** The user authenticated at the IdP this many seconds ago, or the ID token contains this `auth_time`. */
  async function returning(
    changes: Readonly<Record<string, string>>,
    asked: { readonly secondsAgo: number } | { readonly auth_time: unknown },
  ) {
    const { browser, location } = await away(changes)
    const now = epochSeconds(service.clock.now())
    const claims = 'secondsAgo' in asked ? { auth_time: now - asked.secondsAgo } : asked
    return back(browser, location, { code: idp.approve(location, 'zoe', claims) })
  }
  const TOO_LONG_AGO =
    'the user authenticated at the IdP longer ago than this login allows (auth_time)'
  const DOES_NOT_SAY = 'the IdP does not say when the user authenticated (auth_time)'

  await t.test('is requested at the IdP, and only if the client requested it', async () => {
    const { location: fresh } = await away({ prompt: 'login' })
    assert.deepEqual(
      ['prompt', 'max_age'].map((name) => fresh.searchParams.getAll(name)),
      [['login'], ['0']],
    )
    const { location: any } = await away({})
    assert.deepEqual(
      [any.searchParams.has('prompt'), any.searchParams.has('max_age')],
      [false, false],
    )
  })

  await t.test('is good when the IdP has just asked', async () => {
    assert.equal((await returning({ prompt: 'login' }, { secondsAgo: 0 })).status, 302)
  })

  await t.test('is refused when the IdP asked before it began', async () => {
    // Attack: at a browser that somebody forgot, the parameters are taken out of the address of the IdP, which then
    // answers for the one it remembers.
    const reply = await returning({ prompt: 'login' }, { secondsAgo: 3_600 })
    await assertNoProof(reply, 'invalid', `idp-refused: ${TOO_LONG_AGO}`)
  })

  await t.test('allows for clocks that differ by a minute', async () => {
    assert.equal((await returning({ prompt: 'login' }, { secondsAgo: 55 })).status, 302)
  })

  for (const auth_time of [undefined, null, 'now', '1800000000', [], {}]) {
    await t.test(`is refused when auth_time is ${JSON.stringify(auth_time)}`, async () => {
      // Attack: an IdP that sends auth_time only on request (OIDC Core §2) omits it if max_age was removed from the
      // address.
      for (const changes of [{ prompt: 'login' }, { max_age: '0' }, { max_age: '3600' }]) {
        const reply = await returning(changes, { auth_time })
        await assertNoProof(reply, 'invalid', `idp-refused: ${DOES_NOT_SAY}`)
      }
    })
  }

  await t.test('is refused when the IdP asked in the future', async () => {
    for (const changes of [{ prompt: 'login' }, { max_age: '60' }]) {
      assert.equal((await returning(changes, { secondsAgo: -55 })).status, 302)
      const reply = await returning(changes, { secondsAgo: -3_600 })
      await assertNoProof(
        reply,
        'invalid',
        'idp-refused: the user authenticated at the IdP in the future (auth_time)',
      )
    }
  })

  await t.test('passes max_age to the IdP, and replaces one in its address', async () => {
    const { location } = await away({ max_age: '3600' })
    assert.deepEqual(location.searchParams.getAll('max_age'), ['3600'])
    assert.equal(location.searchParams.has('prompt'), false)
  })

  await t.test('max_age=0 means prompt=login, also together with it', async () => {
    for (const changes of [{ max_age: '0' }, { max_age: '3600', prompt: 'login' }]) {
      const { location } = await away(changes)
      assert.deepEqual(
        ['prompt', 'max_age'].map((name) => location.searchParams.getAll(name)),
        [['login'], ['0']],
      )
      const reply = await returning(changes, { secondsAgo: 600 })
      await assertNoProof(reply, 'invalid', `idp-refused: ${TOO_LONG_AGO}`)
    }
  })

  await t.test('checks max_age against auth_time, with a minute of leeway', async () => {
    assert.equal((await returning({ max_age: '600' }, { secondsAgo: 0 })).status, 302)
    assert.equal((await returning({ max_age: '600' }, { secondsAgo: 650 })).status, 302)
    // Attack: the browser removes max_age from the address of the IdP, which then uses its remembered session.
    const reply = await returning({ max_age: '600' }, { secondsAgo: 700 })
    await assertNoProof(reply, 'invalid', `idp-refused: ${TOO_LONG_AGO}`)
  })

  await t.test('max_age is counted from when the person was sent to the IdP', async () => {
    // Time that the user spends on a consent page of the IdP is no reason for a refusal …
    const slow = await away({ max_age: '10' })
    const claims = { auth_time: epochSeconds(service.clock.now()) }
    service.clock.advance(minutes(5))
    const code = idp.approve(slow.location, 'zoe', claims)
    assert.equal((await back(slow.browser, slow.location, { code })).status, 302)

    // … and the time that the login was open before that does not count as fresh.
    const browser = cookieBrowser(service)
    const { authRequestId } = await browser.begin({ max_age: '10' })
    const stale = { auth_time: epochSeconds(service.clock.now()) }
    service.clock.advance(minutes(5))
    const location = sentTo(await browser.get(startPath(signer, authRequestId)))
    const reply = await back(browser, location, { code: idp.approve(location, 'zoe', stale) })
    await assertNoProof(reply, 'invalid', `idp-refused: ${TOO_LONG_AGO}`)
  })

  await t.test('is not demanded of other identities', async () => {
    const long = inSeconds(AUTH_REQUEST_LIFE) * 100
    assert.equal((await returning({}, { auth_time: undefined })).status, 302)
    assert.equal((await returning({}, { secondsAgo: long })).status, 302)
    assert.equal((await returning({ prompt: 'consent' }, { secondsAgo: long })).status, 302)
  })
})
