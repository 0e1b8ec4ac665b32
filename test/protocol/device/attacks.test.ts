/** What an attacker can try at the device grant: RFC 8628 §5, D-441, D-442. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { minutes } from '../../../src/base/time/duration.ts'
import { cookieBrowser } from '../../support/browser/cookie-browser.ts'
import { assertRefusedPage, formTokenOf, post, signIn } from '../../support/login/account.ts'
import {
  answerDevice,
  askForDevice,
  assertPoll,
  confirmPath,
  DEVICE_GRANT,
  poll,
  signInForDevice,
  startDevice,
} from '../../support/login/device.ts'
import { administrate } from '../../support/management.ts'
import { ADMIN, startService } from '../../support/service.ts'

test('requests that are not valid are refused with their code', async (t) => {
  const service = await startService(t)
  const refusals: Readonly<Record<string, readonly [Record<string, string | undefined>, string]>> =
    {
      'no client': [{ client_id: undefined }, 'invalid_client'],
      'another client': [{ client_id: 'other' }, 'invalid_client'],
      'no scope': [{ scope: undefined }, 'invalid_scope'],
      'a scope without openid': [{ scope: 'offline_access' }, 'invalid_scope'],
      'an empty scope': [{ scope: '' }, 'invalid_scope'],
    }
  for (const [what, [changes, error]] of Object.entries(refusals)) {
    await t.test(`${what} is ${error}`, async () => {
      const reply = await askForDevice(service, changes)
      assert.equal(reply.status, 400, reply.text)
      assert.equal(reply.json().error, error)
    })
  }
  await t.test('a client secret is refused', async () => {
    const reply = await askForDevice(service, { client_secret: 'x' })
    assert.equal(reply.status, 401)
    assert.equal(reply.json().error, 'invalid_client')
  })
  await t.test('a repeated parameter is refused', async () => {
    const form = [
      ['client_id', 'service'],
      ['scope', 'openid'],
      ['scope', 'openid'],
    ] as const
    const reply = await service.call('/oidc/device_authorization', { form })
    assert.equal(reply.json().error, 'invalid_request')
  })
  await t.test('polls with a missing, unknown or long code, or of another client', async () => {
    const device = await startDevice(service)
    await assertPoll(service, { deviceCode: 'x'.repeat(43) }, 'invalid_grant')
    await assertPoll(service, { deviceCode: 'x'.repeat(5000) }, 'invalid_grant')
    await assertPoll(service, { deviceCode: device.userCode }, 'invalid_grant')
    assert.equal((await poll(service, device, 'other')).json().error, 'invalid_client')
    const missing = await service.call('/oidc/token', {
      form: [
        ['grant_type', DEVICE_GRANT],
        ['client_id', 'service'],
      ],
    })
    assert.equal(missing.json().error, 'invalid_request')
    await assertPoll(service, device, 'authorization_pending')
  })
  await t.test('a device code is no authorization code', async () => {
    const device = await startDevice(service)
    const browser = await signInForDevice(service, device)
    assert.equal((await answerDevice(service, browser, device, 'approve')).status, 303)
    const reply = await service.call('/oidc/token', {
      form: [
        ['grant_type', 'authorization_code'],
        ['client_id', 'service'],
        ['code', device.deviceCode],
        ['redirect_uri', ''],
        ['code_verifier', 'x'.repeat(43)],
      ],
    })
    assert.equal(reply.json().error, 'invalid_grant')
    assert.equal((await poll(service, device)).status, 200, 'and it was not spent by that')
  })
})

test('RFC 8628 §5.1: user codes cannot be guessed', async (t) => {
  const service = await startService(t)

  await t.test('before the sign-in nothing tells whether a code exists', async () => {
    const device = await startDevice(service)
    for (const userCode of [device.userCode, 'BCDF-GHJK']) {
      const reply = await cookieBrowser(service).get(`/device/confirm?user_code=${userCode}`)
      assert.equal(reply.status, 302)
      assert.match(reply.headers.location ?? '', /^\/oidc\/login\//)
    }
  })

  await t.test('text that is not a code is refused without a sign-in', async () => {
    for (const text of [
      '',
      'BCDF',
      'BCDF-GHJKL',
      'AEIO-UAEI',
      '1234-5678',
      '<script>',
      'x'.repeat(999),
    ]) {
      const reply = await cookieBrowser(service).get(
        `/device/confirm?user_code=${encodeURIComponent(text)}`,
      )
      assert.equal(reply.status, 200, text)
      assert.match(reply.text, /not a complete code/)
      assert.ok(!reply.text.includes('<script>'))
    }
    const repeated = '/device/confirm?user_code=BCDF-GHJK&user_code=BCDF-GHJL'
    assert.equal((await cookieBrowser(service).get(repeated)).status, 400)
  })

  await t.test('after ten wrong codes in a minute even a right one is refused', async () => {
    const device = await startDevice(service)
    const browser = await signInForDevice(service, device)
    for (let guess = 0; guess < 10; guess++) {
      const wrong = await browser.get('/device/confirm?user_code=BCDF-GHJK')
      assert.match(wrong.text, /No device is waiting/)
    }
    await assertRefusedPage(service, await browser.get(confirmPath(device)), 429, 'RATE_LIMITED')
    const admin = await administrate(service)
    const events = await admin.get('/events?filter=type="device.refused"&limit=50')
    assert.equal(events[0].reason, 'unknown-user-code')
  })
})

test('D-442: devices that wait are bounded for each network', async (t) => {
  const service = await startService(t)
  for (let n = 0; n < 20; n++) await startDevice(service)
  const refused = await askForDevice(service)
  assert.equal(refused.status, 429)
  assert.ok(Number(refused.headers['retry-after']) > 0)
  service.clock.advance(minutes(10))
  assert.equal((await askForDevice(service)).status, 200)
})

test('the answer of a user cannot be forged or taken over', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const device = await startDevice(service)
  const browser = await signInForDevice(service, device)
  const page = (await browser.get(confirmPath(device))).text
  const fields = [
    ['formToken', formTokenOf(page, '/device/approve')],
    ['user_code', device.userCode],
  ] as const

  const forged: Readonly<Record<string, () => Promise<Awaited<ReturnType<typeof post>>>>> = {
    'without the token of the form': () =>
      post(service, browser, '/device/approve', [['user_code', device.userCode]]),
    'with the token of the other form': () => post(service, browser, '/device/deny', fields),
    'from another site': () =>
      post(service, browser, '/device/approve', fields, { 'sec-fetch-site': 'cross-site' }),
    'from another origin': () =>
      post(service, browser, '/device/approve', fields, { origin: 'https://evil.example' }),
  }
  for (const [what, send] of Object.entries(forged)) {
    await t.test(`a form ${what} is refused`, async () => {
      await assertRefusedPage(service, await send(), 403, 'FORBIDDEN')
      await assertPoll(service, device, 'authorization_pending').catch(() =>
        assertPoll(service, device, 'slow_down'),
      )
    })
  }
  await t.test('the form of one user does not work in the session of another', async () => {
    const other = await admin.createIdentity({ password: 'a good password' })
    const theirs = await signInForDevice(service, device, other)
    const reply = await post(service, theirs, '/device/approve', fields)
    await assertRefusedPage(service, reply, 403, 'FORBIDDEN')
  })
  await t.test('without a session nothing is answered', async () => {
    const reply = await post(service, cookieBrowser(service), '/device/approve', fields)
    assert.equal(reply.status, 303)
    assert.equal(reply.headers.location, '/device')
  })
  await t.test('the session of the account approves nothing', async () => {
    const stranger = cookieBrowser(service)
    await signIn(service, stranger, '/account', ADMIN)
    assert.equal((await stranger.get(confirmPath(device))).status, 302)
  })
  await t.test('a sign-in of more than five minutes ago is repeated first', async () => {
    const waiting = await startDevice(service)
    const early = await signInForDevice(service, waiting)
    const token = formTokenOf((await early.get(confirmPath(waiting))).text, '/device/approve')
    service.clock.advance(minutes(6))
    const late = await post(service, early, '/device/approve', [
      ['formToken', token],
      ['user_code', waiting.userCode],
    ])
    assert.equal(late.headers.location, confirmPath(waiting))
    const again = await early.get(confirmPath(waiting))
    assert.equal(again.status, 302)
    assert.match(again.headers.location ?? '', /^\/oidc\/login\//)
    await assertPoll(service, waiting, 'authorization_pending')
  })
})

test('a page that was asked for comes back only if it is the question', async (t) => {
  const service = await startService(t)
  for (const page of ['https://evil.example', '//evil.example', '/account', '/device/confirm']) {
    await t.test(page, async () => {
      const path = `/device/sign-in?page=${encodeURIComponent(page)}`
      const reply = await signIn(service, cookieBrowser(service), path, ADMIN)
      assert.equal(reply.headers.location, '/device')
    })
  }
})
