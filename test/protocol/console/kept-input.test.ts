/**
 * What an administrator has typed when a form asks for a fresh login: it is there again after the login, and nothing is
 * sent by itself. D-356, D-481.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { minutes } from '../../../src/base/time/duration.ts'
import { openOpenssl } from '../../support/certificates/openssl.ts'
import {
  assertRefusedPage,
  filledIn,
  formTokenOf,
  openConsole,
  post,
  signIn,
} from '../../support/login/account.ts'
import { administrate } from '../../support/management.ts'
import { ADMIN, startService } from '../../support/service.ts'

const openssl = await openOpenssl()
after(() => openssl.close())
const PASSWORD = 'a long enough passphrase'
const COOKIE = '__Host-latchkey-console-input'
const POLICY_NUMBERS = { minPasswordLength: '13', maxAttempts: '4', lockoutDurationMinutes: '7' }

test('input survives a login that was too old', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const person = await admin.createIdentity({ name: 'Ann', password: PASSWORD })
  const policy = await admin.createPolicy({ name: 'Strict' })
  const signer = await admin.createSigner({ issuer: 'https://idp.example', name: 'Partner' })
  const { pem } = await openssl.makeCa()
  const ca = await admin.createCa({ name: 'Factory', certPem: (await openssl.makeCa()).pem })
  const edit = `/console/identities/${person.id}/edit`
  const again = (page: string) => `/console/confirm?page=${encodeURIComponent(page)}`
  /** With a token of its own: those before have expired. */
  const countNamed = async (list: string, name: string): Promise<number> => {
    const filter = encodeURIComponent(`name contains "${name}"`)
    return (await (await administrate(service)).get(`/${list}?filter=${filter}`)).length
  }
  const kept = (setCookie: string | readonly string[] | undefined) =>
    [setCookie ?? []].flat().find((line) => line.startsWith(`${COOKIE}=`))

  /** The page with the form, its address, what is typed, and what the page must have then. */
  const forms: readonly (readonly [string, string, Record<string, string>, RegExp])[] = [
    [
      '/console/invite',
      '/console/invite',
      { method: 'ott', name: 'Typed <i>', username: '', policy, isAdmin: 'yes' },
      /name="method" value="ott" checked[\s\S]*value="Typed &#60;i&#62;"[\s\S]*name="isAdmin" value="yes" checked/,
    ],
    [edit, edit, { name: 'Typed', roleAttributes: 'a\nb' }, /value="Typed"[\s\S]*>\na\nb</],
    [
      '/console/policies/new',
      '/console/policies',
      { name: 'Typed', allowCert: 'yes', ...POLICY_NUMBERS },
      /value="Typed"[\s\S]*value="13"[\s\S]*name="allowCert" value="yes" checked/,
    ],
    [
      `/console/signers/${signer}`,
      `/console/signers/${signer}`,
      { name: 'Typed', issuer: 'https://typed.example', tags: 'a = b' },
      /value="Typed"[\s\S]*value="https:\/\/typed\.example"[\s\S]*>\na = b</,
    ],
    [
      '/console/signers/new',
      '/console/signers',
      { url: 'https://typed.example', name: 'Typed', clientId: 'app' },
      /value="https:\/\/typed\.example"[\s\S]*value="Typed"/,
    ],
    [
      '/console/signers/new?by=hand',
      '/console/signers/by-hand',
      { name: 'Typed', issuer: 'https://typed.example', audience: 'me' },
      /value="Typed"[\s\S]*value="https:\/\/typed\.example"/,
    ],
    [
      '/console/cas/new',
      '/console/cas',
      { name: 'Typed', certPem: pem },
      /value="Typed"[\s\S]*>\n-----BEGIN CERTIFICATE-----/,
    ],
    [
      `/console/cas/${ca}`,
      `/console/cas/${ca}`,
      { name: 'Typed', identityRoles: 'a', matcher: 'ALL', parser: 'NONE', index: '3' },
      /value="Typed"[\s\S]*>\na</,
    ],
    [
      `/console/cas/${ca}`,
      `/console/cas/${ca}/verify`,
      { proof: pem },
      /name="proof"[^>]*>\n-----BEGIN CERTIFICATE-----/,
    ],
  ]

  await t.test('in every form that is filled in', async () => {
    for (const [page, action, fields, expected] of forms) {
      const { browser, page: read, send } = await openConsole(service)
      service.clock.advance(minutes(6))
      const reply = await send(page, action, fields)
      assert.equal(reply.status, 303, reply.text)
      assert.equal(reply.headers.location, page, 'nothing of it is in the address')
      const cookie = kept(reply.headers['set-cookie']) ?? ''
      assert.match(cookie, /; Path=\/; Secure; HttpOnly; SameSite=Lax; Max-Age=600$/)
      assert.doesNotMatch(Buffer.from(cookie, 'base64').toString('latin1'), /Typed/)
      const before = await read(page)
      assert.match(
        before,
        /Nothing was changed yet, because you signed in a while ago\. What you entered stays/,
      )
      assert.match(before, expected)
      assert.ok(before.includes(again(page).replaceAll('&', '&#38;')), 'the way to the login')

      await signIn(service, browser, again(page), ADMIN)
      const after = await read(page)
      assert.match(after, />What you entered is still here/, page)
      assert.match(after, expected)
      assert.doesNotMatch(await read(page), expected, 'it is shown once')
    }
    for (const list of ['identities', 'auth-policies', 'external-jwt-signers', 'cas']) {
      assert.equal(await countNamed(list, 'Typed'), 0, 'nothing was sent by itself')
    }
  })

  await t.test('and can be saved then', async () => {
    const { browser, page, send } = await openConsole(service)
    service.clock.advance(minutes(6))
    await send('/console/policies/new', '/console/policies', {
      name: 'Saved later',
      allowCert: 'yes',
      ...POLICY_NUMBERS,
    })
    await signIn(service, browser, again('/console/policies/new'), ADMIN)
    const html = await page('/console/policies/new')
    const form = filledIn(html, '/console/policies', {})
    const saved = await post(service, browser, '/console/policies', form)
    assert.equal(saved.status, 303, saved.text)
    assert.equal(await countNamed('auth-policies', 'Saved later'), 1)
  })

  await t.test('a policy is still changed after its preview', async () => {
    const { browser, page } = await openConsole(service)
    service.clock.advance(minutes(6))
    const path = `/console/policies/${policy}`
    const fields = { name: 'Typed', allowCert: 'yes', ...POLICY_NUMBERS }
    const preview = await post(
      service,
      browser,
      `${path}/preview`,
      filledIn(await page(path), `${path}/preview`, fields),
    )
    assert.equal(preview.status, 200, preview.text)
    const form = filledIn(preview.text, path, {})
    assert.equal((await post(service, browser, path, form)).headers.location, path)
    await signIn(service, browser, again(path), ADMIN)
    const after = await page(path)
    assert.match(after, /name="name"[^>]* value="Typed"[\s\S]*value="13"/)
    const repeated = await post(
      service,
      browser,
      `${path}/preview`,
      filledIn(after, `${path}/preview`, {}),
    )
    const saved = await post(service, browser, path, filledIn(repeated.text, path, {}))
    assert.equal(saved.status, 303, saved.text)
    assert.equal(await countNamed('auth-policies', 'Typed'), 1)
  })

  await t.test(
    'the link to the login leads back to a page, from the answer to a form too',
    async () => {
      const { browser, send } = await openConsole(service)
      service.clock.advance(minutes(6))
      const path = `/console/signers/${signer}`
      const checked = await send(path, `${path}/check`, { jwt: 'x' })
      const link = /href="(\/console\/confirm\?page=[^"]+)"/.exec(checked.text)?.[1] ?? ''
      const back = await signIn(service, browser, link, ADMIN)
      assert.equal((await browser.get(back.headers.location ?? '')).status, 200)
    },
  )

  await t.test('the page always says that what it shows is not saved', async () => {
    const { browser, page, send } = await openConsole(service)
    service.clock.advance(minutes(6))
    await send(edit, edit, { name: 'Typed' })
    for (const visit of ['the page after the form', 'a later visit']) {
      const html = await page(edit)
      assert.match(html, /name="name" [^>]*value="Typed"/, visit)
      assert.match(html, /Nothing was changed yet[^<]*What you entered stays here/, visit)
    }
    // The login was for another page.
    await signIn(service, browser, again('/console/invite'), ADMIN)
    await page('/console/invite')
    const html = await page(edit)
    assert.match(html, /name="name" [^>]*value="Typed"/)
    assert.match(html, /What you entered is still here, and nothing was changed yet/)
    assert.match(await page(edit), /name="name" [^>]*value="Ann"/)
  })

  await t.test('nobody else sees it', async () => {
    const other = await (await administrate(service)).createIdentity({
      name: 'Other',
      password: PASSWORD,
      isAdmin: true,
    })
    const { browser, page, send } = await openConsole(service)
    service.clock.advance(minutes(6))
    const typed = { method: 'ott', name: 'Of the first', policy: 'default' }
    await send('/console/invite', '/console/invite', typed)
    assert.match(await page('/console/invite'), /Of the first/)
    // It belongs to its page.
    assert.doesNotMatch(await page('/console/policies/new'), /Of the first/)
    // Attack: the next administrator at the same browser.
    await signIn(service, browser, again('/console/invite'), other)
    assert.doesNotMatch(await page('/console/invite'), /Of the first/)
    await signIn(service, browser, again('/console/invite'), ADMIN)
    service.clock.advance(minutes(6))
    await send('/console/invite', '/console/invite', typed)
    const out = await send('/console/identities', '/console/sign-out')
    assert.match(kept(out.headers['set-cookie']) ?? '', /=; .*Max-Age=0$/)
  })

  await t.test('it waits too if the session is over (D-483)', async () => {
    const path = `/console/policies/${policy}`
    const typed = { name: 'Strict', ...POLICY_NUMBERS, minPasswordLength: '21' }
    const preview: (typeof forms)[number] = [path, `${path}/preview`, typed, /value="21"/]
    for (const [page, action, fields, expected] of [...forms, preview]) {
      const { browser, page: read } = await openConsole(service)
      const form = Object.entries({ formToken: formTokenOf(await read(page), action), ...fields })
      service.clock.advance(minutes(31))
      // As browsers do when it expires.
      browser.cookies.delete('__Host-latchkey-console')
      const reply = await post(service, browser, action, form)
      assert.equal(reply.status, 303, reply.text)
      assert.equal(reply.headers.location, page)
      assert.match(kept(reply.headers['set-cookie']) ?? '', /Max-Age=600$/)
      const back = await signIn(service, browser, page, ADMIN)
      assert.equal(back.headers.location, page)
      const after = await read(page)
      assert.match(after, expected, page)
      assert.match(after, />What you entered is still here/, page)
      assert.doesNotMatch(await read(page), expected, 'it is shown once')
    }
    for (const list of ['identities', 'auth-policies', 'external-jwt-signers', 'cas']) {
      assert.equal(await countNamed(list, 'Typed <i>'), 0, 'nothing was sent by itself')
    }
  })

  await t.test('only for the same administrator, and only in our own forms (D-483)', async () => {
    const other = await (await administrate(service)).createIdentity({
      name: 'Another',
      password: PASSWORD,
      isAdmin: true,
    })
    const { browser, page } = await openConsole(service)
    const form = Object.entries({
      formToken: formTokenOf(await page('/console/invite'), '/console/invite'),
      name: 'Of the first',
      method: 'ott',
      policy: 'default',
    })
    const inviteIn = (headers = {}, fields = form) =>
      post(service, browser, '/console/invite', fields, headers)
    service.clock.advance(minutes(31))
    assert.equal((await inviteIn()).status, 303)
    // Attack: the next administrator at the same browser.
    await signIn(service, browser, '/console/invite', other)
    assert.doesNotMatch(await page('/console/invite'), /Of the first/)
    await signIn(service, browser, again('/console/invite'), ADMIN)
    assert.match(await page('/console/invite'), /Of the first/)

    // Attack: other sites, and forms that our pages did not make, fill in a form that only has to be confirmed.
    browser.cookies.clear()
    const planted = (formToken: string) => [['formToken', formToken], ...form.slice(1)]
    const elsewhere = formTokenOf(
      await (await openConsole(service)).page('/console/policies/new'),
      '/console/policies',
    )
    for (const headers of [
      { 'sec-fetch-site': 'cross-site' },
      { origin: 'https://evil.example' },
    ]) {
      const reply = await inviteIn(headers)
      await assertRefusedPage(service, reply, 403, 'FORBIDDEN')
      assert.equal(kept(reply.headers['set-cookie']), undefined)
    }
    for (const token of ['', 'x', 'x.y', elsewhere, form[0]?.[1].split('.')[0] ?? '']) {
      const reply = await inviteIn({}, planted(token) as [string, string][])
      assert.equal(reply.status, 303, 'the way to the login')
      assert.equal(kept(reply.headers['set-cookie']), undefined, token)
    }
  })

  await t.test('it waits too if the form is of an earlier session (D-438)', async () => {
    const { browser, page } = await openConsole(service)
    const invite = '/console/invite'
    const form = Object.entries({
      formToken: formTokenOf(await page(invite), invite),
      name: 'In the other tab',
      method: 'ott',
      policy: 'default',
    })
    // Another tab of the same browser signs in anew, as a change after five minutes asks for.
    await signIn(service, browser, again('/console/policies/new'), ADMIN)
    const reply = await post(service, browser, invite, form)
    assert.equal(reply.status, 303, reply.text)
    assert.equal(reply.headers.location, invite)
    const html = await page(invite)
    assert.match(html, />What you entered is still here, and nothing was changed yet/)
    assert.match(html, /value="In the other tab"/)
    assert.equal(await countNamed('identities', 'In the other tab'), 0)
    const saved = await post(service, browser, invite, filledIn(html, invite, {}))
    assert.equal(saved.status, 200, saved.text)
    assert.equal(await countNamed('identities', 'In the other tab'), 1)

    // Attack: the next administrator at the same browser sends the form of the first.
    const other = await (await administrate(service)).createIdentity({
      name: 'Third',
      password: PASSWORD,
      isAdmin: true,
    })
    await signIn(service, browser, again(invite), other)
    const refused = await post(service, browser, invite, form)
    await assertRefusedPage(service, refused, 403, 'FORBIDDEN')
    assert.equal(kept(refused.headers['set-cookie']), undefined)
    assert.doesNotMatch(await page(invite), /In the other tab/)
  })

  await t.test('a form that our page did not send leaves nothing behind', async () => {
    // Attack: a page of somebody else fills in a form that the administrator would only have to confirm.
    const { browser, page } = await openConsole(service)
    const formToken = formTokenOf(await page('/console/invite'), '/console/invite')
    service.clock.advance(minutes(6))
    const form = [
      ['formToken', formToken],
      ['name', 'Planted'],
    ] as [string, string][]
    for (const [fields, headers] of [
      [[['formToken', 'x'], ...form.slice(1)] as [string, string][], {}],
      [form, { 'sec-fetch-site': 'cross-site' }],
      [form, { origin: 'https://evil.example' }],
    ] as const) {
      const reply = await post(service, browser, '/console/invite', fields, headers)
      await assertRefusedPage(service, reply, 403, 'FORBIDDEN')
      assert.equal(kept(reply.headers['set-cookie']), undefined)
    }
    assert.doesNotMatch(await page('/console/invite'), /Planted/)
  })

  await t.test('what does not fit into a cookie is not promised', async () => {
    const { page, send } = await openConsole(service)
    service.clock.advance(minutes(6))
    const fields = { name: 'Typed', tags: `a = ${'x'.repeat(4000)}` }
    const reply = await send('/console/policies/new', '/console/policies', fields)
    assert.equal(reply.status, 303)
    assert.equal(kept(reply.headers['set-cookie']), undefined)
    const html = await page('/console/policies/new')
    assert.match(html, /Nothing was changed, because you signed in a while ago\. <a /)
  })
})
