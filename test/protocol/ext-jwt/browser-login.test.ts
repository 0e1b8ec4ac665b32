/**
 * Through an external IdP with a browser, as the protocol sees it: what the browser is sent away with, what the IdP is
 * asked for, and what comes of the answer. D-47, D-154, D-156; SPEC Primary login.
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import {
  callbackPath,
  cookieBrowser,
  sentTo,
  startPath,
} from '../../support/browser/cookie-browser.ts'
import { ANY_JWT, tokensOf } from '../../support/idp/jwt-login.ts'
import { CLIENT_ID, startLoginIdp } from '../../support/idp/login-idp.ts'
import { enrolledPerson } from '../../support/login/authenticator-app.ts'
import { administrate } from '../../support/management.ts'
import { startService } from '../../support/service.ts'

const PASSWORD = 'a password of somebody'

test('a browser logs in through an IdP', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const idp = await startLoginIdp(t, service)
  const { issuer } = idp
  const scopes = ['email', 'openid']
  const signer = await idp.register(admin, { name: 'Example', scopes })
  const zoe = await admin.createIdentity({ externalId: 'zoe' })

  await t.test('the person is sent away with PKCE, state and nonce, and no secret', async () => {
    const browser = cookieBrowser(service)
    const { authRequestId } = await browser.begin()
    const location = sentTo(await browser.get(startPath(signer, authRequestId)))
    assert.equal(`${location.origin}${location.pathname}`, `${issuer}/authorize`)
    const asked = Object.fromEntries(location.searchParams)
    const { state = '', nonce = '', code_challenge = '', ...rest } = asked
    assert.deepEqual(rest, {
      response_type: 'code',
      client_id: CLIENT_ID,
      redirect_uri: `${service.baseUrl}/oidc/login/ext-jwt/callback`,
      scope: 'openid email',
      code_challenge_method: 'S256',
    })
    assert.match(state, /^[\w-]{22}\.[\w-]{22}$/)
    assert.match(nonce, /^[\w-]{22}$/)
    assert.match(code_challenge, /^[\w-]{43}$/)
    const again = sentTo(await browser.get(startPath(signer, authRequestId)))
    for (const name of ['state', 'nonce', 'code_challenge']) {
      assert.notEqual(again.searchParams.get(name), asked[name], `${name} is fresh every time`)
    }
  })

  await t.test('a policy that demands a passkey leads to its page after the IdP', async () => {
    const policy = await admin.createPolicy({ secondary: { requirePasskey: true } })
    await admin.createIdentity({ externalId: 'yara', policy })
    const browser = cookieBrowser(service)
    const { authRequestId } = await browser.begin()
    const location = sentTo(await browser.get(startPath(signer, authRequestId)))
    const code = idp.approve(location, 'yara')
    const reply = await browser.get(callbackPath(location, { code, iss: issuer }))
    assert.equal(reply.status, 302, reply.text)
    const page = await browser.get(reply.headers.location ?? '')
    assert.equal(page.status, 200, page.text)
    assert.match(page.text, /<h1[^>]*>Create a passkey</)
  })

  await t.test('the code is redeemed with the verifier, and the login ends with ours', async () => {
    const browser = cookieBrowser(service)
    const begun = await browser.begin()
    const location = sentTo(await browser.get(startPath(signer, begun.authRequestId)))
    const before = idp.redeemed.length
    const code = idp.approve(location, 'zoe')
    const reply = await browser.get(callbackPath(location, { code, iss: issuer }))
    const { claims } = await tokensOf(service, begun, reply)
    assert.equal(claims.sub, zoe.id)
    assert.deepEqual(claims['amr'], ['ext-jwt'])
    const [form, ...others] = idp.redeemed.slice(before)
    assert.deepEqual(others, [])
    const { code_verifier = '', ...fields } = Object.fromEntries(form ?? [])
    assert.deepEqual(fields, {
      grant_type: 'authorization_code',
      code,
      redirect_uri: location.searchParams.get('redirect_uri'),
      client_id: CLIENT_ID,
    })
    const challenge = createHash('sha256').update(code_verifier).digest('base64url')
    assert.equal(challenge, location.searchParams.get('code_challenge'))
    assert.deepEqual([...browser.cookies], [], 'nothing of the login is left in the browser')
  })

  await t.test('discovery is asked for once, however many go there', async () => {
    const starts = Array.from({ length: 10 }, async () => {
      const browser = cookieBrowser(service)
      const { authRequestId } = await browser.begin()
      sentTo(await browser.get(startPath(signer, authRequestId)))
    })
    await Promise.all(starts)
    assert.equal(idp.discoveries, 1)
  })

  await t.test('an auth request as long as one can be comes back too', async () => {
    const browser = cookieBrowser(service)
    // D-313: other characters would take less room.
    const begun = await browser.begin({ state: '~'.repeat(1_700), nonce: '~'.repeat(1_000) })
    assert.ok(begun.authRequestId.length > 3_800, String(begun.authRequestId.length))
    const location = sentTo(await browser.get(startPath(signer, begun.authRequestId)))
    const code = idp.approve(location, 'zoe')
    const reply = await browser.get(callbackPath(location, { code }))
    assert.equal((await tokensOf(service, begun, reply)).claims.sub, zoe.id)
  })

  await t.test('R108: nothing of it is in the log', async () => {
    const browser = cookieBrowser(service)
    const { authRequestId } = await browser.begin()
    const location = sentTo(await browser.get(startPath(signer, authRequestId)))
    const code = idp.approve(location, 'zoe')
    await browser.get(callbackPath(location, { code }))
    const text = JSON.stringify(service.log)
    const verifier = idp.redeemed.at(-1)?.get('code_verifier') ?? ''
    const secrets = [code, verifier, location.searchParams.get('state') ?? '', authRequestId]
    for (const secret of secrets) assert.ok(secret !== '' && !text.includes(secret))
    assert.doesNotMatch(text, ANY_JWT)
  })

  await t.test('a TOTP code that is also required is asked for at its own address', async () => {
    const person = await enrolledPerson(service, admin, { externalId: 'tina' })
    const browser = cookieBrowser(service)
    const begun = await browser.begin()
    const location = sentTo(await browser.get(startPath(signer, begun.authRequestId)))
    const code = idp.approve(location, 'tina')
    const reply = await browser.get(callbackPath(location, { code }))
    assert.equal(reply.status, 302)
    const id = encodeURIComponent(begun.authRequestId)
    assert.equal(reply.headers.location, `/oidc/login/totp?authRequestID=${id}`)
    const answer = await browser.post('/oidc/login/totp', {
      id: begun.authRequestId,
      code: person.app.nextCode(),
    })
    const { claims } = await tokensOf(service, begun, answer)
    assert.deepEqual(claims['amr'], ['ext-jwt', 'otp', 'mfa'])
  })

  await t.test('as the second factor, after the password, which is typed once', async () => {
    const policy = await admin.createPolicy({ secondary: { requireExtJwt: signer } })
    const person = await admin.createIdentity({ password: PASSWORD, externalId: 'bob', policy })
    const browser = cookieBrowser(service)
    const begun = await browser.begin()
    const { authRequestId } = begun
    const { username, password } = person
    const blocked = await browser.post('/oidc/login/username', {
      authRequestId,
      username,
      password,
    })
    assert.equal(blocked.status, 401)
    assert.match(blocked.headers['www-authenticate'] ?? '', /realm="service-secondary-ext-jwt"/)
    assert.match(blocked.text, /<h1>One more sign-in<\/h1>/)
    // D-346: who signs in, and the way to use another account.
    assert.ok(blocked.text.includes(`<strong><bdi>${person.name}</bdi></strong>`), blocked.text)
    assert.match(blocked.text, />Use another account<\/a>/)
    const [, href = ''] = /<a class="choice only" href="([^"]+)"/.exec(blocked.text) ?? []
    // The page is the same after the provider has refused.
    const first = sentTo(await browser.get(href.replaceAll('&#38;', '&')))
    const refused = await browser.get(callbackPath(first, { error: 'access_denied' }))
    assert.match(refused.text, /<h1>One more sign-in<\/h1>/)
    assert.ok(refused.text.includes(`<strong><bdi>${person.name}</bdi></strong>`), refused.text)
    assert.match(refused.text, />Use another account<\/a>/)
    const location = sentTo(await browser.get(href.replaceAll('&#38;', '&')))
    const code = idp.approve(location, 'bob')
    const reply = await browser.get(callbackPath(location, { code }))
    const { claims } = await tokensOf(service, begun, reply)
    assert.equal(claims.sub, person.id)
    assert.deepEqual(claims['amr'], ['pwd', 'ext-jwt', 'mfa'])
    assert.deepEqual([...browser.cookies], [])
  })

  await t.test('as the second factor after another IdP', async (t) => {
    const other = await startLoginIdp(t, service)
    const first = await other.register(admin, { name: 'The other' })
    const policy = await admin.createPolicy({ secondary: { requireExtJwt: signer } })
    const person = await admin.createIdentity({ externalId: 'carla', policy })
    const browser = cookieBrowser(service)
    const begun = await browser.begin()
    const there = sentTo(await browser.get(startPath(first, begun.authRequestId)))
    const more = await browser.get(callbackPath(there, { code: other.approve(there, 'carla') }))
    assert.equal(more.status, 401)
    const second = startPath(signer, begun.authRequestId, { factor: 'secondary' })
    const location = sentTo(await browser.get(second))
    const code = idp.approve(location, 'carla')
    const reply = await browser.get(callbackPath(location, { code }))
    assert.equal((await tokensOf(service, begun, reply)).claims.sub, person.id)
  })
})

test('D-154: externalAuthUrl', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  await admin.createIdentity({ externalId: 'zoe' })

  /** Where a person is sent, and whether the way back works. */
  async function goThrough(
    t: Parameters<typeof startLoginIdp>[0],
    url: (issuer: string) => string,
  ) {
    const idp = await startLoginIdp(t, service)
    const signer = await idp.register(admin, { externalAuthUrl: url(idp.issuer) })
    const browser = cookieBrowser(service)
    const begun = await browser.begin()
    const location = sentTo(await browser.get(startPath(signer, begun.authRequestId)))
    const reply = await browser.get(callbackPath(location, { code: idp.approve(location, 'zoe') }))
    await tokensOf(service, begun, reply)
    return { idp, location }
  }

  for (const [what, url] of [
    ['the issuer', (issuer: string) => issuer],
    ['the issuer with a slash', (issuer: string) => `${issuer}/`],
    [
      'the discovery document itself',
      (issuer: string) => `${issuer}/.well-known/openid-configuration`,
    ],
  ] as const) {
    await t.test(`may be ${what}`, async (t) => {
      const { idp, location } = await goThrough(t, url)
      assert.equal(`${location.origin}${location.pathname}`, `${idp.issuer}/authorize`)
    })
  }

  await t.test('may be an authorization endpoint, which the document need not name', async (t) => {
    const { idp, location } = await goThrough(t, (issuer) => `${issuer}/realms/a/login`)
    assert.equal(`${location.origin}${location.pathname}`, `${idp.issuer}/realms/a/login`)
  })

  await t.test('its parameters are sent along, and replace none of ours', async (t) => {
    const { location } = await goThrough(
      t,
      (issuer) => `${issuer}?audience=https%3A%2F%2Fapi.example&state=fixed&prompt=login`,
    )
    assert.equal(location.searchParams.get('audience'), 'https://api.example')
    assert.equal(location.searchParams.get('prompt'), 'login')
    assert.notEqual(location.searchParams.get('state'), 'fixed')
    assert.equal(location.searchParams.getAll('state').length, 1)
  })

  await t.test('an access token is taken where the signer wants one', async (t) => {
    const idp = await startLoginIdp(t, service)
    const signer = await idp.register(admin, { targetToken: 'ACCESS' })
    const browser = cookieBrowser(service)
    const begun = await browser.begin()
    const location = sentTo(await browser.get(startPath(signer, begun.authRequestId)))
    const reply = await browser.get(callbackPath(location, { code: idp.approve(location, 'zoe') }))
    await tokensOf(service, begun, reply)
  })
})
