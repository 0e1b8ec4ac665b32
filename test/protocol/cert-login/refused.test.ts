/**
 * Certificate logins that fail: one answer to the caller, the exact reason in the audit log. D-12, D-21, D-37; R093,
 * R095. Every certificate here comes over a real handshake, from a client that holds its key.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { days } from '../../../src/base/time/duration.ts'
import { comparable, failureOf } from '../../support/audit.ts'
import {
  certificateLogin,
  presenting,
  registerCa,
  submitCertificate,
} from '../../support/certificates/certificate-login.ts'
import {
  CA_EXTENSIONS,
  LEAF_EXTENSIONS,
  type MadeCertificate,
  openOpenssl,
} from '../../support/certificates/openssl.ts'
import { ownIssuingCa } from '../../support/certificates/own-pki.ts'
import type { Reply } from '../../support/http-client.ts'
import { MISSING } from '../../support/login/challenges.ts'
import { beginLogin } from '../../support/login/login.ts'
import { type Administrator, administrate } from '../../support/management.ts'
import { startService } from '../../support/service.ts'
import { sql } from '../../support/stores/sql.ts'

const openssl = await openOpenssl()
after(() => openssl.close())
const { make, makeCa, makeLeaf } = openssl

const WITHOUT_LIMIT = { edge: { limits: { failuresPerAddress: 0 } } }
const CERT_ALLOWED = { primary: { cert: { allowed: true } } }
const NO_CERT = { primary: { updb: { allowed: true }, extJwt: { allowed: true } } }

const root = await makeCa({ subject: '/O=Partner/CN=Partner Root' })
const middle = await makeCa({ subject: '/O=Partner/CN=Partner Middle', issuer: root })
/** Good in every respect; the attacks below try to be her. */
const alice = await makeLeaf(middle, { subject: '/CN=alice' })

interface World {
  readonly admin: Administrator
  /** Our own issuing CA. */
  readonly own: MadeCertificate
}

interface Attempt {
  /** None: a connection without a certificate. */
  readonly shown: readonly [] | readonly [MadeCertificate, ...MadeCertificate[]]
  /** Who the certificate belongs to, where that is known when the login is refused. */
  readonly identityId?: string
}

interface Refusal {
  readonly reason: string
  /** Default: R095. */
  readonly rule?: string
  readonly what: string
  /** A part of what the operator reads besides the reason. */
  readonly why?: RegExp
  arrange(world: World): Promise<Attempt>
}

/** A certificate of somebody who is registered with it. */
async function owned(
  { admin }: World,
  leaf: MadeCertificate,
  others: readonly MadeCertificate[] = [],
): Promise<Attempt & { readonly identityId: string }> {
  const { id } = await admin.createIdentity({ certPem: leaf.pem })
  return { shown: [leaf, ...others], identityId: id }
}

const strangers = ({ shown }: Attempt): Attempt => ({ shown })

const REFUSALS: readonly Refusal[] = [
  { reason: 'no-certificate', what: 'no certificate', arrange: async () => ({ shown: [] }) },
  {
    reason: 'ca-disabled',
    what: 'a CA that is not enabled for authentication',
    async arrange(world) {
      const ca = await makeCa({ subject: '/CN=Switched off' })
      await registerCa(world.admin, openssl, ca, { isAuthEnabled: false })
      return strangers(await owned(world, await makeLeaf(ca)))
    },
  },
  {
    reason: 'ca-unverified',
    what: 'a CA whose key nobody has proven to hold',
    async arrange(world) {
      // Attack: an administrator is talked into registering a public CA that anybody can get a certificate from.
      const ca = await makeCa({ subject: '/CN=Never verified' })
      await world.admin.createCa({ certPem: ca.pem })
      return strangers(await owned(world, await makeLeaf(ca)))
    },
  },
  {
    reason: 'certificate-untrusted',
    what: 'a registered certificate of a CA that is not',
    why: /does not lead to a CA that is known here/,
    async arrange(world) {
      const ca = await makeCa({ subject: '/CN=Unknown' })
      return strangers(await owned(world, await makeLeaf(ca), [ca]))
    },
  },
  {
    reason: 'certificate-untrusted',
    what: 'a CA with the name of a registered one',
    async arrange(world) {
      const ca = await makeCa({ subject: root.subject })
      return strangers(await owned(world, await makeLeaf(ca), [ca, root]))
    },
  },
  {
    reason: 'certificate-untrusted',
    what: 'a registered certificate that signed itself',
    arrange: async (world) =>
      strangers(
        await owned(world, await make({ subject: '/CN=self', extensions: LEAF_EXTENSIONS })),
      ),
  },
  {
    reason: 'certificate-untrusted',
    what: 'an intermediate that the client does not send',
    arrange: async (world) => strangers(await owned(world, await makeLeaf(middle))),
  },
  {
    reason: 'certificate-untrusted',
    what: 'an intermediate that has expired',
    why: /certificate 2 of the path is not in date/,
    async arrange(world) {
      const ca = await makeCa({ subject: '/CN=Old', issuer: root, notAfter: days(-1) })
      return strangers(await owned(world, await makeLeaf(ca), [ca]))
    },
  },
  {
    reason: 'certificate-expired',
    what: 'an expired certificate',
    arrange: async (world) => owned(world, await makeLeaf(root, { notAfter: days(-1) })),
  },
  {
    reason: 'certificate-not-yet-valid',
    what: 'a certificate before its time',
    async arrange(world) {
      const times = { notBefore: days(1), notAfter: days(2) }
      return strangers(await owned(world, await makeLeaf(root, times)))
    },
  },
  {
    reason: 'certificate-wrong-usage',
    what: 'a certificate for servers',
    why: /clientAuth/,
    async arrange(world) {
      const extensions = LEAF_EXTENSIONS.map((line) => line.replace('clientAuth', 'serverAuth'))
      return strangers(await owned(world, await makeLeaf(root, { extensions })))
    },
  },
  {
    reason: 'certificate-wrong-usage',
    what: 'a certificate whose key may not sign',
    why: /digitalSignature/,
    async arrange(world) {
      const extensions = LEAF_EXTENSIONS.map((line) =>
        line.replace('digitalSignature', 'keyAgreement'),
      )
      return strangers(await owned(world, await makeLeaf(root, { extensions })))
    },
  },
  {
    reason: 'certificate-is-ca',
    what: 'a leaf with CA:TRUE',
    async arrange(world) {
      const extensions = [...CA_EXTENSIONS, 'extendedKeyUsage=clientAuth']
      const leaf = await make({ subject: '/CN=both', issuer: root, extensions })
      return strangers(await owned(world, leaf))
    },
  },
  {
    reason: 'certificate-is-ca',
    what: 'the certificate of the registered CA itself',
    arrange: async (world) => strangers(await owned(world, root)),
  },
  {
    reason: 'certificate-of-session',
    what: 'the certificate of an API session',
    async arrange(world) {
      const uri = 'spiffe://example/identity/i/apiSession/s/apiSessionCertificate/c'
      const extensions = [...LEAF_EXTENSIONS, `subjectAltName=URI:${uri}`]
      return strangers(await owned(world, await makeLeaf(world.own, { extensions })))
    },
  },
  {
    reason: 'certificate-unknown',
    what: 'a good certificate that belongs to nobody',
    arrange: async () => ({ shown: [await makeLeaf(root, { subject: '/CN=nobody' })] }),
  },
  {
    reason: 'certificate-unknown',
    what: 'one of our own PKI that belongs to nobody',
    arrange: async ({ own }) => ({ shown: [await makeLeaf(own)] }),
  },
  {
    reason: 'certificate-unknown',
    what: 'a claim that names nobody',
    async arrange({ admin }) {
      const ca = await makeCa({ subject: '/CN=With a claim' })
      await registerCa(admin, openssl, ca, { externalIdClaim: { location: 'COMMON_NAME' } })
      return { shown: [await makeLeaf(ca, { subject: '/CN=who' })] }
    },
  },
  {
    reason: 'identity-disabled',
    what: 'a disabled identity',
    async arrange(world) {
      const attempt = await owned(world, await makeLeaf(root))
      const path = `/identities/${attempt.identityId}/disable`
      await world.admin.act('POST', path, { durationMinutes: 0 })
      return attempt
    },
  },
  {
    reason: 'method-not-allowed',
    what: 'a policy without certificates',
    async arrange({ admin }) {
      const leaf = await makeLeaf(root)
      const policy = await admin.createPolicy(NO_CERT)
      const { id } = await admin.createIdentity({ certPem: leaf.pem, policy })
      return { shown: [leaf], identityId: id }
    },
  },
  {
    reason: 'certificate-untrusted',
    rule: 'R093',
    what: 'a certificate that somebody signed with the key of his own',
    why: /./,
    async arrange(world) {
      // Attack: alice has a good certificate and its key, and makes one for a victim that is registered by claim.
      const victim = await makeLeaf(alice, { subject: '/CN=victim' })
      return strangers(await owned(world, victim, [alice, middle]))
    },
  },
  {
    reason: 'certificate-untrusted',
    rule: 'R093',
    what: 'a certificate of his own in front of a stolen good chain',
    async arrange() {
      // Attack: a certificate is public; whoever has seen hers sends it behind one whose key he holds.
      const mine = await make({ subject: '/CN=alice', extensions: LEAF_EXTENSIONS })
      return { shown: [mine, alice, middle, root] }
    },
  },
  {
    reason: 'certificate-unknown',
    rule: 'R093',
    what: 'a good certificate of a colleague in front of hers',
    async arrange() {
      const colleague = await makeLeaf(middle, { subject: '/CN=alice' })
      return { shown: [colleague, alice, middle] }
    },
  },
  {
    reason: 'certificate-untrusted',
    rule: 'R093',
    what: 'junk between a certificate of his own and a good CA',
    async arrange() {
      const mine = await makeCa({ subject: middle.subject })
      const leaf = await makeLeaf(mine, { subject: '/CN=alice' })
      return { shown: [leaf, mine, await makeLeaf(root), middle, root] }
    },
  },
  {
    reason: 'certificate-untrusted',
    rule: 'R093',
    what: 'a certificate with hers as text inside it',
    why: /cannot be read/,
    async arrange() {
      // Attack: a parser that looks for PEM first takes the one in the comment for the one whose key was proven.
      const inside = Buffer.from(`\n${alice.pem}\n`).toString('hex')
      const extensions = [...LEAF_EXTENSIONS, `1.3.6.1.4.1.99999.1=DER:${inside}`]
      return { shown: [await makeLeaf(middle, { extensions }), middle] }
    },
  },
  {
    reason: 'certificate-untrusted',
    what: 'very many certificates',
    why: /too many/,
    arrange: async () => ({ shown: [alice, ...Array.from({ length: 11 }, () => middle)] }),
  },
]

test('certificates that do not log in', async (t) => {
  const service = await startService(t, { config: WITHOUT_LIMIT })
  const admin = await administrate(service)
  const world = { admin, own: await ownIssuingCa(service) }
  await registerCa(admin, openssl, root)
  const policy = await admin.createPolicy(CERT_ALLOWED)
  await admin.createIdentity({ name: 'alice', certPem: alice.pem, policy })
  const first = await certificateLogin(presenting(service, alice, middle))
  assert.equal(first.status, 302, 'alice herself gets in')

  const clientFor = ({ shown: [leaf, ...others] }: Attempt) =>
    leaf === undefined ? service : presenting(service, leaf, ...others)

  let other: Reply | undefined
  for (const { reason, rule = 'R095', what, why, arrange } of REFUSALS) {
    await t.test(`${rule}: the reason is ${reason} for ${what}, and nobody is told`, async () => {
      const attempt = await arrange(world)
      const client = clientFor(attempt)
      const reply = await certificateLogin(client)
      assert.equal(reply.status, 401, reply.text)
      assert.equal(reply.json().error.code, 'INVALID_AUTH')
      assert.equal(reply.headers['www-authenticate'], MISSING)
      assert.equal(reply.headers.location, undefined)
      other ??= reply
      assert.deepEqual(comparable(reply), comparable(other), 'R077: the same answer')

      const event = await failureOf(service, reply)
      assert.equal(event.reason, reason)
      assert.equal(event.identityId, attempt.identityId ?? null)
      assert.equal(event.details.method, 'cert')
      if (why !== undefined) assert.match(event.details.why, why)
    })
  }

  await t.test('R077: the same holds for a page, which offers the password', async () => {
    const pages = new Set<string>()
    for (const { arrange } of REFUSALS.slice(1, 13)) {
      const client = clientFor(await arrange(world))
      const { authRequestId } = await beginLogin(client)
      const reply = await client.call('/oidc/login/cert', {
        form: [['authRequestId', authRequestId]],
        headers: { accept: 'text/html' },
      })
      assert.equal(reply.status, 401)
      assert.equal(reply.headers['www-authenticate'], MISSING)
      assert.match(reply.headers['content-type'] ?? '', /^text\/html/)
      const link = `/oidc/login/username?authRequestID=${authRequestId}`
      assert.ok(reply.text.includes(`href="${link}"`), reply.text)
      pages.add(reply.text.replaceAll(authRequestId, ''))
    }
    assert.equal(pages.size, 1)
  })

  await t.test('what is wrong with the id comes before the certificate', async () => {
    for (const json of [{}, { authRequestId: '' }, { authRequestId: 'x' }]) {
      const reply = await presenting(service, alice, middle).call('/oidc/login/cert', { json })
      assert.equal(reply.status, 400, reply.text)
    }
    const { authRequestId } = await beginLogin(service)
    const client = presenting(service, alice, middle)
    assert.equal((await submitCertificate(client, authRequestId)).status, 302)
    const again = await submitCertificate(client, authRequestId)
    assert.equal(again.status, 400)
    assert.equal(again.json().error.code, 'INVALID_AUTH_REQUEST', 'D-13: the code is issued')
  })

  await t.test('API 4.8: neither an event nor the log holds a certificate or a key', async () => {
    const all = JSON.stringify([service.log, await sql(service, 'select * from events')])
    assert.ok(all.includes('certificate-untrusted'))
    for (const secret of ['BEGIN CERTIFICATE', 'PRIVATE KEY']) {
      assert.equal(all.includes(secret), false, secret)
    }
  })
})
