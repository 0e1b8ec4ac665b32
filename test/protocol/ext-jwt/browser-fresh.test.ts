/** A login that asks for the person, and not for whom an IdP still remembers: D-183, OIDC Core §3.1.2.1. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inSeconds } from '../../../src/base/time/duration.ts'
import { epochSeconds } from '../../../src/base/time/instant.ts'
import { AUTH_REQUEST_LIFE } from '../../../src/domain/login/start.ts'
import { cookieBrowser, sentTo, startPath } from '../../support/browser/cookie-browser.ts'
import { prepareIdpLogin } from '../../support/idp/idp-login.ts'

test('a fresh login', async (t) => {
  const kit = await prepareIdpLogin(t)
  const { service, idp, signer, back, assertNoProof } = kit

  async function away(changes: Readonly<Record<string, string>>) {
    const browser = cookieBrowser(service)
    const { authRequestId } = await browser.begin(changes)
    return { browser, location: sentTo(await browser.get(startPath(signer, authRequestId))) }
  }
  /** The person was asked at the IdP this many seconds ago. */
  async function returning(changes: Readonly<Record<string, string>>, secondsAgo?: number) {
    const { browser, location } = await away(changes)
    const now = epochSeconds(service.clock.now())
    const claims = secondsAgo === undefined ? {} : { auth_time: now - secondsAgo }
    return back(browser, location, { code: idp.approve(location, 'zoe', claims) })
  }

  await t.test('is asked for at the IdP, and nothing is where nobody asked', async () => {
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
    assert.equal((await returning({ prompt: 'login' }, 0)).status, 302)
  })

  await t.test('is refused when the IdP asked before it began', async () => {
    // Attack: at a browser that somebody forgot, the parameters are taken out of the address of the IdP, which then
    // answers for the one it remembers.
    const reply = await returning({ prompt: 'login' }, 3_600)
    const why = 'the IdP asked the person before this login began (auth_time)'
    await assertNoProof(reply, 'invalid', `idp-refused: ${why}`)
  })

  await t.test('allows for clocks that differ by a minute', async () => {
    assert.equal((await returning({ prompt: 'login' }, 55)).status, 302)
  })

  await t.test('takes the word of an IdP that does not say when it asked', async () => {
    assert.equal((await returning({ prompt: 'login' })).status, 302)
  })

  await t.test('is not demanded of anybody else', async () => {
    const long = inSeconds(AUTH_REQUEST_LIFE) * 100
    assert.equal((await returning({}, long)).status, 302)
    assert.equal((await returning({ prompt: 'consent' }, long)).status, 302)
  })
})
