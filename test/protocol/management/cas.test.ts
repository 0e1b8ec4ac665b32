/** Third-party CAs: made, proven, read, removed. API 3.3, 4.6. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { days } from '../../../src/base/time/duration.ts'
import { DoneReply } from '../../../src/contract/envelope.ts'
import { CaReply } from '../../../src/contract/management/cas.ts'
import { openOpenssl } from '../../support/certificates/openssl.ts'
import { bearer } from '../../support/login/login.ts'
import { administrate, assertRefused, MANAGEMENT } from '../../support/management.ts'
import { startService } from '../../support/service.ts'

test('third-party CAs', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const tool = await openOpenssl()
  t.after(() => tool.close())
  const tokenOf = async (id: string) => (await admin.get(`/cas/${id}`)).verificationToken

  await t.test('API 4.6: one is made, unverified, with its defaults', async () => {
    const { pem, fingerprint } = await tool.makeCa()
    const made = await admin.call('POST', '/cas', { name: 'plain', certPem: pem })
    assert.equal(made.status, 201, made.text)
    const { id } = made.json().data
    const body = (await admin.call('GET', `/cas/${id}`)).json()
    assert.deepEqual(CaReply.parse(body), body)
    const { createdAt, updatedAt, verificationToken, certPem, ...rest } = body.data
    assert.equal(createdAt, updatedAt)
    assert.equal(certPem.trim(), pem.trim())
    assert.match(verificationToken, /^[A-Za-z0-9_-]{32,64}$/)
    assert.deepEqual(rest, {
      id,
      name: 'plain',
      fingerprint,
      isVerified: false,
      isAuthEnabled: false,
      isOttCaEnrollmentEnabled: false,
      isAutoCaEnrollmentEnabled: false,
      identityRoles: [],
      identityNameFormat: '[caName]-[commonName]',
      externalIdClaim: null,
      tags: {},
      _links: { self: { href: `./cas/${id}` } },
    })
  })

  await t.test('everything that is said is kept', async () => {
    const { pem } = await tool.makeCa()
    const said = {
      isAuthEnabled: true,
      isOttCaEnrollmentEnabled: true,
      isAutoCaEnrollmentEnabled: true,
      identityRoles: ['staff'],
      identityNameFormat: '[commonName]',
      externalIdClaim: {
        location: 'SAN_URI',
        matcher: 'SCHEME',
        matcherCriteria: 'spiffe',
        parser: 'SPLIT',
        parserCriteria: '/',
        index: 3,
      },
      tags: { a: 'b' },
    }
    const id = await admin.createCa({ ...said, certPem: pem })
    const read = await admin.get(`/cas/${id}`)
    for (const [name, value] of Object.entries(said)) assert.deepEqual(read[name], value, name)
  })

  await t.test('what is not a CA, or not a certificate, is refused', async () => {
    const ca = await tool.makeCa()
    const leaf = await tool.makeLeaf(ca)
    const create = (certPem: string) => admin.call('POST', '/cas', { name: 'x', certPem })
    assertRefused(await create(leaf.pem), 400, 'CERTIFICATE_IS_NOT_CA')
    for (const pem of ['x', ca.keyPem, ca.pem + ca.pem, ca.pem + ca.keyPem]) {
      assertRefused(await create(pem), 400, 'INVALID_CERT_PEM')
    }
  })

  await t.test('names and certificates are unique', async () => {
    const [one, other] = [await tool.makeCa(), await tool.makeCa()]
    await admin.createCa({ name: 'unique', certPem: one.pem })
    const name = await admin.call('POST', '/cas', { name: 'unique', certPem: other.pem })
    assertRefused(name, 409, 'ENTITY_NAME_IN_USE', 'name')
    const certificate = await admin.call('POST', '/cas', { name: 'another', certPem: one.pem })
    assertRefused(certificate, 409, 'CERT_IN_USE')
  })

  await t.test('the holder of its key proves it, once', async () => {
    const ca = await tool.makeCa()
    const id = await admin.createCa({ certPem: ca.pem })
    const proof = await tool.makeLeaf(ca, { subject: `/CN=${await tokenOf(id)}` })
    const reply = await admin.verifyCa(id, proof.pem)
    assert.equal(reply.status, 200, reply.text)
    assert.deepEqual(DoneReply.parse(reply.json()), reply.json())
    const { isVerified, verificationToken } = await admin.get(`/cas/${id}`)
    assert.deepEqual([isVerified, verificationToken], [true, null])
    assertRefused(await admin.verifyCa(id, proof.pem), 409, 'CA_ALREADY_VERIFIED')
  })

  await t.test('of two proofs at once one counts', async () => {
    const ca = await tool.makeCa()
    const id = await admin.createCa({ certPem: ca.pem })
    const proof = await tool.makeLeaf(ca, { subject: `/CN=${await tokenOf(id)}` })
    const replies = await Promise.all([1, 2].map(() => admin.verifyCa(id, proof.pem)))
    assert.deepEqual(replies.map(({ status }) => status).toSorted(), [200, 409])
  })

  await t.test('a CA cannot be verified without its key', async () => {
    // Attack: somebody registers a well-known CA, to log in with certificates that others got from it.
    const ca = await tool.makeCa()
    const id = await admin.createCa({ certPem: ca.pem })
    const token = await tokenOf(id)
    const impostor = await tool.makeCa()
    const good = await tool.makeLeaf(ca, { subject: `/CN=${token}` })
    const cases: readonly (readonly [pem: string, code: string])[] = [
      ['', 'INVALID_CERT_PEM'],
      ['x', 'INVALID_CERT_PEM'],
      [good.keyPem, 'INVALID_CERT_PEM'],
      [good.pem + ca.pem, 'INVALID_CERT_PEM'],
      [ca.pem, 'INVALID_COMMON_NAME'],
      [(await tool.makeLeaf(ca)).pem, 'INVALID_COMMON_NAME'],
      [(await tool.makeLeaf(ca, { subject: `/CN=${token}x` })).pem, 'INVALID_COMMON_NAME'],
      [(await tool.makeLeaf(ca, { subject: `/CN=a/CN=${token}` })).pem, 'INVALID_COMMON_NAME'],
      [(await tool.makeLeaf(impostor, { subject: `/CN=${token}` })).pem, 'CERT_FAILED_VALIDATION'],
      [(await tool.makeCa({ subject: `/CN=${token}` })).pem, 'CERT_FAILED_VALIDATION'],
      [
        (await tool.makeLeaf(ca, { subject: `/CN=${token}`, notAfter: days(-1) })).pem,
        'CERT_FAILED_VALIDATION',
      ],
    ]
    for (const [pem, code] of cases) assertRefused(await admin.verifyCa(id, pem), 400, code)
    assert.equal((await admin.get(`/cas/${id}`)).isVerified, false)
    assert.equal(await tokenOf(id), token, 'the token stays until it is proven')
    assert.equal((await admin.verifyCa(id, good.pem)).status, 200)
  })

  await t.test('a proof is plain text', async () => {
    const { pem } = await tool.makeCa()
    const id = await admin.createCa({ certPem: pem })
    const url = `${MANAGEMENT}/cas/${id}/verify`
    const json = await service.call(url, { json: { pem }, ...bearer(admin.token) })
    assertRefused(json, 415, 'UNSUPPORTED_MEDIA_TYPE')
  })

  await t.test('a CA that is removed is gone', async () => {
    const { pem } = await tool.makeCa()
    const id = await admin.createCa({ certPem: pem })
    await admin.act('DELETE', `/cas/${id}`)
    assertRefused(await admin.call('GET', `/cas/${id}`), 404, 'NOT_FOUND')
    assertRefused(await admin.verifyCa(id, pem), 404, 'NOT_FOUND')
    await admin.createCa({ certPem: pem })
  })
})
