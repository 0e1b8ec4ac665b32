/**
 * Tokens of a certificate login where the policy says `primary.cert.bindTokens`: good only together with the
 * certificate. D-24, R072; RFC 8705 §3.
 */
import assert from 'node:assert/strict'
import { createHash, X509Certificate } from 'node:crypto'
import { after, test } from 'node:test'
import {
  logInByCertificate,
  presenting,
  registerCa,
} from '../../support/certificates/certificate-login.ts'
import { openOpenssl } from '../../support/certificates/openssl.ts'
import { answerTo, INVALID } from '../../support/login/challenges.ts'
import { bearer, logIn } from '../../support/login/login.ts'
import { administrate, logInAs } from '../../support/management.ts'
import { startService } from '../../support/service.ts'

const openssl = await openOpenssl()
after(() => openssl.close())
const { makeCa, makeLeaf } = openssl

const PASSWORD = 'a password of somebody'
const PATHS = ['client', 'management'].flatMap((api) =>
  ['current-identity', 'current-api-session'].map((name) => `/edge/${api}/v1/${name}`),
)

test('R072: tokens that are bound to a certificate', async (t) => {
  // Attack: somebody copies the token of a device, but cannot copy its key.
  const service = await startService(t)
  const admin = await administrate(service)
  const root = await makeCa({ subject: '/CN=Partner Root' })
  const middle = await makeCa({ subject: '/CN=Partner Middle', issuer: root })
  await registerCa(admin, openssl, root, { externalIdClaim: { location: 'COMMON_NAME' } })
  const bound = await admin.createPolicy({
    primary: { cert: { allowed: true, bindTokens: true }, updb: { allowed: true } },
  })
  const free = await admin.createPolicy()
  const leaf = await makeLeaf(middle, { subject: '/CN=device-1' })
  const person = await admin.createIdentity({
    externalId: 'device-1',
    certPem: leaf.pem,
    password: PASSWORD,
    policy: bound,
  })
  const client = presenting(service, leaf, middle)
  const { access_token } = await logInByCertificate(client, { scope: 'openid profile' })

  for (const path of PATHS) {
    await t.test(
      `${path} takes the token with its certificate, and with nothing less`,
      async () => {
        const taken = await client.call(path, bearer(access_token))
        assert.equal(taken.status, 200, taken.text)
        const alone = await service.call(path, bearer(access_token))
        assert.equal(alone.status, 401)
        assert.equal(alone.headers['www-authenticate'], INVALID)
        assert.equal(alone.json().error.code, 'UNAUTHORIZED')
      },
    )
  }

  await t.test(
    'RFC 8705 §3.2: introspection shows the certificate that a token is bound to',
    async () => {
      const { access_token: ofAdmin } = await logIn(service)
      const reply = await service.call('/oidc/introspect', {
        ...bearer(ofAdmin),
        form: [['token', access_token]],
      })
      const der = new X509Certificate(leaf.pem).raw
      const thumbprint = createHash('sha256').update(der).digest('base64url')
      assert.equal(reply.json().active, true, reply.text)
      assert.deepEqual(reply.json().cnf, { 'x5t#S256': thumbprint })
    },
  )

  await t.test('the certificate is what counts, not what is sent with it', async () => {
    assert.equal(await answerTo(presenting(service, leaf), access_token), 'taken')
    assert.equal(await answerTo(presenting(service, leaf, root, middle), access_token), 'taken')
  })

  await t.test(
    'another certificate is refused, whatever it has in common with the first',
    async () => {
      const same = { subject: '/CN=device-1' }
      for (const [what, other] of Object.entries({
        'of the same identity, by claim': presenting(service, await makeLeaf(middle, same), middle),
        'with the same key': presenting(
          service,
          await makeLeaf(middle, { ...same, keyOf: leaf }),
          middle,
        ),
        'of somebody else': presenting(service, await makeLeaf(root, { subject: '/CN=x' })),
        'with the right one behind it': presenting(service, await makeLeaf(root), leaf, middle),
        'the CA itself': presenting(service, middle),
      })) {
        assert.equal(await answerTo(other, access_token), INVALID, what)
      }
    },
  )

  await t.test('userinfo is not an exception', async () => {
    assert.equal((await client.call('/oidc/userinfo', bearer(access_token))).status, 200)
    const refused = await service.call('/oidc/userinfo', bearer(access_token))
    assert.equal(refused.status, 401)
    assert.equal(refused.headers['www-authenticate'], INVALID)
  })

  await t.test('a password login of the same identity is bound to nothing', async () => {
    const tokens = await logInAs(service, person)
    assert.equal(await answerTo(service, tokens.access_token), 'taken')
    assert.equal(await answerTo(client, tokens.access_token), 'taken')
  })

  await t.test('D-24: without bindTokens the same token needs no certificate', async () => {
    const other = await makeLeaf(root)
    await admin.createIdentity({ certPem: other.pem, policy: free })
    const tokens = await logInByCertificate(presenting(service, other))
    assert.equal(await answerTo(service, tokens.access_token), 'taken')
    assert.equal(await answerTo(client, tokens.access_token), 'taken')
  })

  await t.test('D-52: logout asks for the token alone', async () => {
    const path = '/edge/client/v1/current-api-session'
    const { access_token: second } = await logInByCertificate(client)
    const gone = await service.call(path, { method: 'DELETE', ...bearer(second) })
    assert.equal(gone.status, 200, gone.text)
    assert.equal(await answerTo(client, second), INVALID)
    assert.equal(await answerTo(client, access_token), 'taken')
  })
})
