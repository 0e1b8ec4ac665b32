/**
 * Certificate logins that succeed: whose certificate it is, what the client has to send with it, and what the tokens
 * say afterwards. SPEC Primary login; D-21, D-24, D-25, D-26.
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, test } from 'node:test'
import { decodeJwt } from 'jose'
import { days } from '../../../src/base/time/duration.ts'
import { eventsOf } from '../../support/audit.ts'
import {
  certificateLogin,
  logInByCertificate,
  presenting,
  registerCa,
  submitCertificate,
} from '../../support/certificates/certificate-login.ts'
import {
  LEAF_EXTENSIONS,
  type MadeCertificate,
  openOpenssl,
} from '../../support/certificates/openssl.ts'
import { ownIssuingCa } from '../../support/certificates/own-pki.ts'
import { answerOf, bearer, beginLogin, logIn } from '../../support/login/login.ts'
import { administrate } from '../../support/management.ts'
import { type Service, startService } from '../../support/service.ts'

const openssl = await openOpenssl()
after(() => openssl.close())
const { makeCa, makeLeaf } = openssl

const SESSION = '/edge/client/v1/current-api-session'

/** Who a login with these certificates is. */
async function whoIs(service: Service, leaf: MadeCertificate, ...others: MadeCertificate[]) {
  const { access_token } = await logInByCertificate(presenting(service, leaf, ...others))
  return decodeJwt(access_token).sub
}

test('certificates that log in', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const root = await makeCa({ subject: '/O=Partner/CN=Partner Root' })
  const middle = await makeCa({ subject: '/O=Partner/CN=Partner Middle', issuer: root })
  const lower = await makeCa({ subject: '/O=Partner/CN=Partner Lower', issuer: middle })
  await registerCa(admin, openssl, root)

  await t.test('D-21: one that the CA itself signed is found by its fingerprint', async () => {
    const leaf = await makeLeaf(root)
    const { id } = await admin.createIdentity({ certPem: leaf.pem })
    assert.equal(await whoIs(service, leaf), id)
    assert.equal(await whoIs(service, leaf, root), id, 'the root sent along changes nothing')
  })

  await t.test('D-21: intermediates that the client sends lead to the CA', async () => {
    const leaf = await makeLeaf(lower)
    const { id } = await admin.createIdentity({ certPem: leaf.pem })
    assert.equal(await whoIs(service, leaf, lower, middle), id)
    // RFC 8446 §4.4.2: be prepared for extraneous certificates and for any order.
    assert.equal(await whoIs(service, leaf, middle, lower), id)
    assert.equal(
      await whoIs(service, leaf, await makeCa(), lower, await makeLeaf(root), middle),
      id,
    )
  })

  await t.test('an intermediate that is registered itself needs none to be sent', async () => {
    const above = await makeCa({ subject: '/CN=Nobody registered' })
    const registered = await makeCa({ subject: '/CN=Somebody did', issuer: above })
    await registerCa(admin, openssl, registered)
    const leaf = await makeLeaf(registered)
    const { id } = await admin.createIdentity({ certPem: leaf.pem })
    assert.equal(await whoIs(service, leaf), id)
  })

  for (const [what, claim, made, externalId] of [
    [
      'the common name',
      { location: 'COMMON_NAME' },
      { subject: '/O=Claims/CN=zoe@claims' },
      'zoe@claims',
    ],
    [
      'a part of a URI',
      { location: 'SAN_URI', matcher: 'SCHEME', matcherCriteria: 'spiffe', parser: 'SPLIT' },
      { extensions: [...LEAF_EXTENSIONS, 'subjectAltName=URI:spiffe://claims.example/device/d-7'] },
      'd-7',
    ],
    [
      'an e-mail address without its domain',
      { location: 'SAN_EMAIL', matcher: 'SUFFIX', matcherCriteria: '@claims.example' },
      { extensions: [...LEAF_EXTENSIONS, 'subjectAltName=email:bob@claims.example'] },
      'bob',
    ],
  ] as const) {
    await t.test(
      `API 4.6: the externalIdClaim of the CA finds the identity by ${what}`,
      async () => {
        const ca = await makeCa({ subject: `/CN=A CA that claims ${what}` })
        const split = 'parser' in claim ? { parserCriteria: '/', index: 4 } : {}
        await registerCa(admin, openssl, ca, { externalIdClaim: { ...claim, ...split } })
        const { id } = await admin.createIdentity({ externalId })
        const leaf = await makeLeaf(ca, made)
        assert.equal(await whoIs(service, leaf), id)
        const again = await makeLeaf(ca, made)
        assert.equal(await whoIs(service, again), id, 'any certificate with that claim')

        const detail = await service.call(
          SESSION,
          bearer((await logInByCertificate(presenting(service, leaf))).access_token),
        )
        assert.equal(detail.json().data.authenticatorId, null, 'none is registered')
      },
    )
  }

  await t.test('D-21: a fingerprint goes before the claim of the CA', async () => {
    const ca = await makeCa({ subject: '/CN=Fingerprint first' })
    await registerCa(admin, openssl, ca, { externalIdClaim: { location: 'COMMON_NAME' } })
    await admin.createIdentity({ externalId: 'named-by-claim' })
    const leaf = await makeLeaf(ca, { subject: '/CN=named-by-claim' })
    const { id } = await admin.createIdentity({ certPem: leaf.pem })
    assert.equal(await whoIs(service, leaf), id)
  })

  await t.test('D-21: an expired one counts where the policy says so', async () => {
    const policy = await admin.createPolicy({
      primary: { cert: { allowed: true, allowExpiredCerts: true } },
    })
    const leaf = await makeLeaf(root, { notAfter: days(-1) })
    const { id } = await admin.createIdentity({ certPem: leaf.pem, policy })
    assert.equal(await whoIs(service, leaf), id)
  })

  await t.test(
    'SPEC Primary login: the id may come as JSON, in a form and in the query',
    async () => {
      const leaf = await makeLeaf(root)
      await admin.createIdentity({ certPem: leaf.pem })
      const client = presenting(service, leaf)
      const url = '/oidc/login/cert'
      for (const post of [
        (id: string) => client.call(url, { json: { authRequestId: id } }),
        (id: string) => client.call(url, { form: [['authRequestId', id]] }),
        (id: string) => client.call(`${url}?authRequestID=${id}`, { method: 'POST' }),
        (id: string) => client.call(url, { json: { id, unknown: { to: 'us' } } }),
      ]) {
        const { authRequestId } = await beginLogin(client)
        assert.ok(answerOf(await post(authRequestId)).get('code'))
      }
    },
  )

  await t.test('D-24, D-25: the tokens name the method and the certificate', async () => {
    const leaf = await makeLeaf(lower)
    const { id } = await admin.createIdentity({ certPem: leaf.pem })
    const client = presenting(service, leaf, lower, middle)
    const { access_token, id_token } = await logInByCertificate(client)
    const claims = decodeJwt(access_token)
    const thumbprint = createHash('sha256').update(leaf.der).digest('base64url')
    assert.deepEqual(claims['cnf'], { 'x5t#S256': thumbprint })
    assert.deepEqual(claims['amr'], ['swk'])
    assert.deepEqual(decodeJwt(id_token)['amr'], ['swk'])
    assert.equal(decodeJwt(id_token)['cnf'], undefined)
    assert.equal(claims['z_ice'], false, 'D-26: not one of our own PKI')

    const [{ id: authenticatorId }] = (await admin.get(`/authenticators?limit=500`)).filter(
      ({ identityId }: { identityId: string }) => identityId === id,
    )
    const session = (await service.call(SESSION, bearer(access_token))).json().data
    assert.equal(session.authenticatorId, authenticatorId)
    assert.deepEqual(session.amr, ['swk'])
  })

  await t.test('D-24: a password login has no cnf, and no z_ice', async () => {
    const claims = decodeJwt((await logIn(service)).access_token)
    assert.equal(claims['cnf'], undefined)
    assert.equal(claims['z_ice'], false)
  })

  await t.test('API 4.8: the login is recorded with its method and its authenticator', async () => {
    const leaf = await makeLeaf(root)
    const { id } = await admin.createIdentity({ certPem: leaf.pem })
    const reply = await certificateLogin(presenting(service, leaf))
    const [event, ...more] = await eventsOf(service, reply)
    assert.deepEqual(more, [])
    assert.equal(event?.type, 'login.succeeded')
    assert.equal(event.identityId, id)
    assert.equal(event.details.method, 'cert')
    assert.deepEqual(event.details.amr, ['swk'])
    const { identityId } = await admin.get(`/authenticators/${event.details.authenticatorId}`)
    assert.equal(identityId, id)
  })

  await t.test(
    'SPEC Auth request: a failed login leaves the request as it was, to be tried again',
    async () => {
      const leaf = await makeLeaf(root)
      await admin.createIdentity({ certPem: leaf.pem })
      const { authRequestId } = await beginLogin(service)
      assert.equal((await submitCertificate(service, authRequestId)).status, 401)
      const reply = await submitCertificate(presenting(service, leaf), authRequestId)
      assert.ok(answerOf(reply).get('code'))
    },
  )
})

test('D-26: a certificate of our own PKI logs in, and its session says that it can be renewed', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const issuing = await ownIssuingCa(service)
  const leaf = await makeLeaf(issuing, { subject: '/CN=a device of ours' })
  const { id } = await admin.createIdentity({ certPem: leaf.pem })

  for (const client of [presenting(service, leaf), presenting(service, leaf, issuing)]) {
    const claims = decodeJwt((await logInByCertificate(client)).access_token)
    assert.equal(claims.sub, id)
    assert.equal(claims['z_ice'], true)
    assert.deepEqual(claims['amr'], ['swk'])
  }

  // No claim of a CA is in force for our own PKI: what nobody registered is nobody's.
  const other = await makeLeaf(issuing, { subject: `/CN=${id}` })
  assert.equal((await certificateLogin(presenting(service, other))).status, 401)
})
