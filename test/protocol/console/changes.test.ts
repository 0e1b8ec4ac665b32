/**
 * What administrators change in the console: the same use cases as the management API, with the same events and the
 * administrator as their actor. D-355, D-356, D-358 to D-360.
 */
import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { test } from 'node:test'
import { minutes } from '../../../src/base/time/duration.ts'
import { makeCsr } from '../../support/certificates/csr.ts'
import { eventually } from '../../support/eventually.ts'
import { assertRefusedPage, openConsole, post } from '../../support/login/account.ts'
import { enrolledPerson, PASSWORD } from '../../support/login/authenticator-app.ts'
import { CLIENT_API } from '../../support/login/legacy.ts'
import { administrate, logInAs } from '../../support/management.ts'
import { startService } from '../../support/service.ts'

test('changes in the console', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const second = await admin.createIdentity({ name: 'Second', password: PASSWORD, isAdmin: true })
  const console = await openConsole(service, second)
  const { browser, page, send } = console
  const pathOf = (id: string) => `/console/identities/${id}`
  const eventsOf = async (id: string): Promise<readonly string[]> => {
    const filter = encodeURIComponent(`identityId = "${id}" and actorName = "Second"`)
    const events = await admin.get(`/events?filter=${filter}&sort=at`)
    return events.map(({ type }: { readonly type: string }) => type)
  }
  const act = async (id: string, what: string, fields = {}) => {
    const reply = await send(pathOf(id), `${pathOf(id)}/${what}`, fields)
    assert.equal(reply.status, 303, reply.text)
    return reply
  }

  await t.test('disable, enable, sign out everywhere and delete leave their events', async () => {
    const person = await admin.createIdentity({ password: PASSWORD })
    await logInAs(service, person)
    await act(person.id, 'sign-out')
    await act(person.id, 'disable', { minutes: '60' })
    assert.match(await page(pathOf(person.id)), /The identity is disabled/)
    await act(person.id, 'enable')
    await act(person.id, 'delete')
    assert.match(await page('/console/identities'), /The identity was deleted/)
    const expected = ['session.ended', 'identity.disabled', 'identity.enabled', 'identity.deleted']
    assert.deepEqual(await eventsOf(person.id), expected)
    const gone = await browser.get(pathOf(person.id))
    await assertRefusedPage(service, gone, 404, 'NOT_FOUND')
    // By the name that it had.
    assert.match(await page(`/console/audit?person=${person.name}`), /identity\.deleted/)
  })

  await t.test(
    'a second factor is reset, a password unlocked, an identity invited again',
    async () => {
      const enrolled = await enrolledPerson(service, admin)
      await act(enrolled.id, 'reset-second-factor')
      assert.ok((await eventsOf(enrolled.id)).includes('mfa.removed'))
      const policy = await admin.createPolicy({
        primary: {
          updb: { allowed: true, minPasswordLength: 8, maxAttempts: 1, lockoutDurationMinutes: 15 },
        },
      })
      const locked = await admin.createIdentity({ password: PASSWORD, policy })
      await service.call(`${CLIENT_API}/authenticate?method=password`, {
        json: { username: locked.username, password: 'wrong' },
      })
      const html = await page(pathOf(locked.id))
      assert.match(html, /Locked/)
      const credential = /name="credential" value="([^"]+)"/.exec(html)?.[1] ?? ''
      await act(locked.id, 'unlock', { credential })
      assert.ok((await eventsOf(locked.id)).includes('authenticator.unlocked'))
      // Attack: the credential of one identity in the form of another.
      const foreign = await send(pathOf(locked.id), `${pathOf(locked.id)}/re-invite`, {
        credential: 'another',
      })
      await assertRefusedPage(service, foreign, 400, 'COULD_NOT_VALIDATE')
      const invited = await send(pathOf(locked.id), `${pathOf(locked.id)}/re-invite`, {
        credential,
      })
      assert.equal(invited.status, 200, invited.text)
      assert.match(invited.text, /lke_[\w-]{43}/)
      const { status } = await service.call(`${CLIENT_API}/authenticate?method=password`, {
        json: { username: locked.username, password: PASSWORD },
      })
      assert.equal(status, 401, 'the old password is gone')
    },
  )

  await t.test(
    'a new person gets a link that works, and a reset link changes nothing by itself',
    async () => {
      const form = { method: 'updb', name: 'Newcomer <i>', username: 'newcomer', policy: 'default' }
      const reply = await send('/console/invite', '/console/invite', form)
      assert.equal(reply.status, 200, reply.text)
      const token = /\/invite#(lke_[\w-]{43})</.exec(reply.text)?.[1]
      assert.ok(token !== undefined, reply.text)
      assert.match(reply.text, /<svg[^>]* aria-label="QR code of the link"/)
      const used = await service.call(`${CLIENT_API}/enroll/updb?token=${token}`, {
        json: { username: 'newcomer', password: PASSWORD },
      })
      assert.equal(used.status, 200, used.text)
      const found = await admin.get(
        `/identities?filter=${encodeURIComponent('name = "Newcomer <i>"')}`,
      )
      const { id } = found[0]
      // Both happened in one commit, in the same millisecond.
      assert.deepEqual((await eventsOf(id)).slice(0, 2).toSorted(), [
        'enrollment.created',
        'identity.created',
      ])
      const reset = await send(pathOf(id), `${pathOf(id)}/invite`, { method: 'reset-password' })
      assert.match(reset.text, /\/invite#lke_/)
      assert.match(reset.text, />Reset link for Newcomer /)
      // D-375: a reset is not accepted there.
      assert.doesNotMatch(reset.text, /latchkey enroll/)
      await logInAs(service, { username: 'newcomer', password: PASSWORD })
    },
  )

  await t.test('a refused invitation shows the form again, as it was filled in', async () => {
    const policy = await admin.createPolicy({ name: 'for-invited' })
    const taken = await admin.createIdentity({ name: 'Taken <i>', password: PASSWORD })
    const form = {
      method: 'ott',
      name: taken.name,
      username: 'somebody',
      policy,
      isAdmin: 'yes',
    }
    const refusals = [
      [form, 409, 'ENTITY_NAME_IN_USE', /This name is already taken\./],
      // The rules for names are those of the management API.
      [{ ...form, name: 'a\u0000b' }, 400, 'COULD_NOT_VALIDATE', /The name must be one line/],
    ] as const
    for (const [fields, status, code, reason] of refusals) {
      const reply = await send('/console/invite', '/console/invite', fields)
      assert.equal(reply.status, status, reply.text)
      assert.match(reply.text, /<p class="alert"[^>]* autofocus>/)
      assert.match(reply.text, reason)
      assert.match(reply.text, /<a href="#name">.*id="name"[^>]* aria-describedby="name-fault"/s)
      assert.match(reply.text, /name="method" value="ott" checked/)
      assert.match(reply.text, /name="username"[^>]* value="somebody"/)
      assert.ok(reply.text.includes(`<option value="${policy}" selected>`), reply.text)
      assert.match(reply.text, /name="isAdmin" value="yes" checked/)
      const requestId = reply.headers['x-request-id']
      const line = await eventually(
        () => service.log.find((one) => one.requestId === requestId && one.msg === 'request'),
        'the log line of the request',
      )
      assert.equal(line.code, code)
    }
    const again = await send('/console/invite', '/console/invite', form)
    assert.match(again.text, /name="name"[^>]* value="Taken &#60;i&#62;"/)
    assert.match(again.text, /<title>Error: Invite/)
  })

  await t.test('an identity is shown with the certificates of its sessions', async () => {
    const person = await admin.createIdentity({ password: PASSWORD })
    const { access_token } = await logInAs(service, person)
    const path = `${CLIENT_API}/current-api-session/certificates`
    const issued = await service.call(path, {
      json: { csr: (await makeCsr()).pem },
      headers: { authorization: `Bearer ${access_token}` },
    })
    assert.equal(issued.status, 201, issued.text)
    const pem = issued.json().data.certificate
    const fingerprint = new X509Certificate(pem).fingerprint256.replaceAll(':', '').toLowerCase()
    const html = await page(pathOf(person.id))
    assert.match(html, /Certificates of these sessions/)
    assert.ok(html.includes(fingerprint), html)
    // The search finds its session, however the fingerprint is written.
    const found = await browser.get(`/console/search?q=${new X509Certificate(pem).fingerprint256}`)
    assert.ok(html.includes(`href="${found.headers.location}"`))
  })

  await t.test('the last administrator stays, and the page says why', async () => {
    const { id } = (await admin.get('/identities?filter=name%20%3D%20%22admin%22'))[0]
    const only = await openConsole(service)
    await only.send(pathOf(second.id), `${pathOf(second.id)}/disable`, { minutes: '0' })
    const reply = await only.send(pathOf(id), `${pathOf(id)}/delete`)
    await assertRefusedPage(service, reply, 409, 'LAST_ADMINISTRATOR')
    assert.match(reply.text, /This is the last administrator who can log in/)
    await only.send(pathOf(second.id), `${pathOf(second.id)}/enable`)
  })

  await t.test('sessions are filtered by name, and several end at once', async () => {
    const visitor = await openConsole(service)
    const person = await admin.createIdentity({ name: 'Zoe 100% real_name', password: PASSWORD })
    await logInAs(service, person)
    await logInAs(service, person)
    const html = await visitor.page(
      `/console/sessions?identity=${encodeURIComponent('100% real_')}`,
    )
    const ids = [...html.matchAll(/type="checkbox" name="session" value="([^"]+)"/g)].map(
      ([, id]) => id ?? '',
    )
    assert.equal(ids.length, 2)
    const [formToken] =
      /formToken" value="([^"]+)"/.exec(html.split('/console/sessions/end')[1] ?? '')?.slice(1) ??
      []
    const form = [['formToken', formToken ?? ''], ...ids.map((id) => ['session', id])] as [
      string,
      string,
    ][]
    const reply = await post(service, visitor.browser, '/console/sessions/end', [
      ...form,
      ['session', 'gone'],
    ])
    assert.equal(reply.status, 303, reply.text)
    assert.deepEqual(await admin.get(`/identities/${person.id}/api-sessions`), [])
    assert.match(
      await visitor.page(`/console/sessions/${ids[0]}`),
      /Ended[\s\S]*session\.ended: administrator/,
    )
    await eventually(async () => {
      const shown = await visitor.page(`/console/sessions/${ids[0]}`)
      const isPending = shown.includes('Not everyone yet')
      // The page looks again by itself for as long as somebody may still accept the session.
      assert.equal(shown.includes('hx-trigger="every 2s"'), isPending)
      return isPending || !shown.includes('Everyone has confirmed') ? undefined : true
    }, 'the confirmation of every instance')
    assert.match(await visitor.page('/console/sessions?identity=nobody'), /No session matches/)
  })

  await t.test('the search leads to a person by everything that names them', async () => {
    const visitor = await openConsole(service)
    const person = await admin.createIdentity({
      name: 'Findable One',
      username: 'findme',
      password: PASSWORD,
      externalId: 'ext-4711',
    })
    const tokens = await logInAs(service, person)
    const claims = JSON.parse(
      Buffer.from(tokens.access_token.split('.')[1] ?? '', 'base64url').toString(),
    )
    const wrong = await service.call(`${CLIENT_API}/authenticate?method=password`, {
      json: { username: 'findme', password: 'wrong' },
    })
    const requestId = String(wrong.headers['x-request-id'])
    for (const [text, location] of [
      ['indable o', pathOf(person.id)],
      ['FINDME', pathOf(person.id)],
      ['ext-4711', pathOf(person.id)],
      [person.id, pathOf(person.id)],
      [claims.z_asid, `/console/sessions/${claims.z_asid}`],
      [requestId, `/console/explain?request=${requestId}`],
    ] as const) {
      const reply = await visitor.browser.get(`/console/search?q=${encodeURIComponent(text)}`)
      assert.equal(reply.headers.location, location, text)
    }
    const none = await visitor.page(`/console/search?q=${encodeURIComponent("' or 1=1 -- %")}`)
    assert.match(none, /Nothing found/)
    const why = await visitor.page(`/console/explain?request=${requestId}`)
    assert.match(why, /Password[\s\S]*Failed[\s\S]*is the one that was set/)
    assert.match(why, /See its credentials/)
  })

  await t.test('five minutes after the sign-in nothing changes', async () => {
    const visitor = await openConsole(service)
    const person = await admin.createIdentity({ password: PASSWORD })
    service.clock.advance(minutes(6))
    for (const what of ['disable', 'delete', 'invite']) {
      const path = pathOf(person.id)
      const reply = await visitor.send(path, `${path}/${what}`, { minutes: '0', method: 'ott' })
      assert.equal(reply.status, 303)
      assert.match(
        await visitor.page(path),
        /Nothing was changed, because you signed in a while ago\. <a [^>]*>Confirm that it is you/,
      )
    }
    assert.equal((await admin.call('GET', `/identities/${person.id}`)).status, 200)
  })
})
