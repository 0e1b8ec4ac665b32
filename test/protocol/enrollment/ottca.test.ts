/**
 * Enrolling by token with a certificate of a third-party CA: POST /enroll/ottca. API 3.2, 4.6; D-131; R093, R095.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { days } from '../../../src/base/time/duration.ts'
import { eventsOf } from '../../support/audit.ts'
import { presenting, registerCa } from '../../support/certificates/certificate-login.ts'
import { LEAF_EXTENSIONS, openOpenssl } from '../../support/certificates/openssl.ts'
import { ownIssuingCa } from '../../support/certificates/own-pki.ts'
import { CLIENT, whoLogsIn } from '../../support/certificates/renewal.ts'
import type { Reply } from '../../support/http-client.ts'
import { type Administrator, administrate, assertRefused } from '../../support/management.ts'
import { startService } from '../../support/service.ts'
import { sql } from '../../support/stores/sql.ts'

const openssl = await openOpenssl()
after(() => openssl.close())
const { makeCa, makeLeaf } = openssl

const OTTCA = { isOttCaEnrollmentEnabled: true }

/** An identity that waits for a certificate of this CA. */
async function invited(admin: Administrator, caId: string) {
  const { id } = await admin.createIdentity()
  const reply = await admin.call('POST', '/enrollments', {
    method: 'ottca',
    identityId: id,
    caId,
  })
  assert.equal(reply.status, 201, reply.text)
  const { token } = reply.json().data
  return { id, token: String(token), enrollmentId: String(reply.json().data.id) }
}

async function reasonOf(service: Parameters<typeof eventsOf>[0], reply: Reply) {
  const [event, ...more] = await eventsOf(service, reply)
  assert.deepEqual(more, [])
  assert.equal(event?.type, 'enrollment.refused')
  return event.reason
}

test('a certificate of the CA becomes the credential of the identity that was invited', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const ca = await makeCa()
  const middle = await makeCa({ subject: '/CN=Middle', issuer: ca })
  const caId = await registerCa(admin, openssl, ca, OTTCA)
  const url = `${CLIENT}/enroll/ottca`

  const ways: Readonly<Record<string, (token: string) => [string, object]>> = {
    'the token in the query': (token) => [`${url}?token=${token}`, { method: 'POST' }],
    'the token in JSON': (token) => [url, { json: { token } }],
    'the token in a form': (token) => [url, { form: [['token', token]] }],
    'the general address': (token) => [
      `${CLIENT}/enroll?method=ottca&token=${token}`,
      { method: 'POST' },
    ],
  }
  for (const [what, wayOf] of Object.entries(ways)) {
    await t.test(what, async () => {
      const { id, token } = await invited(admin, caId)
      const leaf = await makeLeaf(ca)
      const [path, options] = wayOf(token)
      const reply = await presenting(service, leaf).call(path, options)
      assert.equal(reply.status, 200, reply.text)
      assert.deepEqual(reply.json(), { data: {}, meta: {} })
      const events = await eventsOf(service, reply)
      assert.deepEqual(
        events.map(({ type, identityId }) => [type, identityId]),
        [
          ['enrollment.used', id],
          ['authenticator.created', id],
        ],
      )
      assert.equal(await whoLogsIn(service, leaf), id)
    })
  }

  await t.test('one below an intermediate that the client sends', async () => {
    const { id, token } = await invited(admin, caId)
    const leaf = await makeLeaf(middle)
    const shown = presenting(service, leaf, middle)
    const reply = await shown.call(url, { json: { token } })
    assert.equal(reply.status, 200, reply.text)
    const { data } = (await admin.call('GET', `/identities/${id}/authenticators`)).json()
    assert.equal(data[0].fingerprint, leaf.fingerprint)
    assert.equal(data[0].isIssuedByNetwork, false)
  })
})

test('R095: a certificate that may not enroll is refused, and the token stays good', async (t) => {
  const service = await startService(t, { config: { edge: { limits: { failuresPerAddress: 0 } } } })
  const admin = await administrate(service)
  const ca = await makeCa({ subject: '/CN=The right CA' })
  const other = await makeCa({ subject: '/CN=Another CA' })
  const caId = await registerCa(admin, openssl, ca, OTTCA)
  await registerCa(admin, openssl, other, OTTCA)
  const { id, token } = await invited(admin, caId)
  const url = `${CLIENT}/enroll/ottca`
  const usage = (line: string) => [
    ...LEAF_EXTENSIONS.filter((one) => !one.startsWith('extendedKeyUsage')),
    line,
  ]
  const notCa = await makeLeaf(ca)

  const cases: Readonly<
    Record<string, readonly [string, () => Promise<Parameters<typeof presenting>[1]>]>
  > = {
    'of a CA that nobody knows': ['certificate-untrusted', async () => makeLeaf(await makeCa())],
    'of another CA that may enroll': ['certificate-untrusted', () => makeLeaf(other)],
    'of our own PKI': ['certificate-untrusted', async () => makeLeaf(await ownIssuingCa(service))],
    'that has expired': [
      'certificate-expired',
      () => makeLeaf(ca, { notBefore: days(-10), notAfter: days(-1) }),
    ],
    'of tomorrow': [
      'certificate-not-yet-valid',
      () => makeLeaf(ca, { notBefore: days(1), notAfter: days(1.5) }),
    ],
    'for servers': [
      'certificate-wrong-usage',
      () => makeLeaf(ca, { extensions: usage('extendedKeyUsage=serverAuth') }),
    ],
    'that is the CA itself': ['certificate-is-ca', async () => ca],
    // Attack: whoever has any certificate of the CA signs others with its key.
    'that somebody signed with his own': ['certificate-untrusted', () => makeLeaf(notCa)],
  }
  for (const [what, [reason, make]] of Object.entries(cases)) {
    await t.test(`one ${what}`, async () => {
      const reply = await presenting(service, await make(), notCa).call(url, { json: { token } })
      assertRefused(reply, 400, 'CERT_FAILED_VALIDATION')
      assert.equal(await reasonOf(service, reply), reason)
    })
  }

  await t.test('none at all is named', async () => {
    const reply = await service.call(url, { json: { token } })
    assertRefused(reply, 400, 'CERT_FAILED_VALIDATION', 'certificate')
    assert.equal(await reasonOf(service, reply), 'no-certificate')
  })

  await t.test(
    'R093: the certificate of another identity in the chain proves nothing',
    async () => {
      const mine = await makeLeaf(await makeCa())
      const reply = await presenting(service, mine, await makeLeaf(ca)).call(url, {
        json: { token },
      })
      assertRefused(reply, 400, 'CERT_FAILED_VALIDATION')
    },
  )

  await t.test('a token that is malformed, of another identity or of another method', async () => {
    const shown = presenting(service, await makeLeaf(ca))
    for (const bad of ['nonsense', `${token}x`]) {
      assertRefused(
        await shown.call(url, { json: { token: bad } }),
        400,
        'INVALID_ENROLLMENT_TOKEN',
      )
    }
    assertRefused(await shown.call(url, { json: {} }), 400, 'COULD_NOT_VALIDATE', 'token')
    const two = await shown.call(`${url}?token=${token}`, { json: { token: 'other' } })
    assertRefused(two, 400, 'COULD_NOT_VALIDATE', 'token')
    const ott = await admin.createIdentity()
    const made = await admin.call('POST', '/enrollments', { method: 'ott', identityId: ott.id })
    const reply = await shown.call(url, { json: { token: made.json().data.token } })
    assertRefused(reply, 400, 'INVALID_ENROLLMENT_TOKEN')
  })

  await t.test('none of this spent the token, and no certificate enrolls twice', async () => {
    const leaf = await makeLeaf(ca)
    const shown = presenting(service, leaf)
    const replies = await Promise.all(
      Array.from({ length: 6 }, () => shown.call(url, { json: { token } })),
    )
    const codes = replies.map((one) => (one.status === 200 ? 'done' : one.json().error.code))
    assert.deepEqual(codes.toSorted(), [...Array(5).fill('ENROLLMENT_USED'), 'done'])
    assert.equal(await whoLogsIn(service, leaf), id)
    const next = await invited(admin, caId)
    const again = await shown.call(url, { json: { token: next.token } })
    assertRefused(again, 409, 'CERT_IN_USE')
    const fresh = presenting(service, await makeLeaf(ca))
    assert.equal((await fresh.call(url, { json: { token: next.token } })).status, 200)
  })

  await t.test('a token that has expired', async () => {
    const late = await invited(admin, caId)
    service.clock.advance(days(1.5))
    const leaf = await makeLeaf(ca, { notAfter: days(9) })
    const reply = await presenting(service, leaf).call(url, { json: { token: late.token } })
    assertRefused(reply, 400, 'ENROLLMENT_EXPIRED')
  })
})

test('D-487: a CA that was switched off a moment ago, at another instance, enrolls nothing', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const ca = await makeCa()
  const caId = await registerCa(admin, openssl, ca, { ...OTTCA, isAutoCaEnrollmentEnabled: true })
  const { token } = await invited(admin, caId)
  const leaf = await makeLeaf(ca)
  // The version of the rules stays, so this instance does not know yet.
  const [before] = await sql(service, `select body from cas where id = '${caId}'`)
  const body = String(before?.['body'])
  const off = body.replace(/("is(Ott|Auto)CaEnrollmentEnabled":)true/g, '$1false')
  assert.notEqual(off, body)
  await sql(service, `update cas set body = '${off}' where id = '${caId}'`)
  const shown = presenting(service, leaf)
  const byToken = await shown.call(`${CLIENT}/enroll/ottca`, { json: { token } })
  assertRefused(byToken, 400, 'CERT_FAILED_VALIDATION')
  const alone = await shown.call(`${CLIENT}/enroll/ca`, { method: 'POST' })
  assertRefused(alone, 400, 'CERT_FAILED_VALIDATION')
  for (const reply of [byToken, alone]) {
    assert.equal(await reasonOf(service, reply), 'ca-disabled')
  }

  await sql(service, `update cas set body = '${body}' where id = '${caId}'`)
  const again = await shown.call(`${CLIENT}/enroll/ottca`, { json: { token } })
  assert.equal(again.status, 200, 'the token was not spent')
})

test('the purposes of the CA are checked at enrollment, not at the invitation', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const root = await makeCa({ subject: '/CN=Root' })
  const below = await makeCa({ subject: '/CN=Below', issuer: root })
  const rootId = await registerCa(admin, openssl, root, OTTCA)
  // D-111: a CA that was registered and not enabled stops every way through it, also to one above it.
  const belowId = await registerCa(admin, openssl, below, { isAuthEnabled: true })
  const { id, token } = await invited(admin, rootId)
  const leaf = await makeLeaf(below)
  const shown = presenting(service, leaf, below)
  const url = `${CLIENT}/enroll/ottca`
  const stopped = await shown.call(url, { json: { token } })
  assertRefused(stopped, 400, 'CERT_FAILED_VALIDATION')
  assert.equal(await reasonOf(service, stopped), 'ca-disabled')
  await admin.act('DELETE', `/cas/${belowId}`)
  const reply = await shown.call(url, { json: { token } })
  assert.equal(reply.status, 200, reply.text)
  assert.equal(await whoLogsInBelow(), id)

  const gone = await invited(admin, rootId)
  await admin.act('DELETE', `/cas/${rootId}`)
  const late = presenting(service, await makeLeaf(root))
  const refused = await late.call(url, { json: { token: gone.token } })
  assert.ok(
    ['CERT_FAILED_VALIDATION', 'INVALID_ENROLLMENT_TOKEN'].includes(refused.json().error.code),
  )
  assert.equal(refused.status, 400)

  async function whoLogsInBelow() {
    const { data } = (await admin.call('GET', `/identities/${id}/authenticators`)).json()
    return data[0].identityId
  }
})

test('D-22: certificates cannot be guessed, so their refusals count against no address; tokens do', async (t) => {
  const config = { edge: { limits: { failuresPerAddress: 3 } } }
  const service = await startService(t, { config })
  const stranger = presenting(service, await makeLeaf(await makeCa()))
  const enroll = (path: string) => stranger.call(`${CLIENT}${path}`, { method: 'POST' })
  for (let i = 0; i < 5; i++) {
    assertRefused(await enroll('/enroll/ca'), 400, 'CERT_FAILED_VALIDATION')
  }
  for (let i = 0; i < 3; i++) {
    assertRefused(await enroll('/enroll/ottca?token=x'), 400, 'INVALID_ENROLLMENT_TOKEN')
  }
  const limited = await enroll('/enroll/ottca?token=x')
  assertRefused(limited, 429, 'RATE_LIMITED')
  assert.ok(Number(limited.headers['retry-after']) > 0)
  for (const path of ['/enroll/ca', '/enroll?method=ca']) {
    assertRefused(await enroll(path), 400, 'CERT_FAILED_VALIDATION')
  }
})
