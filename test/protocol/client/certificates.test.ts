/**
 * Certificates that `latchkey/client` brings home: those of a session, and the CA of a server that nobody has told it
 * about. SPEC API Session Certificates; API 3.2; D-40, D-152.
 */
import assert from 'node:assert/strict'
import { createPrivateKey, generateKeyPairSync, X509Certificate } from 'node:crypto'
import { test } from 'node:test'
import { ClientError, connect, fetchCa, Refused, SessionEnded } from '../../../src/client/client.ts'
import { assertVerifies } from '../../support/certificates/session-certificates.ts'
import { asAdmin, connectTo, failureOf } from '../../support/client/client-sessions.ts'
import { startBehindProxy } from '../../support/client/meddling-proxy.ts'
import { startService } from '../../support/service.ts'

test('a session certificate', async (t) => {
  const service = await startService(t)
  const client = await connectTo(service)

  await t.test('is one for a key that was made here, and names the session', async () => {
    const session = await client.logIn(asAdmin)
    const made = await session.certificate()
    await assertVerifies(made.certificate, made.cas)
    const leaf = new X509Certificate(made.certificate)
    assert.ok(leaf.checkPrivateKey(made.key))
    assert.equal(made.key.asymmetricKeyDetails?.namedCurve, 'prime256v1')
    assert.ok(leaf.subjectAltName?.includes(`/apiSession/${session.id}/`))
    assert.equal(leaf.subject, `CN=${session.identityId}`)
    assert.deepEqual(made.validTo, leaf.validToDate)
  })

  const keys = {
    'P-384': generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey,
    RSA: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey,
    Ed25519: generateKeyPairSync('ed25519').privateKey,
  }
  for (const [name, key] of Object.entries(keys)) {
    await t.test(`can be one for a key of one's own, ${name}`, async () => {
      const session = await client.logIn(asAdmin)
      const commonName = 'laptop of Zoë'
      const made = await session.certificate({ key, commonName })
      const leaf = new X509Certificate(made.certificate)
      assert.ok(leaf.checkPrivateKey(key))
      assert.equal(leaf.subject, `CN=${commonName}`)
      const pem = key.export({ type: 'pkcs8', format: 'pem' }).toString()
      const again = await session.certificate({ key: pem })
      assert.ok(again.key.equals(createPrivateKey(pem)))
    })
  }

  await t.test('can be taken back, once', async () => {
    const session = await client.logIn(asAdmin)
    const made = await session.certificate()
    await made.remove()
    const error = await failureOf(made.remove(), Refused)
    assert.equal(error.code, 'NOT_FOUND')
  })

  await t.test('is not given to a session that has ended', async () => {
    const session = await client.logIn(asAdmin)
    await session.logout()
    await failureOf(session.certificate(), SessionEnded)
  })

  await t.test('is not asked for with a key that cannot sign, and no key is repeated', async () => {
    const session = await client.logIn(asAdmin)
    const key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey
    await assert.rejects(session.certificate({ key }), TypeError)
    await assert.rejects(session.certificate({ key: 'secret key' }), (error: Error) => {
      return error instanceof TypeError && !error.message.includes('secret key')
    })
    await assert.rejects(session.certificate({ commonName: '' }), TypeError)
  })
})

test('a session certificate for another key is not taken', async (t) => {
  const { service, proxy } = await startBehindProxy(t)
  const client = await connect({ url: proxy.url, ca: proxy.ca, clock: service.clock })
  const session = await client.logIn(asAdmin)
  const other = await session.certificate()
  proxy.meddle(({ method, target }) => {
    if (method !== 'POST' || !target.endsWith('/certificates')) return undefined
    return {
      answer: (answer) => {
        const body = JSON.parse(answer.body)
        body.data.certificate = other.certificate
        return { ...answer, body: JSON.stringify(body) }
      },
    }
  })
  await assert.rejects(session.certificate(), { name: 'UnexpectedAnswer' })
})

test('the CA of a server that is not trusted yet', async (t) => {
  const service = await startService(t)
  const fingerprint = new X509Certificate(service.ca).fingerprint256

  await t.test('is handed out when its fingerprint is confirmed', async () => {
    const ca = await fetchCa({
      url: service.baseUrl,
      confirm: (shown) => shown.fingerprint === fingerprint,
    })
    const client = await connect({ url: service.baseUrl, ca, clock: service.clock })
    assert.ok(await client.logIn(asAdmin))
  })

  await t.test('D-152: is not handed out otherwise', async () => {
    const shown: string[] = []
    const refused = fetchCa({
      url: service.baseUrl,
      confirm: async (ca) => {
        shown.push(ca.subject, ca.fingerprint)
        return false
      },
    })
    assert.equal((await failureOf(refused, ClientError)).code, 'NOT_CONFIRMED')
    assert.ok(shown.includes(fingerprint))
  })

  await t.test('is not read from garbage', async () => {
    const { proxy } = await startBehindProxy(t)
    for (const body of ['', 'MIIB', '%%%', Buffer.from('0\u0000').toString('base64')]) {
      proxy.meddle(() => ({ instead: { status: 200, headers: {}, body } }))
      await assert.rejects(fetchCa({ url: proxy.url, confirm: () => true }), {
        name: 'UnexpectedAnswer',
      })
    }
    proxy.meddle(() => ({ instead: { status: 404, headers: {}, body: '' } }))
    await assert.rejects(fetchCa({ url: proxy.url, confirm: () => true }), {
      name: 'UnexpectedAnswer',
    })
  })
})
