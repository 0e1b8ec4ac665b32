/**
 * Stored XSS through an external IdP in a real browser: its name, its claims, its keys and its errors reach sign-in pages,
 * the account, events, sessions and the console, and are text on all of them. The login goes through Chromium to the IdP
 * and back. D-355.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { epochSeconds } from '../../src/base/time/instant.ts'
import { complaintsOf } from '../support/browser/browser-complaints.ts'
import { sendPassword } from '../support/browser/browser-login.ts'
import { launchChromium } from '../support/browser/chromium.ts'
import { signJwt } from '../support/idp/external-idp.ts'
import { AUDIENCE } from '../support/idp/jwt-login.ts'
import { startLoginIdp } from '../support/idp/login-idp.ts'
import { CLIENT_API } from '../support/login/legacy.ts'
import { administrate } from '../support/management.ts'
import { ADMIN, startService } from '../support/service.ts'

/** Runs if any page shows it as anything but text. */
const EVIL = '"><img src=x onerror="window.hacked=1"><script>window.hacked=1</script>'
const CLAIMS = {
  name: EVIL,
  given_name: EVIL,
  preferred_username: EVIL,
  email: EVIL,
  picture: `javascript:window.hacked=1//${EVIL}`,
  groups: [EVIL],
  amr: [EVIL],
  acr: EVIL,
  sid: EVIL,
}

test('what an external IdP says is text wherever it is shown', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const idp = await startLoginIdp(t, service)
  const signer = await idp.register(admin, { name: EVIL })
  const person = await admin.createIdentity({ name: EVIL, externalId: EVIL, isAdmin: true })
  const browser = await launchChromium()
  t.after(() => browser.close())
  const context = await browser.newContext({ ignoreHTTPSErrors: true, reducedMotion: 'reduce' })
  context.setDefaultTimeout(10_000)
  const page = await context.newPage()
  const complaints = complaintsOf(page)
  const assertText = async (where: string): Promise<void> => {
    assert.equal(await page.evaluate('window.hacked'), undefined, `${where} ran what the IdP said`)
    assert.equal(await page.locator('img').count(), 0, where)
  }
  const at = async (path: string): Promise<void> => {
    await page.goto(`${service.baseUrl}${path}`)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await assertText(path)
  }

  const goThere = () => page.getByRole('link', { name: `Continue with ${EVIL}` }).click()

  await t.test(
    'its name, and the error that it sends back, on the pages of the login',
    async () => {
      idp.sendBack = () => ({ error: EVIL, error_description: EVIL, error_uri: EVIL, iss: EVIL })
      await at('/account')
      await goThere()
      await page.waitForURL(/callback/)
      await assertText('an answer of another issuer')
      idp.sendBack = () => ({ error: 'access_denied', error_description: EVIL, error_uri: EVIL })
      await at('/account')
      await goThere()
      await page.getByRole('alert').waitFor()
      await assertText('an error of the IdP')
      idp.sendBack = (asked) => ({ code: idp.approve(asked, `${EVIL} unknown`, CLAIMS) })
      await goThere()
      await page.getByRole('alert').waitFor()
      await assertText('an unknown subject')
    },
  )

  await t.test('the login and the account of a subject whose claims are hostile', async () => {
    idp.sendBack = (asked) => ({ code: idp.approve(asked, EVIL, CLAIMS) })
    await goThere()
    await page.waitForURL(`${service.baseUrl}/account`)
    await page.getByText(EVIL).first().waitFor()
    await assertText('/account')
    await at('/account/sessions')
  })

  const now = epochSeconds(service.clock.now())
  const usual = { iss: idp.issuer, aud: AUDIENCE, sub: EVIL, iat: now, exp: now + 600, ...CLAIMS }
  const jwts = {
    'no such identity': await signJwt(idp.key, { ...usual, sub: `${EVIL}2` }),
    'another audience': await signJwt(idp.key, { ...usual, aud: [EVIL] }),
    'another issuer': await signJwt(idp.key, { ...usual, iss: EVIL }),
    'an unknown key': await signJwt(idp.key, usual, { kid: EVIL, typ: EVIL }),
    'a claim of another kind': await signJwt(idp.key, { ...usual, sub: { [EVIL]: EVIL } }),
  }
  const requests: string[] = []
  for (const jwt of Object.values(jwts)) {
    const reply = await service.call(`${CLIENT_API}/authenticate?method=ext-jwt`, {
      method: 'POST',
      headers: { authorization: `Bearer ${jwt}`, 'user-agent': EVIL },
    })
    assert.equal(reply.status, 401, reply.text)
    requests.push(String(reply.headers['x-request-id']))
  }

  await t.test('refusals, events and sessions in the console', async () => {
    await page.goto(`${service.baseUrl}/console/audit`)
    // The hostile administrator is signed in to the account; single sign-on is off.
    await sendPassword(page, ADMIN)
    await page.getByRole('heading', { level: 1, name: 'Audit' }).waitFor()
    await assertText('/console/audit')
    for (const request of requests) await at(`/console/explain?request=${request}`)
    const filter = encodeURIComponent('type = "login.failed"')
    for (const { id } of await admin.get(`/events?filter=${filter}&limit=20`)) {
      await at(`/console/audit/events/${id}`)
    }
    await at(`/console/identities/${person.id}`)
    const [session] = await admin.get(`/identities/${person.id}/api-sessions`)
    await at(`/console/sessions/${session.id}`)
    await at('/console/sessions')
    await at('/console')
    await at(`/console/search?q=${encodeURIComponent('img')}`)
  })

  await t.test('the dry run of a token', async () => {
    for (const [what, jwt] of Object.entries(jwts)) {
      await at(`/console/signers/${signer}`)
      await page.getByLabel('JWT of this signer').fill(jwt)
      await page.getByRole('button', { name: 'Check the token' }).click()
      await page.getByText('A login with this token would be refused.').waitFor()
      await assertText(what)
    }
  })

  await t.test('a discovery document', async () => {
    await at('/console/signers/new')
    idp.document = { ...idp.document, issuer: EVIL, jwks_uri: EVIL, scopes_supported: [EVIL] }
    await page.getByLabel('Issuer or discovery URL').fill(idp.issuer)
    await page.getByLabel('Name').fill('Other')
    await page.getByLabel('Client ID at the provider').fill('app')
    await page.getByRole('button', { name: 'Add signer' }).click()
    await page.getByRole('alert').waitFor()
    await assertText('a discovery document')
  })

  assert.deepEqual(complaints, [])
})
