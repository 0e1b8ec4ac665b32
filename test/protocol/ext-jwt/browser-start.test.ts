/** GET /oidc/login/ext-jwt/start: who is sent to an IdP, and who and what is refused. D-47, D-154, D-156, R106. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cookieBrowser, startPath } from '../../support/browser/cookie-browser.ts'
import { JSON_PLEASE, prepareIdpLogin } from '../../support/idp/idp-login.ts'
import { type LoginIdp, startLoginIdp } from '../../support/idp/login-idp.ts'
import { beginLogin } from '../../support/login/login.ts'
import { assertRefused } from '../../support/management.ts'

test('the way to the IdP', async (t) => {
  const { service, admin, idp, signer, assertStartAgain, reasonOf } = await prepareIdpLogin(t)
  const browser = cookieBrowser(service)
  const { authRequestId } = await browser.begin()
  const start = (path: string, by = browser) => by.get(path, JSON_PLEASE)

  await t.test(
    'a signer that is missing, repeated or too long is refused by its name',
    async () => {
      const path = `/oidc/login/ext-jwt/start?authRequestID=${encodeURIComponent(authRequestId)}`
      assertRefused(await start(path), 400, 'COULD_NOT_VALIDATE', 'signer')
      const twice = `${path}&signer=${signer}&signer=${signer}`
      assertRefused(await start(twice), 400, 'COULD_NOT_VALIDATE', 'signer')
      const long = await start(startPath('x'.repeat(65), authRequestId))
      assertRefused(long, 400, 'COULD_NOT_VALIDATE', 'signer')
      const other = await start(startPath(signer, authRequestId, { factor: 'third' }))
      assertRefused(other, 400, 'COULD_NOT_VALIDATE', 'factor')
    },
  )

  await t.test('a signer that users cannot be sent to is 404', async (t) => {
    const register = async (changes: Readonly<Record<string, unknown>>) =>
      (await startLoginIdp(t, service)).register(admin, changes)
    const disabled = await register({ enabled: false })
    const nameless = await register({ clientId: null })
    const aimless = await register({ externalAuthUrl: null })
    for (const id of [disabled, nameless, aimless, 'nobody', '__proto__']) {
      assertRefused(await start(startPath(id, authRequestId)), 404, 'NOT_FOUND')
    }
  })

  await t.test('R024: an unknown auth request starts again', async () => {
    const reply = await start(startPath(signer, 'nonsense'))
    await assertStartAgain(reply, 'the id is not one of ours')
  })

  await t.test('D-10: another browser cannot go on with the login', async () => {
    // Attack: somebody begins a login and sends a person the link to the IdP, who logs in there without a question.
    const reply = await start(startPath(signer, authRequestId), cookieBrowser(service))
    await assertStartAgain(reply, 'the cookie of the browser that began the login is missing')
  })

  await t.test('D-10: a login that a program began is not taken to an IdP', async () => {
    const { authRequestId: id } = await beginLogin(service)
    const inBrowser = await start(startPath(signer, id))
    await assertStartAgain(inBrowser, 'a browser took over a login that a program began')
    const byProgram = await service.call(startPath(signer, id))
    await assertStartAgain(byProgram, 'the login was not begun in a browser')
  })

  await t.test('a second proof needs a first one, of this login', async () => {
    const path = startPath(signer, authRequestId, { factor: 'secondary' })
    const reason = 'no primary factor is kept in this browser'
    await assertStartAgain(await start(path), reason)
    const [name = ''] = [...browser.cookies.keys()]
    const kept = `${name.replace('latchkey-', 'latchkey-primary-')}-0`
    browser.cookies.set(kept, 'forged')
    await assertStartAgain(await start(path), reason)
    browser.cookies.delete(kept)
  })

  const BAD_DOCUMENTS: readonly [what: string, (idp: LoginIdp) => object, reason: string][] = [
    [
      'of another issuer',
      (one) => ({ ...one.document, issuer: 'https://evil.example' }),
      'the issuer of the discovery document is not that of the signer',
    ],
    [
      'without a token endpoint',
      ({ issuer }) => ({ issuer, authorization_endpoint: `${issuer}/authorize` }),
      'the discovery document lacks the authorization endpoint or the token endpoint',
    ],
    ['that is empty', () => ({}), 'the issuer of the discovery document is not that of the signer'],
    [
      'with an address that is no place to send people to',
      (one) => ({ ...one.document, authorization_endpoint: 'javascript:alert(1)' }),
      'the authorization endpoint is not a URL with https',
    ],
    [
      'with plain http to another machine',
      (one) => ({ ...one.document, authorization_endpoint: 'http://idp.example/authorize' }),
      'the authorization endpoint is not a URL with https',
    ],
    [
      'of more than 256 KiB',
      (one) => ({ ...one.document, more: 'x'.repeat(300_000) }),
      'the answer is larger than 256 KiB',
    ],
  ]
  for (const [what, document, reason] of BAD_DOCUMENTS) {
    await t.test(`R106: users are not redirected by a discovery document ${what}`, async (t) => {
      const bad = await startLoginIdp(t, service)
      bad.document = { ...document(bad) }
      const id = await bad.register(admin)
      const reply = await start(startPath(id, authRequestId))
      assertRefused(reply, 503, 'IDP_UNAVAILABLE')
      assert.equal(await reasonOf(reply), reason)
      assert.equal(reply.headers.location, undefined)
    })
  }

  await t.test(
    'an IdP that is down is reported as down, and the choice is offered again',
    async () => {
      const nowhere = 'http://127.0.0.1:1/'
      const id = await admin.createSigner({
        issuer: nowhere,
        externalAuthUrl: nowhere,
        clientId: 'x',
        name: 'Nobody at home',
      })
      assertRefused(await start(startPath(id, authRequestId)), 503, 'IDP_UNAVAILABLE')
      const page = await browser.get(startPath(id, authRequestId))
      assert.equal(page.status, 503)
      assert.match(page.text, /role="alert">That identity provider is not responding/)
      assert.match(page.text, /Continue with Example/)
    },
  )

  assert.equal(idp.redeemed.length, 0, 'no token endpoint was asked by any of this')
})

test('R106: an address that the configuration blocks is not asked', async (t) => {
  // Attack: whoever may change a signer makes the service talk to its own neighbours.
  const fetch = { blockPrivateAddresses: true }
  const config = { edge: { externalJwtSigners: { fetch } } }
  const { service, signer, idp, reasonOf } = await prepareIdpLogin(t, config)
  const browser = cookieBrowser(service)
  const { authRequestId } = await browser.begin()
  const reply = await browser.get(startPath(signer, authRequestId), JSON_PLEASE)
  assertRefused(reply, 503, 'IDP_UNAVAILABLE')
  const blocked = 'the host has a private address, and the configuration blocks those'
  assert.equal(await reasonOf(reply), blocked)
  assert.equal(idp.discoveries, 0)
})
