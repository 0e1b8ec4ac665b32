/**
 * Who gets into the console, at every address that it has: nobody without a session, no user who is not an
 * administrator, no form that our page did not send. D-355, D-356, D-357; R020, R022, R071.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { minutes } from '../../../src/base/time/duration.ts'
import type { Route } from '../../../src/http/route.ts'
import { cookieBrowser } from '../../support/browser/cookie-browser.ts'
import { addressOf } from '../../support/everything.ts'
import {
  assertRefusedPage,
  formTokenOf,
  headingOf,
  openAccount,
  openConsole,
  post,
  signIn,
} from '../../support/login/account.ts'
import { administrate } from '../../support/management.ts'
import { ADMIN, type Service, startService } from '../../support/service.ts'

const PASSWORD = 'a long enough passphrase'

/** Where one signs in and out, the files that are the same for everyone, and the stream (live-changes.test.ts). */
const OPEN = ['/assets/:name', '/callback', '/confirm', '/sign-out', '/signed-out', '/stream']

function consoleRoutes({ instance }: Service): readonly Route[] {
  const routes = instance.listeners.flatMap((listener) => listener.routes)
  const own = routes.filter(({ url }) => /^\/console(\/|$)/.test(url))
  return own.filter(({ url }) => !OPEN.includes(url.slice('/console'.length)))
}

test('the console is for administrators alone', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const person = await admin.createIdentity({ name: 'Not <b>an</b> admin', password: PASSWORD })
  const routes = consoleRoutes(service)
  const { baseUrl } = service

  await t.test(
    'without a session every page leads to the login, and no form changes anything',
    async () => {
      for (const { method, url } of routes) {
        const browser = cookieBrowser(service)
        const path = addressOf({ url })
        if (method === 'GET') {
          const reply = await browser.get(path)
          assert.equal(reply.status, 302, `${path} ${reply.text}`)
          assert.match(reply.headers.location ?? '', /^\/oidc\/login\//)
        } else {
          const reply = await post(service, browser, path, [['formToken', 'x']])
          assert.equal(reply.status, 303, `${path} ${reply.text}`)
          assert.match(reply.headers.location ?? '', /^\/console/)
        }
      }
    },
  )

  await t.test(
    'a user who is not an administrator gets 403 and a page that says why, everywhere',
    async () => {
      const visitor = cookieBrowser(service)
      await signIn(service, visitor, '/console/identities', person)
      for (const { method, url } of routes) {
        const path = addressOf({ url })
        const reply =
          method === 'GET'
            ? await visitor.get(path)
            : await post(service, visitor, path, [['formToken', 'x']])
        assert.equal(reply.status, 403, `${method} ${path} ${reply.text}`)
        assert.equal(headingOf(reply.text), 'Only for administrators', path)
        assert.ok(reply.text.includes('Not &#60;b&#62;an&#60;/b&#62; admin'), 'names are escaped')
      }
      const page = (await visitor.get('/console/identities')).text
      const token = formTokenOf(page, '/console/sign-out')
      const out = await post(service, visitor, '/console/sign-out', [['formToken', token]])
      assert.equal(out.headers.location, '/console/signed-out')
      assert.equal((await visitor.get('/console/identities')).status, 302)
    },
  )

  await t.test('an administrator who is one no longer is shown the door at once', async () => {
    const second = await admin.createIdentity({ password: PASSWORD, isAdmin: true })
    const { browser } = await openConsole(service, second)
    assert.equal((await browser.get('/console/identities')).status, 200)
    await admin.act('PATCH', `/identities/${second.id}`, { isAdmin: false })
    assert.equal((await browser.get('/console/identities')).status, 302)
  })

  await t.test(
    'a session of the account opens no page of the console, and the other way round',
    async () => {
      const { browser, page } = await openAccount(service, ADMIN)
      assert.match(await page('/account'), /href="\/console"/)
      const { page: otherPage } = await openAccount(service, person)
      assert.doesNotMatch(await otherPage('/account'), /href="\/console"/)
      const account = browser.cookies.get('__Host-latchkey-account') ?? ''
      browser.cookies.clear()
      browser.cookies.set('__Host-latchkey-console', account)
      assert.equal((await browser.get('/console/identities')).status, 302)
      const { browser: other } = await openConsole(service)
      const sealed = other.cookies.get('__Host-latchkey-console') ?? ''
      other.cookies.set('__Host-latchkey-account', sealed)
      assert.equal((await other.get('/account')).status, 302)
    },
  )

  await t.test('no page can be framed, cached, or run anything but our own scripts', async () => {
    const { browser } = await openConsole(service)
    for (const path of [
      '/console/identities',
      '/console/identities?name=x',
      '/console/signed-out',
    ]) {
      const { headers, text } = await browser.get(path)
      assert.equal(headers['cache-control'], 'no-store', path)
      assert.equal(headers['x-frame-options'], 'DENY', path)
      const policy = String(headers['content-security-policy'])
      assert.match(policy, /^default-src 'none'; style-src 'self'; script-src 'self'; /)
      assert.match(policy, /frame-ancestors 'none'/)
      assert.doesNotMatch(policy, /unsafe/)
      assert.doesNotMatch(text, / style=| on\w+=|<style|<script>|javascript:/)
    }
  })

  await t.test('the files that pages load are served with their types, and no others', async () => {
    for (const [name, type] of [
      ['console.css', 'text/css; charset=utf-8'],
      ['console.js', 'text/javascript; charset=utf-8'],
      ['htmx.js', 'text/javascript; charset=utf-8'],
    ] as const) {
      const reply = await service.call(`/console/assets/${name}`)
      assert.equal(reply.status, 200, name)
      assert.equal(reply.headers['content-type'], type)
      assert.equal(reply.headers['x-content-type-options'], 'nosniff')
      const again = { headers: { 'if-none-match': String(reply.headers.etag) } }
      assert.equal((await service.call(`/console/assets/${name}`, again)).status, 304)
    }
    // Attack: a path out of the folder.
    for (const name of ['nothing.js', '..%2Flayout.ts', '%2e%2e%2fconsole.css', 'constructor']) {
      const reply = await service.call(`/console/assets/${name}`)
      assert.equal(reply.status, 404, name)
      assert.equal(reply.json().error.code, 'NOT_FOUND')
    }
  })

  await t.test(
    'the way to a fresh login leads back to pages of the console alone (R020)',
    async () => {
      // Attack: a link to our own confirmation that ends at another site.
      const { browser } = await openConsole(service)
      for (const [asked, expected] of [
        ['/console/identities?name=a%20b', '/console/identities?name=a%20b'],
        ['https://evil.example/console', '/console'],
        ['//evil.example', '/console'],
        ['/console//evil.example', '/console'],
        ['/console/\\evil.example', '/console'],
        ['/console\r\nset-cookie: x=y', '/console'],
        ['/consolex', '/console'],
        ['/account', '/console'],
      ] as const) {
        const path = `/console/confirm?page=${encodeURIComponent(asked)}`
        const reply = await signIn(service, browser, path, ADMIN)
        assert.equal(reply.headers.location, expected, asked)
      }
    },
  )

  await t.test('a form without our token, or from another site, changes nothing', async () => {
    // Attack: CSRF and login CSRF from a page of somebody else, or from another port of this host.
    const { browser, page } = await openConsole(service)
    const other = await openConsole(service)
    const foreign = formTokenOf(await other.page('/console/identities'), '/console/sign-out')
    for (const { url } of [
      ...routes.filter(({ method }) => method === 'POST'),
      { url: '/console/sign-out' },
    ]) {
      const path = addressOf({ url })
      for (const token of ['', 'x', foreign]) {
        const reply = await post(service, browser, path, [['formToken', token]])
        await assertRefusedPage(service, reply, 403, 'FORBIDDEN')
      }
      for (const headers of [
        { 'sec-fetch-site': 'cross-site' },
        { 'sec-fetch-site': 'same-site' },
        { origin: 'https://evil.example' },
        { origin: baseUrl.replace(/:\d+$/, ':1') },
      ]) {
        const own = formTokenOf(await page('/console/identities'), '/console/sign-out')
        const reply = await post(service, browser, path, [['formToken', own]], headers)
        await assertRefusedPage(service, reply, 403, 'FORBIDDEN')
      }
    }
    assert.equal((await browser.get('/console/identities')).status, 200, 'still signed in')
  })

  await t.test(
    'a part that a script asks for after the session has ended reloads the page',
    async () => {
      const { browser, send } = await openConsole(service)
      await send('/console/identities', '/console/sign-out')
      const reply = await browser.get('/console/identities', { headers: { 'hx-request': 'true' } })
      assert.equal(reply.status, 204)
      assert.equal(reply.headers['hx-refresh'], 'true')
    },
  )

  await t.test('the session ends with its access token', async () => {
    const { browser } = await openConsole(service)
    service.clock.advance(minutes(31))
    assert.equal((await browser.get('/console/identities')).status, 302)
  })
})

test('the address to return to is as long after a login as before it, or left out', async (t) => {
  const service = await startService(t)
  const browser = cookieBrowser(service)
  // Browsers drop a cookie of more than 4,096 octets, and the login could not be finished.
  const long = `/console/identities?filter=${'x'.repeat(6_000)}`
  assert.equal((await signIn(service, browser, long, ADMIN)).headers.location, '/console')
  const short = `/console/identities?filter=${'x'.repeat(400)}`
  browser.cookies.clear()
  assert.equal((await signIn(service, browser, short, ADMIN)).headers.location, short)
})
