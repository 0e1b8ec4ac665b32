/** `/` and addresses that are not pages, for browsers and for programs: D-340. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openAccount, openConsole } from '../../support/login/account.ts'
import { PASSWORD } from '../../support/login/authenticator-app.ts'
import { administrate } from '../../support/management.ts'
import { ADMIN, startService } from '../../support/service.ts'

const BROWSER = { headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } }
const PROGRAMS = [{}, { headers: { accept: '*/*' } }, { headers: { accept: 'application/json' } }]

test('/ leads users to their account, administrators to the console, and programs to the version', async (t) => {
  const service = await startService(t, {
    config: { web: [listener('edge-management', 'edge-oidc', 'console')] },
  })
  const admin = await administrate(service)

  const reply = await service.call('/', BROWSER)
  assert.equal(reply.status, 302)
  assert.equal(reply.headers.location, '/account')
  assert.equal(reply.headers.vary, 'Accept, Cookie')
  assert.equal(reply.headers['cache-control'], 'no-store')
  for (const program of PROGRAMS) {
    const { status, headers } = await service.call('/', program)
    assert.deepEqual([status, headers.location], [302, '/version'])
  }
  const head = await service.call('/', { ...BROWSER, method: 'HEAD' })
  assert.equal(head.headers.location, '/account')
  assert.equal(
    (await service.call('/', { method: 'POST' })).json().error.code,
    'METHOD_NOT_ALLOWED',
  )

  const person = await admin.createIdentity({ password: PASSWORD })
  const visitors = [
    [await openAccount(service, person), '/account'],
    [await openAccount(service, ADMIN), '/console'],
    [await openConsole(service, ADMIN), '/console'],
  ] as const
  for (const [{ browser }, expected] of visitors) {
    assert.equal((await browser.get('/')).headers.location, expected)
  }
})

test('/ leads to the version where no page is bound', async (t) => {
  const config = { web: [listener('edge-management'), { ...listener('edge-oidc'), name: 'oidc' }] }
  const service = await startService(t, { config })
  assert.equal((await service.call('/', BROWSER)).headers.location, '/version')
})

test('an unknown address is a page for browsers and JSON for programs', async (t) => {
  const service = await startService(t)
  for (const path of ['/nope', '/account/nope', '/edge/client/v1/nope', '/oidc/nope', '/a%20b']) {
    const page = await service.call(path, BROWSER)
    assert.equal(page.status, 404, path)
    assert.equal(page.headers['content-type'], 'text/html; charset=utf-8', path)
    assert.match(String(page.headers['content-security-policy']), /default-src 'none'/)
    assert.match(page.text, /<h1>Page not found<\/h1>/)
    assert.match(page.text, /<a [^>]*href="\/">Go to the start page<\/a>/)
    assert.ok(page.text.includes(String(page.headers['x-request-id'])), path)
    for (const program of PROGRAMS) {
      const json = await service.call(path, program)
      assert.equal(json.status, 404)
      assert.equal(json.headers['content-type'], 'application/json')
      assert.equal(json.json().error.code, 'NOT_FOUND')
    }
  }
  const german = { headers: { ...BROWSER.headers, 'accept-language': 'de' } }
  assert.match((await service.call('/nope', german)).text, /<h1>Seite nicht gefunden<\/h1>/)
})

test('a page about a login or a document that is not there leads on', async (t) => {
  const service = await startService(t)
  for (const [path, status] of [
    ['/docs/nope', 404],
    // Typed, or opened again by a browser that was restarted.
    ['/oidc/login/username', 400],
  ] as const) {
    const page = await service.call(path, BROWSER)
    assert.equal(page.status, status, path)
    assert.match(page.text, /<a [^>]*href="\/">Go to the start page<\/a>/, path)
  }
})

test('other errors of the router are pages for browsers too', async (t) => {
  const service = await startService(t)
  const wrong = await service.call('/oidc/token', BROWSER)
  assert.equal(wrong.status, 405)
  assert.equal(wrong.headers.allow, 'POST')
  assert.match(wrong.text, /<h1>Not a page<\/h1>/)
  assert.equal((await service.call('/oidc/token')).json().code, 'METHOD_NOT_ALLOWED')
  const bad = await service.call('/%zz', BROWSER)
  assert.equal(bad.status, 400)
  assert.match(bad.text, /<h1>Invalid address<\/h1>/)
  assert.equal((await service.call('/%zz')).json().error.code, 'BAD_REQUEST')
  // A route that answers JSON keeps its errors, whatever the caller accepts.
  const refused = await service.call('/edge/client/v1/current-identity', BROWSER)
  assert.equal(refused.headers['content-type'], 'application/json')
  assert.equal(refused.json().error.code, 'UNAUTHORIZED')
})

// Attack: markup, or a link to another host, by way of the address that the page repeats for its language switch.
test('nothing in an unknown address becomes markup or leaves the host', async (t) => {
  const service = await startService(t)
  for (const path of ['/"><script>alert(1)</script>', '//evil.example/x', '/\\evil.example']) {
    const { text } = await service.call(path, BROWSER)
    assert.doesNotMatch(text, /<script|href="(?:\/\/|\/\\|https?:)/, path)
  }
})

function listener(...bindings: readonly string[]) {
  return {
    name: 'default',
    bindPoints: [{ interface: '127.0.0.1:0', address: 'localhost:0' }],
    apis: ['edge-client', ...bindings].map((binding) => ({ binding })),
  }
}
