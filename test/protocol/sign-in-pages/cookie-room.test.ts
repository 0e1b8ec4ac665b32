/**
 * The cookies that all our pages leave in one browser, together: D-482. Proxies refuse a Cookie field of more than
 * 8 KiB, and the user cannot get rid of it at our pages then.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { minutes } from '../../../src/base/time/duration.ts'
import { type CookieBrowser, cookieBrowser } from '../../support/browser/cookie-browser.ts'
import {
  formTokenOf,
  openConsole,
  post,
  signIn,
  signInUntilCallback,
  visitorWith,
} from '../../support/login/account.ts'
import { confirmPath, startDevice } from '../../support/login/device.ts'
import { administrate } from '../../support/management.ts'
import { ADMIN, type Service, startService } from '../../support/service.ts'

/** `large_client_header_buffers 4 8k` of nginx, and 8,190 of Apache, with the name of the field. */
const REFUSED_BY_PROXIES = 8_000
/** `proxy_buffer_size 4k` of nginx, for all header fields of a response. */
const PROXY_BUFFER = 4_096
const INPUT = '__Host-latchkey-console-input'
const FORM = '/console/policies/new'

const fieldOf = ({ cookies }: CookieBrowser) =>
  [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')

function assertFits(browser: CookieBrowser, when: string): void {
  const { length } = fieldOf(browser)
  assert.ok(length <= REFUSED_BY_PROXIES, `${when}: ${length} octets`)
}

/** A browser that five people have used, with sessions of the account and the console. */
async function startFull(t: TestContext) {
  const service = await startService(t)
  const admin = await administrate(service)
  const { browser } = await openConsole(service)
  for (const name of ['A', 'B', 'C', 'D']) {
    const person = await admin.createIdentity({ name, password: 'a long enough passphrase' })
    await signIn(service, browser, '/account/confirm', person)
  }
  await signIn(service, browser, '/account/confirm', ADMIN)
  service.clock.advance(minutes(6))
  return { service, browser }
}

/** As long as what is kept may be. */
const LONG_FORM = { name: 'Typed', tags: `a = ${'x'.repeat(2_000)}` }

const isWaiting = async (service: Service, browser: CookieBrowser) =>
  /value="Typed"/.test(await visitorWith(service, browser).page(FORM))

test('D-482: the cookies of one browser stay below what proxies refuse', async (t) => {
  const { service, browser } = await startFull(t)
  const { send } = visitorWith(service, browser)

  await t.test(
    'with sessions everywhere, a long form and the login that it waits for',
    async () => {
      await send(FORM, '/console/policies', LONG_FORM)
      assertFits(browser, 'with the form')
      assert.ok(await isWaiting(service, browser))
      const callback = await signInUntilCallback(
        service,
        browser,
        `/console/confirm?page=${FORM}`,
        ADMIN,
      )
      assertFits(browser, 'before the session')
      await browser.get(callback)
      assertFits(browser, 'with the session')
      assert.ok(await isWaiting(service, browser))
    },
  )

  await t.test('whatever logins another site begins in a window', async () => {
    // Attack: the cookies of logins fill the field until a proxy refuses every request of the browser.
    const device = confirmPath(await startDevice(service))
    await signIn(service, browser, device, ADMIN)
    service.clock.advance(minutes(6))
    await send(FORM, '/console/policies', LONG_FORM)
    assertFits(browser, 'with a third session')
    const long = encodeURIComponent('x'.repeat(400))
    for (let round = 0; round < 30; round += 1) {
      for (const path of [
        '/account/confirm',
        `/console/confirm?page=${encodeURIComponent(`/console/identities?filter=${long}`)}`,
        device,
      ]) {
        await browser.get(path)
        assertFits(browser, path)
      }
      await browser.begin()
      assertFits(browser, '/oidc/authorization')
    }
    await signIn(service, browser, '/console/confirm', ADMIN)
    assertFits(browser, 'after all')
    await visitorWith(service, browser).page('/account')
  })

  await t.test('also authorization requests alone', async () => {
    const other = cookieBrowser(service)
    for (let round = 0; round < 200; round += 1) await other.begin()
    assertFits(other, 'two hundred logins')
    const { authRequestId } = await other.begin()
    const { username, password } = ADMIN
    const reply = await other.post('/oidc/login/username', { authRequestId, username, password })
    assert.equal(reply.status, 302, 'the newest can be finished')
  })

  await t.test('old logins make room before what was typed', async () => {
    const { browser: own, send: sendOwn } = await openConsole(service)
    service.clock.advance(minutes(6))
    await sendOwn(FORM, '/console/policies', LONG_FORM)
    for (let round = 0; round < 100; round += 1) await own.begin()
    assertFits(own, 'with a hundred logins')
    assert.ok(await isWaiting(service, own))
  })

  await t.test('no response has more cookies than proxies accept', async () => {
    const { browser: own, page } = await openConsole(service)
    const formToken = formTokenOf(await page(FORM), '/console/policies')
    service.clock.advance(minutes(31))
    const sendWith = async (tags: string) => {
      const fields = Object.entries({ formToken, name: 'Typed', tags })
      const { status, headers } = await post(service, own, '/console/policies', fields)
      assert.equal(status, 303)
      const octets = JSON.stringify(headers).length
      assert.ok(octets < PROXY_BUFFER, `${octets} octets of header`)
    }
    for (let length = 1_900; length < 2_900; length += 50) await sendWith('x'.repeat(length))
    for (let round = 0; round < 100; round += 1) await own.begin()
    await sendWith(LONG_FORM.tags)
  })
})

test('D-482: cookies of others at the host count, and what has no room is not promised', async (t) => {
  const service = await startService(t)
  const { browser, send, page } = await openConsole(service)
  service.clock.advance(minutes(6))
  browser.cookies.set('of-an-application', 'x'.repeat(5_000))
  await send(FORM, '/console/policies', LONG_FORM)
  assert.ok(!browser.cookies.has(INPUT))
  const html = await page(FORM)
  assert.match(html, /Nothing was changed, because you signed in a while ago\. <a /)
  assert.doesNotMatch(html, /stays here/)
  // Logins are not cut short, however much others have.
  browser.cookies.set('of-an-application', 'x'.repeat(12_000))
  const first = await signInUntilCallback(service, browser, '/console/confirm', ADMIN)
  const second = await signInUntilCallback(service, browser, '/account', ADMIN)
  for (const callback of [second, first]) assert.equal((await browser.get(callback)).status, 303)
})
