/**
 * Enrolling with `latchkey/client`, by every method that an invitation can have. API 3.2; D-126, D-127, D-131, D-175. Whatever is
 * refused leaves the token good, and the server's own words are not repeated.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Clock } from '../../../src/base/time/clock.ts'
import { days } from '../../../src/base/time/duration.ts'
import { plus } from '../../../src/base/time/instant.ts'
import {
  ClientError,
  connect,
  type Enrolled,
  enroll,
  type NewPasswordAsk,
  Refused,
  readInvitation,
  ServerUnavailable,
  UntrustedServer,
} from '../../../src/client/client.ts'
import { registerCa, shows } from '../../support/certificates/certificate-login.ts'
import { type Invited, inviteNew, PASSWORD } from '../../support/certificates/enrollment.ts'
import { openOpenssl } from '../../support/certificates/openssl.ts'
import { failureOf, whoIs } from '../../support/client/client-sessions.ts'
import { type MeddlingProxy, startBehindProxy } from '../../support/client/meddling-proxy.ts'
import { type Administrator, administrate } from '../../support/management.ts'
import { type Service, startService } from '../../support/service.ts'

const openssl = await openOpenssl()
after(() => openssl.close())

/** What is wrong here on purpose must not lock the tests out. */
const config = { edge: { limits: { failuresPerAddress: 0 } } }

/** The name of whoever logs in with what the enrollment has brought, and with nothing else. */
async function whoLogsIn({ clock }: Service, { url, ca, credential }: Enrolled): Promise<string> {
  return whoIs(await (await connect({ url, ca, clock })).logIn(credential))
}

const choosing = (username: string, password = PASSWORD) => ({
  newPassword: () => ({ username, password }),
})

test('an invitation to a certificate', async (t) => {
  const service = await startService(t, { config })
  const { clock } = service
  const admin = await administrate(service)

  await t.test('ends in a certificate to log in with, and in the CA of the server', async () => {
    const { identityId, name, jwt } = await inviteNew(admin, { ott: true })
    assert.deepEqual(
      { ...readInvitation(jwt), expiresAt: undefined },
      { method: 'ott', url: service.baseUrl, identityId, expiresAt: undefined },
    )
    const enrolled = await enroll(jwt, { clock })
    assert.equal(enrolled.identityId, identityId)
    assert.equal(enrolled.url, service.baseUrl)
    assert.equal(await whoLogsIn(service, enrolled), name)
  })

  await t.test('works once', async () => {
    const { jwt } = await inviteNew(admin, { ott: true })
    await enroll(jwt, { clock })
    const error = await failureOf(enroll(jwt, { clock }), Refused)
    assert.equal(error.code, 'ENROLLMENT_USED')
    assert.match(error.message, /^the enrollment was already used, and each works only once; /)
  })

  await t.test('is refused with what became of it', async () => {
    const withdrawn = await inviteNew(admin, { ott: true })
    await admin.call('DELETE', `/enrollments/${withdrawn.id}`)
    const unknown = await failureOf(enroll(withdrawn.jwt, { clock }), Refused)
    assert.equal(unknown.code, 'INVALID_ENROLLMENT_TOKEN')
    assert.match(unknown.message, /^the server knows no such enrollment: it was withdrawn/)

    const disabled = await inviteNew(admin, { ott: true })
    await admin.call('POST', `/identities/${disabled.identityId}/disable`, { durationMinutes: 0 })
    const forbidden = await failureOf(enroll(disabled.jwt, { clock }), Refused)
    assert.equal(forbidden.code, 'FORBIDDEN')
    assert.match(forbidden.message, /^the identity is disabled; /)
    await admin.call('POST', `/identities/${disabled.identityId}/enable`, {})
    await enroll(disabled.jwt, { clock })
  })

  await t.test('trusts the CA that it is given, and then no other', async () => {
    const { jwt } = await inviteNew(admin, { ott: true })
    const { ca: other } = (await startBehindProxy(t)).proxy
    await failureOf(enroll(jwt, { ca: other, clock }), UntrustedServer)
    const enrolled = await enroll(jwt, { ca: service.ca, clock })
    assert.equal(enrolled.method, 'ott')
  })

  await t.test('says by itself that it has expired', async () => {
    const { jwt } = await inviteNew(admin, { ott: true })
    const later: Clock = {
      now: () => plus(clock.now(), days(400)),
      uptime: () => clock.uptime(),
    }
    await assert.rejects(enroll(jwt, { clock: later }), { code: 'ENROLLMENT_EXPIRED' })
  })

  await t.test('that is not valid is a TypeError', async () => {
    const { jwt } = await inviteNew(admin, { ott: true })
    const claims = (changes: object) => {
      const [head, body = '', signature] = jwt.split('.')
      const changed = { ...JSON.parse(String(Buffer.from(body, 'base64url'))), ...changes }
      return [head, Buffer.from(JSON.stringify(changed)).toString('base64url'), signature].join('.')
    }
    const others = [{ em: 'retina' }, { jti: undefined }, { exp: undefined }, { iss: 'ftp://x' }]
    for (const text of ['', 'a.b.c', 'no jwt', ...others.map(claims)]) {
      await assert.rejects(enroll(text, { clock }), TypeError, text)
      assert.throws(() => readInvitation(text), TypeError, text)
    }
  })
})

test('an invitation to a password', async (t) => {
  const service = await startService(t, { config })
  const { clock } = service
  const admin = await administrate(service)

  await t.test('ends in a password, with the username as the server has it', async () => {
    const { identityId, name, jwt } = await inviteNew(admin, { updb: 'Ada' })
    const enrolled = await enroll(jwt, { clock, ...choosing('ADA') })
    assert.equal(enrolled.method, 'updb')
    assert.equal(enrolled.identityId, identityId)
    assert.deepEqual(enrolled.credential, {
      method: 'password',
      username: 'Ada',
      password: PASSWORD,
    })
    assert.equal(await whoLogsIn(service, enrolled), name)
    const again = await failureOf(enroll(jwt, { clock, ...choosing('Ada') }), Refused)
    assert.equal(again.code, 'ENROLLMENT_USED')
  })

  await t.test('asks again after a refusal, which says what was wrong', async () => {
    const { jwt } = await inviteNew(admin, { updb: 'bob' })
    const asked: unknown[] = []
    const answers = [
      { username: 'bert', password: PASSWORD },
      { username: 'bob', password: 'short' },
      { username: 'bob', password: PASSWORD },
    ]
    const newPassword = ({ attempt, refused, wrong }: NewPasswordAsk) => {
      asked.push([wrong, refused?.message])
      return answers[attempt - 1] as (typeof answers)[number]
    }
    await enroll(jwt, { clock, newPassword })
    assert.deepEqual(asked, [
      [undefined, undefined],
      ['username', 'this is not the username of the enrollment (COULD_NOT_VALIDATE)'],
      ['password', 'the new password must have at least 8 characters (COULD_NOT_VALIDATE)'],
    ])
  })

  await t.test('asks three times and no more, and the token stays good', async () => {
    const { jwt } = await inviteNew(admin, { updb: 'carol' })
    let asked = 0
    const newPassword = () => {
      asked += 1
      return { username: 'carol', password: 'password123' }
    }
    const error = await failureOf(enroll(jwt, { clock, newPassword }), Refused)
    assert.equal(error.code, 'COULD_NOT_VALIDATE')
    assert.match(error.message, /^the new password is one of the most common passwords /)
    assert.equal(asked, 3)
    await enroll(jwt, { clock, ...choosing('carol') })
  })

  await t.test('ends with what the program throws when it is asked', async () => {
    const { jwt } = await inviteNew(admin, { updb: 'dora' })
    const given = new Error('given up')
    const newPassword = () => Promise.reject(given)
    await assert.rejects(enroll(jwt, { clock, newPassword }), given)
    await assert.rejects(enroll(jwt, { clock }), TypeError)
    await enroll(jwt, { clock, ...choosing('dora') })
  })
})

test('an invitation to a certificate of a CA', async (t) => {
  const service = await startService(t, { config })
  const { clock } = service
  const admin = await administrate(service)
  const ca = await openssl.makeCa({ subject: '/CN=Factory' })
  const caId = await registerCa(admin, openssl, ca, {
    isOttCaEnrollmentEnabled: true,
    isAutoCaEnrollmentEnabled: true,
  })

  await t.test('makes it the one of the identity that was invited', async () => {
    const { identityId, name, jwt } = await inviteNew(admin, { ottca: caId })
    await assert.rejects(enroll(jwt, { clock }), TypeError)
    const certificate = shows(await openssl.makeLeaf(ca))
    const enrolled = await enroll(jwt, { clock, certificate })
    assert.equal(enrolled.method, 'ottca')
    assert.equal(enrolled.identityId, identityId)
    assert.equal(await whoLogsIn(service, enrolled), name)
  })

  await t.test(
    'rejects one of another CA and one of another identity, and the enrollment still works',
    async () => {
      const { jwt } = await inviteNew(admin, { ottca: caId })
      const stranger = shows(await openssl.makeLeaf(await openssl.makeCa({ subject: '/CN=Else' })))
      const foreign = await failureOf(enroll(jwt, { clock, certificate: stranger }), Refused)
      assert.equal(foreign.code, 'CERT_FAILED_VALIDATION')
      assert.match(
        foreign.message,
        /^the server does not accept this certificate: it is of another CA/,
      )

      const certificate = shows(await openssl.makeLeaf(ca))
      const first = await inviteNew(admin, { ottca: caId })
      await enroll(first.jwt, { clock, certificate })
      const taken = await failureOf(enroll(jwt, { clock, certificate }), Refused)
      assert.deepEqual([taken.code, taken.status], ['CERT_IN_USE', 409])
      await enroll(jwt, { clock, certificate: shows(await openssl.makeLeaf(ca)) })
    },
  )

  await t.test('is not sent with a key that is not that of the certificate', async () => {
    const { jwt } = await inviteNew(admin, { ottca: caId })
    const [one, other] = [await openssl.makeLeaf(ca), await openssl.makeLeaf(ca)]
    const certificate = { cert: one.pem, key: other.keyPem }
    await assert.rejects(enroll(jwt, { clock, certificate }), TypeError)
  })

  await t.test('for any holder of a certificate, creates an identity', async () => {
    const jwt = (await admin.call('GET', `/cas/${caId}/jwt`)).text
    assert.deepEqual(readInvitation(jwt), {
      method: 'ca',
      url: service.baseUrl,
      identityId: undefined,
      expiresAt: undefined,
    })
    const certificate = shows(await openssl.makeLeaf(ca, { subject: '/CN=lathe-3' }))
    const enrolled = await enroll(jwt, { clock, certificate })
    assert.equal(enrolled.method, 'ca')
    const { name } = await admin.get(`/identities/${enrolled.identityId}`)
    assert.match(name, /lathe-3/)
    assert.equal(await whoLogsIn(service, enrolled), name)
  })
})

test('an enrollment with an attacker in between', async (t) => {
  const { service, proxy } = await startBehindProxy(t, { config })
  const { clock } = service
  const admin = await administrate(service)

  await t.test('sends its token only to the server that signed it', async () => {
    // Attack: somebody answers in the place of the server, with a certificate of his own.
    for (const invited of await invitations(admin)) {
      const before = proxy.seen.length
      const error = await failureOf(enroll(invited.jwt, { clock, ...choosing('x') }), ClientError)
      assert.equal(error.code, 'NOT_CONFIRMED')
      assert.equal(proxy.seen.length, before)
    }
  })

  await t.test('D-175: trusts what vouches for the server, where its own CAs do not', async () => {
    for (const { jwt, username } of await invitations(admin)) {
      const enrolled = await enroll(jwt, { clock, ca: proxy.ca, ...choosing(username) })
      await connect({ url: enrolled.url, ca: enrolled.ca, clock })
      assert.ok(enrolled.ca.includes(service.ca.slice(0, 200)), 'and the CAs of the server')
    }
  })

  await t.test('says that it may have happened when the answer is lost', async () => {
    const [, invited] = await invitations(admin)
    assert.ok(invited)
    const options = { clock, ca: proxy.ca, ...choosing(invited.username) }
    proxy.meddle(({ method }) => (method === 'POST' ? { cut: 'after' } : undefined))
    const lost = await failureOf(enroll(invited.jwt, options), ServerUnavailable)
    assert.equal(lost.mayHaveHappened, true)
    proxy.meddle(undefined)
    const again = await failureOf(enroll(invited.jwt, options), Refused)
    assert.equal(again.code, 'ENROLLMENT_USED')
  })

  await t.test('R108: repeats nothing of what was sent, whoever sends it back', async () => {
    // Attack: a server, or a proxy, echoes the password as the reason, and the program writes it into its log.
    const [, invited] = await invitations(admin)
    assert.ok(invited)
    const cause = { field: 'password', reason: PASSWORD }
    const body = JSON.stringify({ error: { code: 'COULD_NOT_VALIDATE', message: PASSWORD, cause } })
    echo(proxy, body)
    const options = { clock, ca: proxy.ca, ...choosing(invited.username) }
    const error = await failureOf(enroll(invited.jwt, options), Refused)
    assert.equal(error.message, 'the server does not accept this password (COULD_NOT_VALIDATE)')
    assert.equal(JSON.stringify({ ...error, stack: error.stack }).includes(PASSWORD), false)
    proxy.meddle(undefined)
  })
})

function echo(proxy: MeddlingProxy, body: string): void {
  const instead = { status: 400, headers: { 'content-type': 'application/json' }, body }
  proxy.meddle(({ method }) => (method === 'POST' ? { instead } : undefined))
}

let people = 0

/** One to a certificate and one to a password. */
async function invitations(
  admin: Administrator,
): Promise<readonly (Invited & { readonly username: string })[]> {
  people += 1
  const username = `person-${people}`
  return [
    { ...(await inviteNew(admin, { ott: true })), username },
    { ...(await inviteNew(admin, { updb: username })), username },
  ]
}
