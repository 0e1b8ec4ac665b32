/** What a change from the account pages needs, and how it is refused. D-162; R087, R090. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { minutes, seconds } from '../../../src/base/time/duration.ts'
import { openOpenssl } from '../../support/certificates/openssl.ts'
import {
  assertRefusedPage,
  formTokenOf,
  headingOf,
  openAccount,
  post,
  signIn,
} from '../../support/login/account.ts'
import {
  authenticatorApp,
  enrolledPerson,
  PASSWORD,
} from '../../support/login/authenticator-app.ts'
import { CLIENT_API, callsOf, legacyToken } from '../../support/login/legacy.ts'
import { administrate, logInAs } from '../../support/management.ts'
import { startService } from '../../support/service.ts'

const NEW_PASSWORD = 'quite another passphrase'
const NOT_FRESH = 'Nothing was changed. Confirm that it is you, then try again.'

test('a change needs a fresh factor', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const someone = () => admin.createIdentity({ password: PASSWORD })

  await t.test(
    'five minutes after the login, sessions are not ended and no app is set up',
    async () => {
      // Attack: somebody sits down at a browser that its owner has left.
      const person = await someone()
      const other = await logInAs(service, person)
      const { browser, page } = await openAccount(service, person)
      service.clock.advance(seconds(5 * 60 - 20))
      const sessions = await page('/account/sessions')
      const totp = await page('/account/totp')
      const forms = [
        ['/account/sessions/end', sessions],
        ['/account/sessions/end-others', sessions],
        ['/account/totp/start', totp],
      ] as const
      const tokens = forms.map(([action, html]) => [action, formTokenOf(html, action)] as const)
      service.clock.advance(seconds(20))
      for (const [action, formToken] of tokens) {
        const form = [
          ['formToken', formToken],
          ['session', 'x'],
        ] as const
        const reply = await post(service, browser, action, form)
        assert.equal(reply.status, 303, action)
        const back = await page(reply.headers.location ?? '')
        assert.ok(back.includes(NOT_FRESH), action)
        assert.ok(back.includes('href="/account/confirm?page='))
        assert.ok(!back.includes(`action="${action}"`), 'no form that would be refused')
      }
      const call = { headers: { authorization: `Bearer ${other.access_token}` } }
      assert.equal((await service.call(`${CLIENT_API}/current-identity`, call)).status, 200)

      // Another login on the way makes it fresh again, and comes back to the page.
      const confirmed = await signIn(service, browser, '/account/confirm?page=sessions', person)
      assert.equal(confirmed.headers.location, '/account/sessions')
      const html = await page('/account/sessions')
      assert.ok(html.includes('You can make changes for the next five minutes.'))
      const action = '/account/sessions/end-others'
      const form = [['formToken', formTokenOf(html, action)]] as const
      assert.equal((await post(service, browser, action, form)).status, 303)
      assert.equal((await service.call(`${CLIENT_API}/current-identity`, call)).status, 401)
      assert.equal((await admin.get(`/identities/${person.id}/api-sessions`)).length, 1)
    },
  )

  await t.test('the way to a fresh login leads to pages of the account alone (R020)', async () => {
    const person = await someone()
    const { browser } = await openAccount(service, person)
    for (const to of ['https://evil.example', '//evil.example', 'constructor', '', 'callback']) {
      const path = `/account/confirm?page=${encodeURIComponent(to)}`
      const reply = await signIn(service, browser, path, person)
      assert.equal(reply.headers.location, '/account')
    }
    const twice = await browser.get('/account/confirm?page=totp&page=sessions')
    await assertRefusedPage(service, twice, 400, 'COULD_NOT_VALIDATE')
  })

  await t.test('a user who cancels stays signed in', async () => {
    const { browser, page } = await openAccount(service, await someone())
    assert.equal((await browser.get('/account/confirm?page=totp')).status, 302)
    assert.equal(headingOf(await page('/account/totp')), 'Authenticator app')
  })

  await t.test('the password needs the present one, whole and twice the new one', async () => {
    const person = await someone()
    const { browser, page, send } = await openAccount(service, person)
    service.clock.advance(minutes(6))
    const good = { currentPassword: PASSWORD, password: NEW_PASSWORD, repeated: NEW_PASSWORD }
    const faults: readonly (readonly [Record<string, string>, string])[] = [
      [{ ...good, currentPassword: 'wrong horse battery' }, 'The current password is incorrect'],
      [{ ...good, currentPassword: '' }, 'Fill in all three fields.'],
      [{ currentPassword: PASSWORD }, 'Fill in all three fields.'],
      [{ ...good, repeated: 'something else' }, 'The new passwords do not match.'],
      [{ ...good, password: PASSWORD, repeated: PASSWORD }, 'Choose another.'],
      [{ ...good, password: 'short', repeated: 'short' }, 'The new password must have at least'],
    ]
    for (const [fields, sentence] of faults) {
      const reply = await send('/account/password', '/account/password', fields)
      assert.equal(reply.status, 400, sentence)
      assert.ok(reply.text.includes(sentence), reply.text)
      for (const value of [PASSWORD, NEW_PASSWORD]) assert.ok(!reply.text.includes(value))
    }
    const formToken = formTokenOf(await page('/account/password'), '/account/password')
    const long = 'x'.repeat(1025)
    for (const form of [
      Object.entries({ ...good, formToken, password: long, repeated: long }),
      [...Object.entries({ ...good, formToken }), ['password', NEW_PASSWORD] as const],
    ]) {
      const reply = await post(service, browser, '/account/password', form)
      await assertRefusedPage(service, reply, 400, 'COULD_NOT_VALIDATE')
    }
    await logInAs(service, person)
    const done = await send('/account/password', '/account/password', good)
    assert.equal(done.status, 303, 'however long ago the login was')
  })

  await t.test('of two changes of the password at once one happens', async () => {
    const person = await someone()
    const { browser, page } = await openAccount(service, person)
    const formToken = formTokenOf(await page('/account/password'), '/account/password')
    const wanted = ['the first new passphrase', 'the second new passphrase']
    const replies = await Promise.all(
      wanted.map((password) =>
        post(
          service,
          browser,
          '/account/password',
          Object.entries({ formToken, currentPassword: PASSWORD, password, repeated: password }),
        ),
      ),
    )
    assert.deepEqual(replies.map(({ status }) => status).toSorted(), [303, 400])
    const winner = wanted[replies.findIndex(({ status }) => status === 303)] ?? ''
    await logInAs(service, { ...person, password: winner })
  })

  await t.test(
    'guesses at the present password are counted like failed logins (D-22)',
    async () => {
      const policy = await admin.createPolicy({
        primary: {
          cert: { allowed: true },
          extJwt: { allowed: true },
          updb: { allowed: true, maxAttempts: 3 },
        },
      })
      const person = await admin.createIdentity({ password: PASSWORD, policy })
      const { send } = await openAccount(service, person)
      const good = { currentPassword: PASSWORD, password: NEW_PASSWORD, repeated: NEW_PASSWORD }
      for (let n = 0; n < 3; n += 1) {
        const fields = { ...good, currentPassword: `wrong ${n}` }
        assert.equal((await send('/account/password', '/account/password', fields)).status, 400)
      }
      const locked = await send('/account/password', '/account/password', good)
      assert.equal(locked.status, 400)
      assert.ok(locked.text.includes('too many failed attempts'))
    },
  )

  await t.test('a user without password, app or certificate is told so', async () => {
    const tool = await openOpenssl()
    t.after(() => tool.close())
    const leaf = await tool.makeLeaf(await tool.makeCa())
    const bare = await openAccount(service, await someone())
    assert.ok((await bare.page('/account/certificates')).includes('has no certificate'))
    const owner = await admin.createIdentity({ password: PASSWORD, certPem: leaf.pem })
    const { page, browser } = await openAccount(service, owner)
    const { cert, updb } = (await admin.get(`/identities/${owner.id}`)).authenticators
    const shown = await page('/account/certificates')
    assert.ok(shown.replaceAll(/<\/?span>/g, '').includes(`>${cert.fingerprint}</code>`))
    assert.ok(shown.includes('another authority'))

    const formToken = formTokenOf(await page('/account/password'), '/account/password')
    const store = await service.openStore()
    await store.transaction((tx) => tx.authenticators.remove(updb.id))
    assert.ok((await page('/account/password')).includes('Your account has no password.'))
    const form = Object.entries({ formToken, currentPassword: PASSWORD, password: NEW_PASSWORD })
    const reply = await post(service, browser, '/account/password', form)
    await assertRefusedPage(service, reply, 404, 'NOT_FOUND')
  })
})

test('an app needs a code', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)

  await t.test('a wrong code, none, or two of them remove nothing and renew nothing', async () => {
    const person = await enrolledPerson(service, admin)
    const { browser, page } = await openAccount(service, person, () => person.app.nextCode())
    for (const action of ['/account/totp/remove', '/account/totp/recovery-codes']) {
      const formToken = formTokenOf(await page('/account/totp'), action)
      for (const codes of [[person.app.wrongCode()], [], [''], ['x'.repeat(65)], ['1', '2']]) {
        const form = [
          ['formToken', formToken] as const,
          ...codes.map((code) => ['code', code] as const),
        ]
        const reply = await post(service, browser, action, form)
        assert.equal(reply.status, 400, reply.text)
        assert.ok(reply.text.includes('role="alert">That code is incorrect.'))
      }
    }
    assert.ok((await page('/account/totp')).includes('You have 20 left.'))
  })

  await t.test('a code works once, also for two forms at the same time (R085)', async () => {
    const person = await enrolledPerson(service, admin)
    const { browser, page } = await openAccount(service, person, () => person.app.nextCode())
    const html = await page('/account/totp')
    const action = '/account/totp/recovery-codes'
    const form = Object.entries({
      formToken: formTokenOf(html, action),
      code: person.app.nextCode(),
    })
    const replies = await Promise.all([1, 2, 3].map(() => post(service, browser, action, form)))
    assert.deepEqual(replies.map(({ status }) => status).toSorted(), [200, 400, 400])
  })

  await t.test('too many wrong codes wait (R086)', async () => {
    const person = await enrolledPerson(service, admin)
    const { browser, page } = await openAccount(service, person, () => person.app.nextCode())
    const action = '/account/totp/remove'
    const formToken = formTokenOf(await page('/account/totp'), action)
    const form = Object.entries({ formToken, code: person.app.wrongCode() })
    for (let n = 0; n < 10; n += 1) await post(service, browser, action, form)
    const right = Object.entries({ formToken, code: person.app.code(1) })
    const reply = await post(service, browser, action, right)
    assert.equal(reply.status, 429)
    assert.match(reply.headers['retry-after'] ?? '', /^\d+$/)
    assert.ok(reply.text.includes('Too many failed attempts'))
  })

  await t.test(
    'an app that another session has begun to set up is neither shown nor finished',
    async () => {
      // Attack: whoever holds an old session begins over the API, or waits until the owner has begun, and proves an app of
      // his own in the owner's page.
      const person = await admin.createIdentity({ password: PASSWORD })
      const call = callsOf(service, await legacyToken(service, person))
      const { browser, page } = await openAccount(service, person)
      const mine = await post(service, browser, '/account/totp/start', [
        ['formToken', formTokenOf(await page('/account/totp'), '/account/totp/start')],
      ])
      assert.equal(mine.status, 200)
      const formToken = formTokenOf(mine.text, '/account/totp/verify')
      const proof = /name="proof" value="([^"]+)"/.exec(mine.text)?.[1] ?? ''
      const theirs = await call(`${CLIENT_API}/current-identity/mfa`, { method: 'POST' })
      const app = authenticatorApp(theirs.json().data.provisioningUrl, service.clock)
      assert.ok(!(await page('/account/totp')).includes('otpauth:'))
      for (const proofs of [[proof], [], ['x'], [proof, proof]]) {
        const form = [
          ['formToken', formToken] as const,
          ['code', app.code()] as const,
          ...proofs.map((one) => ['proof', one] as const),
        ]
        const reply = await post(service, browser, '/account/totp/verify', form)
        assert.equal(reply.status, 303)
        const back = await page('/account/totp')
        assert.ok(back.includes('Start again.'))
        assert.ok(back.includes('Set up an app'), 'it is still off')
      }
    },
  )

  await t.test('the last step sent twice is one app, and no fault', async () => {
    const person = await admin.createIdentity({ password: PASSWORD })
    const { browser, page } = await openAccount(service, person)
    const begun = await post(service, browser, '/account/totp/start', [
      ['formToken', formTokenOf(await page('/account/totp'), '/account/totp/start')],
    ])
    const url = (/href="(otpauth:[^"]+)"/.exec(begun.text)?.[1] ?? '').replaceAll('&#38;', '&')
    const form = Object.entries({
      formToken: formTokenOf(begun.text, '/account/totp/verify'),
      proof: /name="proof" value="([^"]+)"/.exec(begun.text)?.[1] ?? '',
      code: authenticatorApp(url, service.clock).code(),
    })
    const replies = await Promise.all(
      [1, 2, 3].map(() => post(service, browser, '/account/totp/verify', form)),
    )
    assert.deepEqual(
      replies.map(({ status }) => status),
      [303, 303, 303],
    )
    assert.ok((await page('/account/totp')).includes('Your app is set up.'))
  })

  await t.test('there is one app: a second is not begun (R090)', async () => {
    const person = await admin.createIdentity({ password: PASSWORD })
    const { browser, page } = await openAccount(service, person)
    const formToken = formTokenOf(await page('/account/totp'), '/account/totp/start')
    const call = callsOf(service, await legacyToken(service, person))
    const started = await call(`${CLIENT_API}/current-identity/mfa`, { method: 'POST' })
    const app = authenticatorApp(started.json().data.provisioningUrl, service.clock)
    await call(`${CLIENT_API}/current-identity/mfa/verify`, { json: { code: app.code() } })
    const reply = await post(service, browser, '/account/totp/start', [['formToken', formToken]])
    assert.equal(reply.status, 303)
    assert.ok((await page('/account/totp')).includes('You already have an app.'))
  })
})
