/** The device authorization grant, from the first request to the tokens: RFC 8628, D-440–D-444. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { minutes, seconds } from '../../../src/base/time/duration.ts'
import { cookieBrowser } from '../../support/browser/cookie-browser.ts'
import { headingOf, signIn } from '../../support/login/account.ts'
import {
  answerDevice,
  approveDevice,
  askForDevice,
  assertPoll,
  confirmPath,
  openQuestion,
  poll,
  signInForDevice,
  startDevice,
} from '../../support/login/device.ts'
import { administrate } from '../../support/management.ts'
import { ADMIN, startService } from '../../support/service.ts'

const whoami = (access: string) => ({
  path: '/edge/client/v1/current-identity',
  options: { headers: { authorization: `Bearer ${access}` } },
})

test('a device gets tokens of the user who approves it', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)

  await t.test('the response has everything of RFC 8628 §3.2, and discovery names it', async () => {
    const discovery = (await service.call('/.well-known/openid-configuration')).json()
    assert.equal(
      discovery.device_authorization_endpoint,
      `${service.baseUrl}/oidc/device_authorization`,
    )
    assert.ok(
      discovery.grant_types_supported.includes('urn:ietf:params:oauth:grant-type:device_code'),
    )
    const reply = await askForDevice(service)
    assert.equal(reply.status, 200, reply.text)
    const answer = reply.json()
    assert.match(answer.device_code, /^[\w-]{43}$/)
    assert.match(
      answer.user_code,
      /^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/,
      'RFC 8628 §6.1',
    )
    assert.equal(answer.verification_uri, `${service.baseUrl}/device`)
    assert.equal(
      answer.verification_uri_complete,
      `${service.baseUrl}/device?user_code=${answer.user_code}`,
    )
    assert.equal(answer.expires_in, 600)
    assert.equal(answer.interval, 5)
  })

  await t.test('approved, the device gets a session of its own that refreshes', async () => {
    const person = await admin.createIdentity({ password: 'a good password' })
    const device = await startDevice(service)
    await assertPoll(service, device, 'authorization_pending')
    const browser = await signInForDevice(service, device, person)
    const question = await browser.get(confirmPath(device))
    assert.equal(headingOf(question.text), 'Sign in this device?')
    for (const shown of [device.userCode, '127.0.0.1', 'a-terminal/1', person.username]) {
      assert.ok(question.text.includes(shown), `RFC 8628 §5.4: the page shows ${shown}`)
    }
    const answered = await answerDevice(service, browser, device, 'approve')
    assert.equal(answered.status, 303, answered.text)
    assert.equal(answered.headers.location, '/device')
    const approved = await browser.get('/device')
    assert.equal(headingOf(approved.text), 'Device approved')
    assert.match(approved.text, /<a href="\/account\/sessions">Go to your sessions<\/a>/)
    assert.equal(headingOf((await browser.get('/device')).text), 'Sign in on another device')
    assert.deepEqual(
      [...browser.cookies.keys()],
      ['__Host-latchkey-device', '__Host-latchkey-device-page-ending'],
      'the browser keeps no session, and stays a known one (D-216)',
    )

    const reply = await poll(service, device)
    assert.equal(reply.status, 200, reply.text)
    const tokens = reply.json()
    assert.equal(tokens.token_type, 'Bearer')
    assert.equal(tokens.scope, 'openid offline_access')
    const { path, options } = whoami(tokens.access_token)
    assert.equal((await service.call(path, options)).json().data.id, person.id)
    const refreshed = await service.call('/oidc/token', {
      form: [
        ['grant_type', 'refresh_token'],
        ['client_id', 'service'],
        ['refresh_token', tokens.refresh_token],
      ],
    })
    assert.equal(refreshed.status, 200, refreshed.text)
    const events = await admin.get(`/events?filter=identityId="${person.id}"&limit=50`)
    const types = events.map(({ type }: { type: string }) => type)
    assert.ok(types.includes('device.approved'), String(types))
  })

  await t.test('a browser that began to sign in a device stays a known one (D-216)', async () => {
    const browser = cookieBrowser(service)
    await signIn(service, browser, '/account', ADMIN)
    const known = browser.cookies.get('__Host-latchkey-device')
    assert.match(known ?? '', /^[\w-]+$/)
    assert.equal((await browser.get(confirmPath(await startDevice(service)))).status, 302)
    assert.equal(browser.cookies.get('__Host-latchkey-device'), known)
  })

  await t.test('two devices at once: each gets what its own user approved', async () => {
    const [one, other] = await Promise.all([
      admin.createIdentity({ password: 'a good password' }),
      admin.createIdentity({ password: 'another password' }),
    ])
    const [first, second] = await Promise.all([startDevice(service), startDevice(service)])
    await approveDevice(service, second, other)
    await assertPoll(service, first, 'authorization_pending')
    await approveDevice(service, first, one)
    const owners = await Promise.all(
      [first, second].map(async (device) => {
        const { access_token } = (await poll(service, device)).json()
        const { path, options } = whoami(access_token)
        return (await service.call(path, options)).json().data.id
      }),
    )
    assert.deepEqual(owners, [one.id, other.id])
  })

  await t.test('denied, the device is told so, and never gets tokens', async () => {
    const device = await startDevice(service)
    const browser = await signInForDevice(service, device)
    assert.equal((await answerDevice(service, browser, device, 'deny')).status, 303)
    assert.equal(headingOf((await browser.get('/device')).text), 'Device denied')
    await assertPoll(service, device, 'access_denied')
    const again = await signInForDevice(service, device)
    const page = await again.get(confirmPath(device))
    assert.match(page.text, /already used/)
    await assertPoll(service, device, 'access_denied')
  })

  await t.test('the policy of the user applies: a second factor is demanded first', async () => {
    const policy = await admin.createPolicy({ secondary: { requireTotp: true } })
    const person = await admin.createIdentity({ password: 'a good password', policy })
    const device = await startDevice(service)
    const browser = cookieBrowser(service)
    const begun = await browser.get(confirmPath(device))
    const login = new URL(begun.headers.location ?? '', service.baseUrl)
    const authRequestId = login.searchParams.get('authRequestID') ?? ''
    const { username, password } = person
    const credentials = { authRequestId, username, password }
    const page = await browser.post('/oidc/login/username', credentials)
    assert.equal(headingOf(page.text), 'One more step')
    assert.match(page.text, /approve another device/)
    await assertPoll(service, device, 'authorization_pending')
  })
})

test('a device that waits', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)

  await t.test('is told to slow down, and its interval really grows', async () => {
    const device = await startDevice(service)
    await assertPoll(service, device, 'authorization_pending')
    await assertPoll(service, device, 'slow_down')
    service.clock.advance(seconds(6))
    await assertPoll(service, device, 'slow_down') // 10 seconds were asked for
    service.clock.advance(seconds(15))
    await assertPoll(service, device, 'authorization_pending')
    service.clock.advance(seconds(15))
    await assertPoll(service, device, 'authorization_pending')
  })

  await t.test('gets expired_token after ten minutes, also if it was approved', async () => {
    const [device, approved] = [await startDevice(service), await startDevice(service)]
    await approveDevice(service, approved)
    service.clock.advance(minutes(10))
    await assertPoll(service, device, 'expired_token')
    await assertPoll(service, approved, 'expired_token')
    const browser = await signInForDevice(service, device)
    assert.match((await browser.get(confirmPath(device))).text, /has expired/)
  })

  await t.test('gets nothing if the user was disabled after the approval', async () => {
    const person = await admin.createIdentity({ password: 'a good password' })
    const device = await startDevice(service)
    await approveDevice(service, device, person)
    await admin.act('POST', `/identities/${person.id}/disable`, { durationMinutes: 0 })
    await assertPoll(service, device, 'invalid_grant')
  })

  await t.test(
    'gets nothing if all sessions of the user were ended after the approval',
    async () => {
      const person = await admin.createIdentity({ password: 'a good password' })
      const device = await startDevice(service)
      await approveDevice(service, device, person)
      await admin.act('DELETE', `/identities/${person.id}/api-sessions`)
      await assertPoll(service, device, 'invalid_grant')
    },
  )
})

test('R040: of several uses of one code at once, one succeeds', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)

  await t.test('ten polls of an approved device: one gets tokens', async () => {
    const device = await startDevice(service)
    await approveDevice(service, device)
    const replies = await Promise.all(Array.from({ length: 10 }, () => poll(service, device)))
    assert.equal(replies.filter(({ status }) => status === 200).length, 1)
    for (const reply of replies.filter(({ status }) => status !== 200)) {
      assert.equal(reply.json().error, 'invalid_grant')
    }
    const { access_token } = replies.find(({ status }) => status === 200)?.json() ?? {}
    const { path, options } = whoami(access_token)
    assert.equal((await service.call(path, options)).status, 200)
    // D-443: much later, one of the two has stolen it.
    service.clock.advance(seconds(5))
    await assertPoll(service, device, 'invalid_grant')
    assert.equal((await service.call(path, options)).status, 401)
  })

  await t.test(
    'two users approve at once: the device belongs to one, the other is told',
    async () => {
      const people = await Promise.all([
        admin.createIdentity({ password: 'a good password' }),
        admin.createIdentity({ password: 'another password' }),
      ])
      const device = await startDevice(service)
      const browsers = await Promise.all(
        people.map((person) => signInForDevice(service, device, person)),
      )
      // Both read the question before one of them answers it: afterwards there is nothing to approve.
      const questions = await Promise.all(
        browsers.map((browser) => openQuestion(service, browser, device)),
      )
      const replies = await Promise.all(questions.map((answer) => answer('approve')))
      assert.deepEqual(replies.map(({ status }) => status).sort(), [200, 303])
      const loser = replies.find(({ status }) => status === 200)
      assert.match(loser?.text ?? '', /already used/)
      const { access_token } = (await poll(service, device)).json()
      const { path, options } = whoami(access_token)
      const { id } = (await service.call(path, options)).json().data
      assert.equal(id, people[replies.findIndex(({ status }) => status === 303)]?.id)
    },
  )

  await t.test('a user approves and denies at once: one of the two counts', async () => {
    const device = await startDevice(service)
    const browsers = [
      await signInForDevice(service, device),
      await signInForDevice(service, device),
    ] as const
    const one = await openQuestion(service, browsers[0], device)
    const other = await openQuestion(service, browsers[1], device)
    const [approved, denied] = await Promise.all([one('approve'), other('deny')])
    assert.deepEqual([approved.status, denied.status].sort(), [200, 303])
    const reply = await poll(service, device)
    if (approved.status === 303) assert.equal(reply.status, 200)
    else assert.equal(reply.json().error, 'access_denied')
  })
})

test('the code is accepted in any case, with or without the dash', async (t) => {
  const service = await startService(t)
  const { userCode } = await startDevice(service)
  const browser = await signInForDevice(service, { userCode }, ADMIN)
  const plain = userCode.replace('-', '')
  for (const written of [
    plain,
    userCode.toLowerCase(),
    ` ${plain.toLowerCase()} `,
    `${userCode.slice(0, 4)} ${userCode.slice(5)}`,
  ]) {
    const page = await browser.get(`/device/confirm?user_code=${encodeURIComponent(written)}`)
    assert.equal(headingOf(page.text), 'Sign in this device?', written)
  }
})
