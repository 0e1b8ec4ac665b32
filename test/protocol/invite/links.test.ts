/** Invitations by link: each method, and links that do not work (any more). D-376, D-377. */
import assert from 'node:assert/strict'
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { test } from 'node:test'
import { days } from '../../../src/base/time/duration.ts'
import { eventsOf } from '../../support/audit.ts'
import { makeCsr } from '../../support/certificates/csr.ts'
import { inviteNew as invite, PASSWORD } from '../../support/certificates/enrollment.ts'
import type { Reply } from '../../support/http-client.ts'
import { assertRefusedPage, headingOf, SESSION_COOKIE } from '../../support/login/account.ts'
import { authenticatorApp } from '../../support/login/authenticator-app.ts'
import { invitedVisitor, tokenOf } from '../../support/login/invite.ts'
import { administrate, assertRefused, logInAs } from '../../support/management.ts'
import { startService } from '../../support/service.ts'

const CHOSEN = { password: PASSWORD, repeated: PASSWORD }

type Fields = Readonly<Record<string, unknown>>

test('an invitation by link', async (t) => {
  const service = await startService(t, { config: { edge: { limits: { failuresPerAddress: 0 } } } })
  const admin = await administrate(service)
  const inviteNew = async (enrollment: Fields, changes: Fields = {}) =>
    (await invite(admin, enrollment, changes)) as Awaited<ReturnType<typeof invite>> & {
      readonly link: string
    }
  const open = (link: string) => invitedVisitor(service, link).send('/invite')

  await t.test('is the address of the page with the token in its fragment', async () => {
    const { link, token } = await inviteNew({ updb: 'fragment' })
    assert.equal(link, `${service.baseUrl}/invite#${token}`)
    const page = await invitedVisitor(service, link).browser.get('/invite')
    assert.equal(page.status, 200, page.text)
    assert.equal(headingOf(page.text), 'Open your link')
    assert.match(String(page.headers['content-security-policy']), /script-src 'sha256-[^']+';/)
    assert.equal(page.headers['cache-control'], 'no-store')
  })

  await t.test('opening it spends nothing, and the whole link may be pasted', async () => {
    const { link, name } = await inviteNew({ updb: 'previewed' })
    for (let i = 0; i < 3; i += 1) {
      const reply = await open(link)
      assert.equal(reply.status, 200, reply.text)
      assert.equal(headingOf(reply.text), 'Choose your password')
      assert.ok(reply.text.includes(name))
      assert.deepEqual(await eventsOf(service, reply), [])
    }
    const pasted = await invitedVisitor(service, link).send('/invite', { token: `  ${link}\n` })
    assert.equal(headingOf(pasted.text), 'Choose your password')
  })

  await t.test('to a password ends signed in at /account', async () => {
    const { link, identityId } = await inviteNew({ updb: 'ada' })
    const { browser, send } = invitedVisitor(service, link)
    const saved = await send('/invite/password', CHOSEN)
    assert.equal(saved.status, 302, saved.text)
    const location = new URL(saved.headers.location ?? '')
    assert.equal(location.pathname, '/account/callback')
    const back = await browser.get(`${location.pathname}${location.search}`)
    assert.equal(back.headers.location, '/account')
    assert.ok(browser.cookies.has(SESSION_COOKIE))
    assert.equal((await browser.get('/account')).status, 200)
    await logInAs(service, { username: 'ada', password: PASSWORD })
    const events = await eventsOf(service, saved)
    assert.deepEqual(
      events
        .filter(({ type }) => !type.startsWith('login'))
        .map(({ type }) => type)
        .toSorted(),
      ['authenticator.created', 'enrollment.used'],
    )
    assert.ok(events.every((event) => event.identityId === identityId))
  })

  await t.test(
    'sets up the second factor that the policy demands, before the session',
    async () => {
      const authPolicyId = await admin.createPolicy({ secondary: { requireTotp: true } })
      const { link } = await inviteNew({ updb: 'with-app' }, { authPolicyId })
      const { browser, send } = invitedVisitor(service, link)
      const saved = await send('/invite/password', CHOSEN)
      assert.equal(saved.status, 200, saved.text)
      assert.equal(headingOf(saved.text), 'One more step')
      assert.ok(!browser.cookies.has(SESSION_COOKIE))
      const authRequestId = /name="authRequestId" value="([^"]+)"/.exec(saved.text)?.[1] ?? ''
      const started = await browser.post('/oidc/login/totp/enroll', { authRequestId })
      assert.equal(started.status, 201, started.text)
      const url = /href="(otpauth:[^"]+)"/.exec(started.text)?.[1]?.replaceAll('&#38;', '&') ?? ''
      const app = authenticatorApp(url, service.clock)
      const done = await browser.post('/oidc/login/totp/enroll/verify', {
        authRequestId,
        code: app.nextCode(),
      })
      assert.equal(done.status, 302, done.text)
      const { pathname, search } = new URL(done.headers.location ?? '')
      assert.equal((await browser.get(`${pathname}${search}`)).headers.location, '/account')
      assert.equal((await browser.get('/account')).status, 200)
    },
  )

  await t.test(
    'shows the form again for a password that is not allowed, and keeps the link',
    async () => {
      const { link } = await inviteNew({ updb: 'careful' })
      const { send } = invitedVisitor(service, link)
      const wrong = [
        [{ password: '', repeated: '' }, 'Fill in both fields.'],
        [{ password: PASSWORD, repeated: 'another' }, 'The new passwords do not match.'],
        [
          { password: 'short', repeated: 'short' },
          'The new password must have at least 8 characters.',
        ],
        [{ password: 'password1', repeated: 'password1' }, 'is one of the most common passwords.'],
      ] as const
      for (const [fields, sentence] of wrong) {
        const reply = await send('/invite/password', fields)
        assert.equal(reply.status, 400, reply.text)
        assert.ok(reply.text.includes(sentence), reply.text)
        assert.ok(!reply.text.includes('value="short"'), 'the password is not sent back')
      }
      assert.equal((await send('/invite/password', CHOSEN)).status, 302)
    },
  )

  await t.test(
    'to a certificate gets what an identity file needs, for the key of the browser',
    async () => {
      const { link, token, identityId } = await inviteNew({ ott: true })
      const page = await open(link)
      assert.equal(headingOf(page.text), 'Get your identity file')
      assert.match(String(page.headers['content-security-policy']), /connect-src 'self'/)
      const { pem, keyPem } = await makeCsr()
      const made = await service.call('/invite/certificate', { json: { token, clientCsr: pem } })
      assert.equal(made.status, 200, made.text)
      const { data } = made.json()
      assert.deepEqual(Object.keys(data).toSorted(), ['ca', 'cert', 'id', 'url'])
      assert.deepEqual([data.id, data.url], [identityId, service.baseUrl])
      assert.ok(new X509Certificate(data.cert).checkPrivateKey(createPrivateKey(keyPem)))
      const again = await service.call('/invite/certificate', { json: { token, clientCsr: pem } })
      assertRefused(again, 400, 'ENROLLMENT_USED')
    },
  )

  await t.test('to any first credential has the JWT for programs, as a file', async () => {
    for (const enrollment of [{ updb: 'by-program' }, { ott: true }]) {
      const { link, jwt } = await inviteNew(enrollment)
      const file = await invitedVisitor(service, link).send('/invite/invitation.jwt')
      assert.equal(file.status, 200, file.text)
      assert.match(
        file.headers['content-disposition'] ?? '',
        /attachment; filename="invitation.jwt"/,
      )
      const claims = (text: string) =>
        JSON.parse(Buffer.from(text.split('.')[1] ?? '', 'base64url').toString())
      assert.deepEqual(claims(file.text.trim()), claims(jwt))
    }
  })

  await t.test(
    'says what is wrong with a link that does not work, and names a way on',
    async () => {
      const { link: used } = await inviteNew({ updb: 'used' })
      assert.equal(
        (await invitedVisitor(service, used).send('/invite/password', CHOSEN)).status,
        302,
      )
      const { link: withdrawn, id } = await inviteNew({ updb: 'withdrawn' })
      await admin.act('DELETE', `/enrollments/${id}`)
      const { link: disabled, identityId } = await inviteNew({ updb: 'disabled' })
      await admin.act('POST', `/identities/${identityId}/disable`, { durationMinutes: 0 })
      const cases = [
        [used, 400, 'ENROLLMENT_USED', 'This link was already used'],
        [withdrawn, 400, 'INVALID_ENROLLMENT_TOKEN', 'This link is not valid'],
        [
          `${service.baseUrl}/invite#nonsense`,
          400,
          'INVALID_ENROLLMENT_TOKEN',
          'This link is not valid',
        ],
        [disabled, 403, 'FORBIDDEN', 'This account is disabled'],
      ] as const
      for (const [link, status, code, title] of cases) {
        for (const path of ['/invite', '/invite/password', '/invite/invitation.jwt']) {
          const reply = await invitedVisitor(service, link).send(path, CHOSEN)
          await assertRefusedPage(service, reply, status, code)
          assert.equal(headingOf(reply.text), title)
          assert.match(reply.text, /administrator/)
          assert.ok(reply.text.includes('href="/account"'))
          // One that was copied in part can be pasted again.
          const isUnknown = code === 'INVALID_ENROLLMENT_TOKEN'
          assert.equal(reply.text.includes('href="/invite"'), isUnknown, title)
        }
      }
    },
  )

  await t.test('has no power over what another method is for', async () => {
    const { link: toCertificate } = await inviteNew({ ott: true })
    const { link: toPassword, token } = await inviteNew({ updb: 'methods' })
    const other = await invitedVisitor(service, toCertificate).send('/invite/password', CHOSEN)
    await assertRefusedPage(service, other, 400, 'INVALID_ENROLLMENT_TOKEN')
    const mfa = await invitedVisitor(service, toPassword).send('/invite/mfa', CHOSEN)
    await assertRefusedPage(service, mfa, 400, 'INVALID_ENROLLMENT_TOKEN')
    const { pem: clientCsr } = await makeCsr()
    const reply = await service.call('/invite/certificate', { json: { token, clientCsr } })
    assertRefused(reply, 400, 'INVALID_ENROLLMENT_TOKEN')
    assert.equal((await open(toCertificate)).status, 200)
    assert.equal((await open(toPassword)).status, 200)
  })

  await t.test('of several that use it at the same moment, one chooses the password', async () => {
    const { link } = await inviteNew({ updb: 'parallel' })
    const replies = await Promise.all(
      [1, 2, 3, 4].map((n) => {
        const password = `${PASSWORD} ${n}`
        return invitedVisitor(service, link).send('/invite/password', {
          password,
          repeated: password,
        })
      }),
    )
    const winner = replies.findIndex(({ status }) => status === 302)
    const lost = replies.filter((_, i) => i !== winner)
    assert.ok(winner >= 0)
    for (const reply of lost) await assertRefusedPage(service, reply, 400, 'ENROLLMENT_USED')
    await logInAs(service, { username: 'parallel', password: `${PASSWORD} ${winner + 1}` })
  })

  await t.test(
    'D-162: a form of another site is refused before its token is looked at',
    async () => {
      // Attack: a site signs its visitor in to the attacker's account, and waits for what is entered there.
      const { token } = await inviteNew({ updb: 'lured' })
      const foreign = [
        { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' },
        { origin: 'https://evil.example' },
        { 'sec-fetch-site': 'same-site' },
      ]
      for (const headers of foreign) {
        const form = Object.entries({ token, ...CHOSEN })
        const reply = await service.call('/invite/password', {
          form,
          headers: { accept: 'text/html', ...headers },
        })
        await assertRefusedPage(service, reply, 403, 'FORBIDDEN')
      }
      assert.equal((await logs(service, token)).length, 0)
    },
  )

  await t.test('R108: the token is in no line of the log and in no event', async () => {
    const { link } = await inviteNew({ updb: 'logged' })
    const token = tokenOf(link)
    const replies: Reply[] = [await open(link)]
    const { send } = invitedVisitor(service, link)
    replies.push(await send('/invite/invitation.jwt'), await send('/invite/password', CHOSEN))
    replies.push(await open(link))
    assert.deepEqual(await logs(service, token), [])
    for (const reply of replies) {
      assert.ok(!JSON.stringify(await eventsOf(service, reply)).includes(token))
    }
  })

  await t.test('has expired after its time', async () => {
    const { link } = await inviteNew({ updb: 'late' })
    service.clock.advance(days(2))
    const reply = await open(link)
    await assertRefusedPage(service, reply, 400, 'ENROLLMENT_EXPIRED')
    assert.equal(headingOf(reply.text), 'This link has expired')
  })
})

async function logs(
  service: { readonly log: readonly unknown[] },
  token: string,
): Promise<readonly unknown[]> {
  return service.log.filter((line) => JSON.stringify(line).includes(token.slice(4)))
}
