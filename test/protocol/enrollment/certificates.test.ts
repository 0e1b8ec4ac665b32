/**
 * A token exchanged for a certificate of our own PKI, and what that certificate opens. API 3.2; D-40, D-42, D-127.
 */
import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { test } from 'node:test'
import { hours } from '../../../src/base/time/duration.ts'
import { EnrolledCertificateReply } from '../../../src/contract/enroll.ts'
import { eventsOf } from '../../support/audit.ts'
import { logInByCertificate, presenting } from '../../support/certificates/certificate-login.ts'
import { handMadeCsr, makeCsr, runOpenssl } from '../../support/certificates/csr.ts'
import {
  CLIENT,
  enrollByCsr,
  enrolledCertificate,
  type Invited,
  inviteNew,
} from '../../support/certificates/enrollment.ts'
import { pass, startRealEdge } from '../../support/edge/real-edge.ts'
import { eventually } from '../../support/eventually.ts'
import { administrate, assertRefused } from '../../support/management.ts'
import { startService } from '../../support/service.ts'

test('a token is exchanged for a certificate', async (t) => {
  const service = await startService(t, { config: { trustDomain: 'example.org' } })
  const admin = await administrate(service)
  const csr = await makeCsr({ subject: '/CN=laptop/O=Example' })
  const authenticatorsOf = async ({ identityId }: Invited) =>
    (await admin.get(`/identities/${identityId}/authenticators`)).map(
      ({ method }: { method: string }) => method,
    )

  await t.test('API 3.2: the answer has the certificate with its chain, and our CAs', async () => {
    const invited = await inviteNew(admin, { ott: true })
    const before = service.clock.now()
    const reply = await enrollByCsr(service, invited.token, csr.pem)
    assert.equal(reply.status, 200, reply.text)
    const body = reply.json()
    assert.deepEqual(EnrolledCertificateReply.parse(body), body)
    assert.equal(reply.headers['cache-control'], 'no-store')

    const leaf = new X509Certificate(body.data.cert)
    assert.equal(leaf.subjectAltName, `URI:spiffe://example.org/identity/${invited.identityId}`)
    assert.equal(leaf.subject, 'CN=laptop\nO=Example')
    assert.deepEqual(leaf.keyUsage, ['1.3.6.1.5.5.7.3.2'])
    assert.equal(leaf.ca, false)
    const lasts = leaf.validToDate.getTime() - Math.floor(before / 1_000) * 1_000
    assert.ok(Math.abs(lasts - 365 * 86_400_000) < 5_000, String(lasts))
    assert.ok(leaf.validFromDate.getTime() <= before)
    // As openssl sees it: the chain leads to a root that stands in the bundle alone.
    const { text } = await runOpenssl(
      ['verify', '-purpose', 'sslclient', '-CAfile', 'ca', '-untrusted', 'cert', 'cert'],
      { ca: body.data.ca, cert: body.data.cert },
    )
    assert.match(text, /cert: OK/)
    const described = await runOpenssl(['x509', '-noout', '-text', '-in', 'cert'], {
      cert: body.data.cert,
    })
    assert.match(described.text, /CA:FALSE/)
    assert.match(described.text, /Key Usage: critical\s+Digital Signature\n/)
  })

  await t.test('what is made of it is a certificate of the network, with its events', async () => {
    const invited = await inviteNew(admin, { ott: true })
    const reply = await enrollByCsr(service, invited.token, csr.pem)
    const leaf = new X509Certificate(reply.json().data.cert)
    const identity = await admin.get(`/identities/${invited.identityId}`)
    assert.deepEqual(identity.enrollment, {})
    const made = await admin.get(`/authenticators/${identity.authenticators.cert.id}`)
    assert.equal(made.isIssuedByNetwork, true)
    assert.equal(made.fingerprint, leaf.fingerprint256.replaceAll(':', '').toLowerCase())
    assert.equal(new X509Certificate(made.certPem).fingerprint256, leaf.fingerprint256)
    const events = await eventsOf(service, reply)
    assert.deepEqual(
      events.map(({ type, identityId, details }) => [type, identityId, details]).toSorted(),
      [
        ['authenticator.created', invited.identityId, { id: made.id }],
        ['enrollment.used', invited.identityId, { id: invited.id }],
      ],
    )
    const used = await admin.get(`/enrollments/${invited.id}`)
    assert.equal(typeof used.usedAt, 'string')
  })

  const WAYS: Record<string, (token: string) => Parameters<typeof service.call>> = {
    'by ?method=ott': (token) => [
      `${CLIENT}/enroll?method=ott&token=${token}`,
      { json: { clientCsr: csr.pem } },
    ],
    'with the token in both places': (token) => [
      `${CLIENT}/enroll/ott?token=${token}`,
      { json: { token, clientCsr: csr.pem, somethingNew: 1 } },
    ],
    ...Object.fromEntries(
      ['text/plain', 'application/x-pem-file', 'application/pkcs10'].map((type) => [
        `as ${type}`,
        (token: string) =>
          [
            `${CLIENT}/enroll?method=ott&token=${token}`,
            { body: csr.pem, headers: { 'content-type': type } },
          ] as Parameters<typeof service.call>,
      ]),
    ),
  }
  for (const [title, way] of Object.entries(WAYS)) {
    await t.test(`API 3.2: the request may come ${title}`, async () => {
      const invited = await inviteNew(admin, { ott: true })
      const reply = await service.call(...way(invited.token))
      assert.equal(reply.status, 200, reply.text)
      assert.deepEqual(await authenticatorsOf(invited), ['cert'])
    })
  }

  await t.test('it logs in, and routers take it with a token of its identity', async () => {
    const invited = await inviteNew(admin, { ott: true })
    const held = await enrolledCertificate(service, invited.token)
    const person = presenting(service, held)
    const tokens = await logInByCertificate(person)
    const me = await service.call(`${CLIENT}/current-identity`, {
      headers: { authorization: `Bearer ${tokens.access_token}` },
    })
    assert.equal(me.json().data.id, invited.identityId)

    const edge = await startRealEdge(t, service)
    const traveller = {
      shown: { cert: held.pem, key: held.keyPem },
      headers: { authorization: `Bearer ${tokens.access_token}` },
    }
    assert.equal((await pass(t, edge, traveller))?.status, 200)

    // D-42: somebody else's enrolled certificate does not go with this token.
    const other = await enrolledCertificate(service, (await inviteNew(admin, { ott: true })).token)
    const stranger = { ...traveller, shown: { cert: other.pem, key: other.keyPem } }
    assert.notEqual((await pass(t, edge, stranger))?.status, 200)

    // D-117: re-enrolling ends what it opened, and routers hear of it.
    const { authenticators } = await admin.get(`/identities/${invited.identityId}`)
    const again = await admin.call('POST', `/authenticators/${authenticators.cert.id}/re-enroll`)
    assert.equal(again.status, 201, again.text)
    const isRefused = async () => (await pass(t, edge, traveller))?.status !== 200 || undefined
    await eventually(isRefused, 'the refusal of a certificate whose authenticator is gone')
    const renewed = await enrolledCertificate(service, again.json().data.token)
    await logInByCertificate(presenting(service, renewed))
  })

  await t.test('an identity of type Router enrolls like any other', async () => {
    const invited = await inviteNew(admin, { ott: true }, { type: 'Router' })
    const held = await enrolledCertificate(service, invited.token)
    const router = presenting(service, held)
    const reply = await router.call(`${CLIENT}/router-checks`, { json: { ztSession: 'nonsense' } })
    assert.equal(reply.status, 200, reply.text)
  })

  await t.test('a CSR that cannot be used is refused, and the token stays good', async () => {
    const invited = await inviteNew(admin, { ott: true })
    const refused: Record<string, string> = {
      'not PEM': 'nonsense',
      'two of them': `${csr.pem}${csr.pem}`,
      'too large': `${csr.pem}${' '.repeat(16_384)}`,
      'without a subject': handMadeCsr({ subject: new Uint8Array() }),
      'a short key': (await makeCsr({ key: 'RSA 1024' })).pem,
    }
    for (const [title, pem] of Object.entries(refused)) {
      const reply = await enrollByCsr(service, invited.token, pem)
      assertRefused(reply, 400, 'COULD_NOT_PROCESS_CSR', 'clientCsr')
      assert.deepEqual(await authenticatorsOf(invited), [], title)
    }
    assert.equal((await enrollByCsr(service, invited.token, csr.pem)).status, 200)
  })

  await t.test('a token is used once', async () => {
    const invited = await inviteNew(admin, { ott: true })
    assert.equal((await enrollByCsr(service, invited.token, csr.pem)).status, 200)
    const again = await enrollByCsr(service, invited.token, (await makeCsr()).pem)
    assertRefused(again, 400, 'ENROLLMENT_USED')
    const [event, ...more] = await eventsOf(service, again)
    assert.deepEqual(more, [])
    assert.deepEqual(
      [event?.type, event?.reason, event?.identityId, event?.details],
      ['enrollment.refused', 'token-used', invited.identityId, { method: 'ott' }],
    )
  })

  await t.test(
    'a token of another method, an invented one or a withdrawn one is unknown',
    async () => {
      const password = await inviteNew(admin, { updb: 'somebody' })
      const withdrawn = await inviteNew(admin, { ott: true })
      await admin.act('DELETE', `/enrollments/${withdrawn.id}`)
      const deleted = await inviteNew(admin, { ott: true })
      await admin.act('DELETE', `/identities/${deleted.identityId}`)
      for (const token of [password.token, withdrawn.token, deleted.token, 'lke_nobodys', ' ']) {
        const reply = await enrollByCsr(service, token, csr.pem)
        assertRefused(reply, 400, 'INVALID_ENROLLMENT_TOKEN')
        assert.equal((await eventsOf(service, reply))[0]?.reason, 'token-unknown')
      }
      assert.deepEqual(await authenticatorsOf(password), [])
    },
  )

  await t.test(
    'D-127: a disabled identity does not enroll, and can once it is enabled',
    async () => {
      const invited = await inviteNew(admin, { ott: true })
      await admin.act('POST', `/identities/${invited.identityId}/disable`)
      const reply = await enrollByCsr(service, invited.token, csr.pem)
      assertRefused(reply, 403, 'FORBIDDEN')
      assert.equal((await eventsOf(service, reply))[0]?.reason, 'identity-disabled')
      await admin.act('POST', `/identities/${invited.identityId}/enable`)
      assert.equal((await enrollByCsr(service, invited.token, csr.pem)).status, 200)
    },
  )

  await t.test(
    'an identity that already has a certificate is refused, and the token is not spent',
    async () => {
      const invited = await inviteNew(admin, { ott: true })
      const { pem } = await enrolledCertificate(
        service,
        (await inviteNew(admin, { ott: true })).token,
      )
      const [leaf = ''] = pem.split(/(?<=-----END CERTIFICATE-----\n)/)
      const { data: others } = (await admin.call('GET', '/authenticators?limit=500')).json()
      const owner = others.find(
        ({ certPem }: { certPem?: string }) => certPem?.trim() === leaf.trim(),
      )
      await admin.act('DELETE', `/authenticators/${owner.id}`)
      const id = await admin.create('/authenticators', {
        method: 'cert',
        identityId: invited.identityId,
        certPem: leaf,
      })
      const reply = await enrollByCsr(service, invited.token, csr.pem)
      assertRefused(reply, 409, 'MAX_AUTHENTICATOR_METHODS_REACHED')
      await admin.act('DELETE', `/authenticators/${id}`)
      assert.equal((await enrollByCsr(service, invited.token, csr.pem)).status, 200)
    },
  )

  await t.test('what is missing, repeated, too long or of another type is named', async () => {
    const invited = await inviteNew(admin, { ott: true })
    const { token, jwt } = invited
    const clientCsr = csr.pem
    const url = `${CLIENT}/enroll/ott`
    const faults: [string, string, Parameters<typeof service.call>[1], string][] = [
      ['no body', url, { method: 'POST' }, 'clientCsr'],
      ['no CSR', url, { json: { token } }, 'clientCsr'],
      ['a CSR that is no text', url, { json: { token, clientCsr: 1 } }, 'clientCsr'],
      ['no token', url, { json: { clientCsr } }, 'token'],
      ['an empty token', url, { json: { token: '', clientCsr } }, 'token'],
      ['a token that is no text', url, { json: { token: [token], clientCsr } }, 'token'],
      ['a long token', url, { json: { token: 'a'.repeat(5_000), clientCsr } }, 'token'],
      ['two tokens', `${url}?token=${token}&token=${token}`, { json: { clientCsr } }, 'token'],
      ['two other tokens', `${url}?token=${token}`, { json: { token: 'b', clientCsr } }, 'token'],
      ['the whole JWT', url, { json: { token: jwt, clientCsr } }, 'token'],
      ['no method', `${CLIENT}/enroll?token=${token}`, { json: { clientCsr } }, 'method'],
      ['no such method', `${CLIENT}/enroll?method=constructor`, { json: {} }, 'method'],
      ['two methods', `${CLIENT}/enroll?method=ott&method=ott`, { json: {} }, 'method'],
      ['a list', url, { json: [token] }, 'body'],
    ]
    for (const [title, path, options, field] of faults) {
      const reply = await service.call(path, options)
      assert.equal(reply.status, 400, title)
      assertRefused(reply, 400, 'COULD_NOT_VALIDATE', field)
    }
    const wrongJwt = await service.call(url, { json: { token: jwt, clientCsr } })
    assert.match(wrongJwt.json().error.cause.reason, /jti/)
    const xml = { body: csr.pem, headers: { 'content-type': 'application/xml' } }
    assertRefused(await service.call(url, xml), 415, 'UNSUPPORTED_MEDIA_TYPE')
    const broken = { body: '{', headers: { 'content-type': 'application/json' } }
    assertRefused(await service.call(url, broken), 400, 'COULD_NOT_PARSE_BODY')
    // D-44.
    const large = { json: { token, clientCsr: 'a'.repeat(70_000) } }
    assertRefused(await service.call(url, large), 413, 'REQUEST_ENTITY_TOO_LARGE')
    assert.equal((await enrollByCsr(service, token, csr.pem)).status, 200)
  })

  await t.test('the addresses are of the client API alone, and take nothing but POST', async () => {
    const elsewhere = await service.call('/edge/management/v1/enroll/ott', { json: {} })
    assertRefused(elsewhere, 404, 'NOT_FOUND')
    const reply = await service.call(`${CLIENT}/enroll/ott`)
    assertRefused(reply, 405, 'METHOD_NOT_ALLOWED')
    assert.equal(reply.headers.allow, 'POST')
  })
})

test('an expired token is refused', async (t) => {
  const service = await startService(t, { config: { edge: { enrollment: { duration: '2h' } } } })
  const admin = await administrate(service)
  const { pem } = await makeCsr()
  const late = await inviteNew(admin, { ott: true })
  assert.equal(Date.parse(late.expiresAt) - service.clock.now() <= 7_200_000, true)
  service.clock.advance(hours(2))
  const reply = await enrollByCsr(service, late.token, pem)
  assertRefused(reply, 400, 'ENROLLMENT_EXPIRED')
  assert.equal((await eventsOf(service, reply))[0]?.identityId, late.identityId)
})

test('an enrolled certificate lasts as long as the configuration says', async (t) => {
  const service = await startService(t, {
    config: { edge: { enrollment: { certificateDuration: '30d' } } },
  })
  const admin = await administrate(service)
  const { pem } = await enrolledCertificate(service, (await inviteNew(admin, { ott: true })).token)
  const left = new X509Certificate(pem).validToDate.getTime() - service.clock.now()
  assert.ok(left > 30 * 86_400_000 - 60_000 && left <= 30 * 86_400_000, String(left))
})

test('an enrolled certificate never outlives the CA that issued it', async (t) => {
  const service = await startService(t, {
    config: { edge: { enrollment: { certificateDuration: '3650d' } } },
  })
  const admin = await administrate(service)
  const { pem, ca } = await enrolledCertificate(
    service,
    (await inviteNew(admin, { ott: true })).token,
  )
  const ends = ca
    .split(/(?<=-----END CERTIFICATE-----\n)/)
    .filter((block) => block.includes('BEGIN'))
    .map((block) => new X509Certificate(block))
    .filter((authority) => new X509Certificate(pem).checkIssued(authority))
    .map((authority) => authority.validToDate.getTime())
  assert.equal(ends.length, 1)
  assert.ok(new X509Certificate(pem).validToDate.getTime() <= (ends[0] ?? 0))
})

test('D-22: tokens cannot be guessed for free', async (t) => {
  // Attack: somebody without a token tries many, from one address.
  const service = await startService(t, {
    config: { edge: { limits: { failuresPerAddress: 5 } } },
  })
  const admin = await administrate(service)
  const { token } = await inviteNew(admin, { ott: true })
  const { pem } = await makeCsr()
  for (let guess = 1; guess <= 5; guess++) {
    const reply = await enrollByCsr(service, `lke_${guess}`, pem)
    assertRefused(reply, 400, 'INVALID_ENROLLMENT_TOKEN')
  }
  const limited = await enrollByCsr(service, token, pem)
  assertRefused(limited, 429, 'RATE_LIMITED')
  assert.ok(Number(limited.headers['retry-after']) > 0)
})
