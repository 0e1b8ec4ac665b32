/**
 * The JWT of an invitation, as a client verifies it that knows nothing yet: with the certificate that the server shows
 * at `iss`. API 3.2; D-126.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import tls from 'node:tls'
import { decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose'
import { enrolledCertificate, inviteNew } from '../../support/certificates/enrollment.ts'
import { type KeyKind, openOpenssl } from '../../support/certificates/openssl.ts'
import { administrate } from '../../support/management.ts'
import { freePort, webAt } from '../../support/ports.ts'
import { startService, temporaryFolder } from '../../support/service.ts'
import { installation } from '../../support/stores/instances.ts'

/** The certificate that a new handshake shows at the issuer of the JWT. */
async function shownAt(iss: string | undefined) {
  const { hostname, port } = new URL(iss ?? '')
  const socket = tls.connect({
    host: hostname,
    port: Number(port),
    servername: hostname,
    rejectUnauthorized: false,
  })
  try {
    await once(socket, 'secureConnect')
    const certificate = socket.getPeerX509Certificate()
    assert.ok(certificate)
    return certificate
  } finally {
    socket.destroy()
  }
}

async function verified(jwt: string) {
  const certificate = await shownAt(decodeJwt(jwt).iss)
  return jwtVerify(jwt, certificate.publicKey, { typ: 'JWT' })
}

test('a client verifies the JWT with the certificate that it finds at its issuer', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  for (const enrollment of [{ ott: true }, { updb: 'somebody' }]) {
    const invited = await inviteNew(admin, enrollment)
    const { payload, protectedHeader } = await verified(invited.jwt)
    assert.deepEqual(payload, {
      iss: service.baseUrl,
      sub: invited.identityId,
      em: Object.keys(enrollment)[0],
      jti: invited.token,
      exp: Math.floor(Date.parse(invited.expiresAt) / 1_000),
    })
    assert.equal(protectedHeader.alg, 'ES256')
  }

  // A refreshed one has the new token.
  const { id, token } = await inviteNew(admin, { ott: true })
  const { data } = (await admin.call('POST', `/enrollments/${id}/refresh`)).json()
  const { payload } = await verified(data.jwt)
  assert.equal(payload.jti, data.token)
  assert.notEqual(payload.jti, token)
})

test('the JWT leads to the address that the configuration names', async (t) => {
  const [one, other] = [await freePort(), await freePort()]
  const listener = (name: string, port: number) => ({
    name,
    bindPoints: [{ interface: `127.0.0.1:${port}`, address: `localhost:${port}` }],
    apis: [{ binding: 'edge-client' }, { binding: 'edge-management' }],
  })
  const service = await startService(t, {
    config: {
      web: [listener('one', one), listener('other', other)],
      edge: { api: { address: `localhost:${other}` } },
    },
  })
  const admin = await administrate(service)
  const { payload } = await verified((await inviteNew(admin, { ott: true })).jwt)
  assert.equal(payload.iss, `https://localhost:${other}`)
})

test('the key of a given certificate signs, and that of its successor as soon as it is shown', async (t) => {
  const openssl = await openOpenssl()
  t.after(() => openssl.close())
  const folder = await temporaryFolder(t)
  const ca = await openssl.makeCa()
  const put = async (name: string, text: string) => {
    await writeFile(join(folder, `${name}.new`), text, { mode: 0o600 })
    await rename(join(folder, `${name}.new`), join(folder, name))
  }
  const giveKey = async (key: KeyKind) => {
    const leaf = await openssl.makeLeaf(ca, {
      key,
      extensions: ['subjectAltName=DNS:localhost', 'extendedKeyUsage=serverAuth'],
    })
    await put('given.pem', leaf.pem)
    await put('given.key', leaf.keyPem)
    return leaf
  }
  await put('ca.pem', ca.pem)
  await giveKey('rsa-2048')
  const identity = {
    cert: join(folder, 'given.pem'),
    key: join(folder, 'given.key'),
    ca: join(folder, 'ca.pem'),
  }
  const service = await startService(t, { config: { identity } })
  const admin = await administrate(service)
  const first = await inviteNew(admin, { ott: true })
  assert.equal((await verified(first.jwt)).protectedHeader.alg, 'RS256')

  for (const [kind, algorithm] of [
    ['P-256', 'ES256'],
    ['ed25519', 'EdDSA'],
  ] as const) {
    const leaf = await giveKey(kind)
    await service.instance.renewCertificates()
    const { jwt } = await inviteNew(admin, { ott: true })
    const { protectedHeader } = await verified(jwt)
    assert.equal(protectedHeader.alg, algorithm)
    const digest = Buffer.from(leaf.fingerprint, 'hex').toString('base64url')
    assert.equal(decodeProtectedHeader(jwt)['x5t#S256'], digest)
  }
  // A JWT of the former key is not verified by what is shown now, but its token is good.
  await assert.rejects(verified(first.jwt))
  await enrolledCertificate(service, first.token)
})

test('D-126: without a client API on the instance there is a token and no JWT', async (t) => {
  const folder = await temporaryFolder(t)
  const shared = await installation(join(folder, 'shared.db'))
  const port = await freePort()
  const [listener] = webAt(port)
  const web = [{ ...listener, apis: [{ binding: 'edge-management' }, { binding: 'edge-oidc' }] }]
  const managing = await shared.start(t, { config: { web } })
  const serving = await shared.start(t)
  const admin = await administrate({
    ...managing,
    call: (path, options) => managing.client.call(`https://localhost:${port}${path}`, options),
  })
  const invited = await inviteNew(admin, { ott: true })
  assert.equal(invited.jwt, null)
  await enrolledCertificate(serving, invited.token)
})
