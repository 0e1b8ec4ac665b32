/**
 * The forms of policies, signers and CAs with two administrators at once: what one has not touched stays as the other has
 * left it, and what both have touched is asked about. D-365, D-480.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { CookieBrowser } from '../../support/browser/cookie-browser.ts'
import { openOpenssl } from '../../support/certificates/openssl.ts'
import { filledIn, formFields, openConsole, post } from '../../support/login/account.ts'
import { administrate } from '../../support/management.ts'
import { startService } from '../../support/service.ts'

const openssl = await openOpenssl()
after(() => openssl.close())
const PASSWORD = 'a long enough passphrase'
type Typed = Readonly<Record<string, string | readonly string[] | undefined>>

test('two administrators at the forms of policies, signers and CAs', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const person = { name: 'Second', password: PASSWORD, isAdmin: true }
  const first = await openConsole(service)
  const second = await openConsole(service, await admin.createIdentity(person))
  const send = (html: string, action: string, typed: Typed, by: CookieBrowser = first.browser) =>
    post(service, by, action, filledIn(html, action, typed))
  /** What the second administrator does while the first one has a form open. */
  const meanwhile = async (path: string, typed: Typed) => {
    const form = await second.page(path)
    const isPolicy = path.includes('/policies/')
    const preview = isPolicy && (await send(form, `${path}/preview`, typed, second.browser))
    const saved = await (preview
      ? send(preview.text, path, {}, second.browser)
      : send(form, path, typed, second.browser))
    assert.equal(saved.status, 303, saved.text)
  }
  const valueIn = (html: string, action: string, name: string) =>
    formFields(html, action).find(([one]) => one === name)?.[1]
  const changesOf = async (type: string) => {
    const filter = encodeURIComponent(`type = "${type}"`)
    return admin.get(`/events?filter=${filter}&sort=at`)
  }

  await t.test(
    'a signer: different fields are both kept, the same one is asked about',
    async () => {
      const id = await admin.createSigner({ issuer: 'https://one.example', name: 'Partner' })
      const path = `/console/signers/${id}`
      const stored = () => admin.get(`/external-jwt-signers/${id}`)
      const form = await first.page(path)
      await meanwhile(path, { scopes: 'openid email', tags: 'team = theirs' })
      const saved = await send(form, path, { name: 'Partner of ours' })
      assert.equal(saved.status, 303, saved.text)
      const both = await stored()
      assert.deepEqual(
        [both.name, both.scopes, both.tags],
        ['Partner of ours', ['openid', 'email'], { team: 'theirs' }],
      )
      const events = await changesOf('external-jwt-signer.updated')
      assert.deepEqual(
        events.map(({ details }: { details: { changed: string[] } }) => details.changed.toSorted()),
        [['scopes', 'tags'], ['name']],
      )
      const asked = await send(form, path, { name: 'Partner', scopes: 'profile', clientId: 'app' })
      assert.equal(asked.status, 200, asked.text)
      assert.match(asked.text, /Nothing is saved yet\./)
      assert.match(asked.text, /replaces <a href="#scopes">what is marked below/)
      assert.match(asked.text, /id="scopes-fault">[^<]* it is “openid email” now\./)
      assert.equal(valueIn(asked.text, path, 'scopes'), 'profile')
      assert.equal(valueIn(asked.text, path, 'tags'), 'team = theirs')
      assert.deepEqual((await stored()).scopes, ['openid', 'email'])
      assert.equal((await send(asked.text, path, {})).status, 303)
      const last = await stored()
      assert.deepEqual([last.scopes, last.clientId], [['profile'], 'app'])
    },
  )

  await t.test('a signer: keys are never mixed out of two changes', async () => {
    const { pem } = await openssl.makeCa()
    const id = await admin.createSigner({ issuer: 'https://keys.example', name: 'Keys' })
    const path = `/console/signers/${id}`
    const form = await first.page(path)
    const { jwksEndpoint } = await admin.get(`/external-jwt-signers/${id}`)
    await meanwhile(path, { jwksEndpoint: '', certPem: pem, kid: 'theirs' })
    const asked = await send(form, path, { jwksEndpoint: `${jwksEndpoint}/other` })
    assert.equal(asked.status, 200, asked.text)
    for (const field of ['jwksEndpoint', 'certPem', 'kid']) {
      assert.ok(asked.text.includes(`id="${field}-fault">Another administrator`), field)
    }
    assert.equal(valueIn(asked.text, path, 'kid'), '')
    assert.equal((await send(asked.text, path, {})).status, 303)
    const { certPem, kid, jwksEndpoint: last } = await admin.get(`/external-jwt-signers/${id}`)
    assert.deepEqual([certPem, kid, last], [null, null, `${jwksEndpoint}/other`])
  })

  await t.test('a CA: different fields are both kept, the same one is asked about', async () => {
    const id = await admin.createCa({ name: 'Factory', certPem: (await openssl.makeCa()).pem })
    const path = `/console/cas/${id}`
    const stored = () => admin.get(`/cas/${id}`)
    const claim = { location: 'COMMON_NAME', matcher: 'PREFIX', matcherCriteria: 'device ' }
    await admin.call('PATCH', `/cas/${id}`, {
      externalIdClaim: { ...claim, parser: 'SPLIT', parserCriteria: ' ', index: 1 },
      identityRoles: [' blank '],
    })
    const form = await first.page(path)
    await meanwhile(path, { matcherCriteria: 'machine ', isAuthEnabled: 'yes' })
    assert.equal((await send(form, path, { name: 'Works' })).status, 303)
    const both = await stored()
    assert.deepEqual([both.name, both.isAuthEnabled], ['Works', true])
    assert.deepEqual(
      [both.externalIdClaim.matcherCriteria, both.externalIdClaim.parserCriteria],
      ['machine ', ' '],
    )
    assert.deepEqual(both.identityRoles, [' blank '], 'what was not touched is as it was')
    // Where the external ID is decides who a certificate is: it is written as a whole or not at all.
    const asked = await send(form, path, { matcher: 'SUFFIX' })
    assert.equal(asked.status, 200, asked.text)
    assert.match(asked.text, /id="matcherCriteria-fault">[^<]* it is “machine ” now\./)
    assert.equal((await stored()).externalIdClaim.matcher, 'PREFIX')
    assert.equal((await send(asked.text, path, {})).status, 303)
    const { matcher, matcherCriteria } = (await stored()).externalIdClaim
    assert.deepEqual([matcher, matcherCriteria], ['SUFFIX', 'device '])
  })

  await t.test(
    'a policy: different fields are both kept, the same one is asked about',
    async () => {
      const id = await admin.createPolicy({ name: 'Strict' })
      const path = `/console/policies/${id}`
      const stored = () => admin.get(`/auth-policies/${id}`)
      const form = await first.page(path)
      await meanwhile(path, { maxAttempts: '3', requireTotp: 'yes' })
      const preview = await send(form, `${path}/preview`, { minPasswordLength: '20' })
      assert.match(preview.text, /<h1><bdi>What would change: Strict/)
      assert.equal((await send(preview.text, path, {})).status, 303)
      const both = await stored()
      const { minPasswordLength, maxAttempts } = both.primary.updb
      assert.deepEqual([minPasswordLength, maxAttempts, both.secondary.requireTotp], [20, 3, true])
      const asked = await send(form, `${path}/preview`, {
        maxAttempts: '7',
        requireTotp: undefined,
      })
      assert.equal(asked.status, 200, asked.text)
      assert.match(asked.text, /<h1><bdi>Strict/)
      assert.match(asked.text, /id="maxAttempts-fault">[^<]* it is “3” now\./)
      assert.equal(valueIn(asked.text, `${path}/preview`, 'minPasswordLength'), '20')
      // The first administrator has not touched it: it was not selected in the form either.
      assert.equal(valueIn(asked.text, `${path}/preview`, 'requireTotp'), 'yes')
      const seen = await send(asked.text, `${path}/preview`, {})
      assert.equal((await send(seen.text, path, {})).status, 303)
      assert.equal((await stored()).primary.updb.maxAttempts, 7)
    },
  )

  await t.test('a policy: only what was previewed is saved', async () => {
    const id = await admin.createPolicy({ name: 'Previewed' })
    const path = `/console/policies/${id}`
    const stored = () => admin.get(`/auth-policies/${id}`)
    const preview = await send(await first.page(path), `${path}/preview`, { maxAttempts: '7' })
    assert.match(preview.text, /Save the change/)
    // Another field, but the preview did not know of it.
    await meanwhile(path, { allowCert: undefined })
    const old = await send(preview.text, path, {})
    assert.equal(old.status, 200, old.text)
    assert.match(old.text, /Another administrator has changed <bdi>Previewed<\/bdi> since/)
    assert.equal((await stored()).primary.updb.maxAttempts, 10)
    assert.equal(valueIn(old.text, `${path}/preview`, 'maxAttempts'), '7')
    assert.equal(valueIn(old.text, `${path}/preview`, 'allowCert'), undefined)
    const again = await send(old.text, `${path}/preview`, {})
    assert.equal((await send(again.text, path, {})).status, 303)
    // The same click twice is not a change of another administrator.
    assert.equal((await send(again.text, path, {})).status, 303)
    assert.match(await first.page(path), /Nothing was changed: everything is as it was\./)
    const { updb, cert } = (await stored()).primary
    assert.deepEqual([updb.maxAttempts, cert.allowed], [7, false])
    // The same field, after the preview.
    const other = await send(await first.page(path), `${path}/preview`, { maxAttempts: '8' })
    await meanwhile(path, { maxAttempts: '9' })
    const asked = await send(other.text, path, {})
    assert.match(asked.text, /id="maxAttempts-fault">[^<]* it is “9” now\./)
    assert.equal((await stored()).primary.updb.maxAttempts, 9)
  })

  await t.test('a policy: the way back from a preview keeps what was typed', async () => {
    const id = await admin.createPolicy({ name: 'Undecided' })
    const path = `/console/policies/${id}`
    const typed = { name: 'Decided', maxAttempts: '7', allowCert: undefined, tags: 'a = b\nc = d' }
    const preview = await send(await first.page(path), `${path}/preview`, typed)
    assert.match(preview.text, /Save the change/)
    const form = await send(preview.text, `${path}/preview`, { back: 'yes' })
    assert.equal(form.status, 200, form.text)
    assert.doesNotMatch(form.text, /Save the change/)
    for (const [name, value] of Object.entries(typed)) {
      assert.equal(valueIn(form.text, `${path}/preview`, name), value, name)
    }
    assert.equal((await admin.get(`/auth-policies/${id}`)).name, 'Undecided')
    // It is a form like before: it notices another administrator, and can be saved after a preview.
    await meanwhile(path, { maxAttempts: '9' })
    const asked = await send(form.text, `${path}/preview`, { name: 'Decided later' })
    assert.match(asked.text, /id="maxAttempts-fault">[^<]* it is “9” now\./)
    const again = await send(asked.text, `${path}/preview`, {})
    assert.equal((await send(again.text, path, {})).status, 303)
    const { name, primary, tags } = await admin.get(`/auth-policies/${id}`)
    assert.deepEqual(
      [name, primary.updb.maxAttempts, primary.cert.allowed, tags],
      ['Decided later', 7, false, { a: 'b', c: 'd' }],
    )
  })

  await t.test('a policy: so does the way back from a preview that cannot be saved', async () => {
    const path = '/console/policies/default'
    const preview = await send(await first.page(path), `${path}/preview`, {
      allowPassword: undefined,
      maxAttempts: '6',
    })
    assert.match(preview.text, /This cannot be saved:/)
    const form = await send(preview.text, `${path}/preview`, { back: 'yes' })
    assert.equal(valueIn(form.text, `${path}/preview`, 'maxAttempts'), '6')
    assert.equal(valueIn(form.text, `${path}/preview`, 'allowPassword'), undefined)
    assert.equal(valueIn(form.text, `${path}/preview`, 'allowCert'), 'yes')
  })

  await t.test('saving without a change writes nothing', async () => {
    const signer = await admin.createSigner({ issuer: 'https://same.example', name: 'Same' })
    const other = await admin.createSigner({ issuer: 'https://same2.example', name: 'Earlier' })
    const ca = await admin.createCa({ name: 'Same', certPem: (await openssl.makeCa()).pem })
    const policy = await admin.createPolicy({ name: 'Same' })
    const extJwt = { allowed: true, allowedSigners: [signer, other] }
    await admin.call('PATCH', `/auth-policies/${policy}`, { primary: { extJwt } })
    const count = async () => (await admin.get('/events?limit=500')).length
    const before = await count()
    for (const path of [`/console/signers/${signer}`, `/console/cas/${ca}`]) {
      assert.equal((await send(await first.page(path), path, {})).status, 303)
      assert.match(await first.page(path), /Nothing was changed: everything is as it was\./)
    }
    const path = `/console/policies/${policy}`
    const preview = await send(await first.page(path), `${path}/preview`, {})
    assert.match(preview.text, /This changes nothing\./)
    assert.equal(await count(), before)
  })
})
