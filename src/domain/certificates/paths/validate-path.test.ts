/**
 * Which paths of certificates are found and valid, with the reason why the others are not: RFC 5280 §6.1. The
 * certificates are made by openssl, so that another hand than ours says what they mean.
 */
import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { after, test } from 'node:test'
import {
  CA_EXTENSIONS,
  LEAF_EXTENSIONS,
  type MadeCertificate,
  openOpenssl,
} from '../../../../test/support/certificates/openssl.ts'
import { systemClock } from '../../../base/time/clock.ts'
import { days } from '../../../base/time/duration.ts'
import { findPaths } from './find-paths.ts'
import { validatePath } from './validate-path.ts'

const openssl = await openOpenssl()
after(() => openssl.close())
const { makeCa, makeLeaf } = openssl

const root = await makeCa({ subject: '/CN=Root' })

/** Of the first path that is found: 'valid', or why not. */
async function verdictOn(
  chain: readonly [MadeCertificate, ...MadeCertificate[]],
  anchor = root,
): Promise<string> {
  const [leaf, ...others] = chain.map(({ pem }) => new X509Certificate(pem))
  assert.ok(leaf !== undefined)
  const anchors = [{ certificate: new X509Certificate(anchor.pem) }]
  let first: string | undefined
  for (const { path } of findPaths(leaf, others, anchors).paths) {
    const verdict = await validatePath(path, systemClock.now())
    if (verdict.state === 'valid') return 'valid'
    first ??= verdict.why
  }
  return first ?? NO_PATH
}

const NO_PATH = 'there is none'

test('keys and signatures of the usual kinds are good', async () => {
  const edwards = await makeCa({ subject: '/CN=Edwards', key: 'ed25519' })
  assert.equal(await verdictOn([await makeLeaf(edwards)], edwards), 'valid')
  const rsa = await makeCa({ subject: '/CN=Rivest', key: 'rsa-2048' })
  assert.equal(await verdictOn([await makeLeaf(rsa)], rsa), 'valid')
  const options = ['-sigopt', 'rsa_padding_mode:pss', '-sigopt', 'rsa_pss_saltlen:32']
  assert.equal(await verdictOn([await makeLeaf(rsa, { options })], rsa), 'valid')
})

test('weak signatures and weak keys are refused anywhere on the path', async () => {
  const weak = (at: number) =>
    `certificate ${at} of the path: its signature algorithm is not accepted`
  const rsa = await makeCa({ subject: '/CN=Rivest', key: 'rsa-2048' })
  for (const digest of ['sha1', 'md5'] as const) {
    assert.equal(await verdictOn([await makeLeaf(rsa, { digest })], rsa), weak(1))
    const sub = await makeCa({ subject: '/CN=Weak', issuer: rsa, digest })
    assert.equal(await verdictOn([await makeLeaf(sub), sub], rsa), weak(2))
  }
  // RSASSA-PSS names its hash in a parameter.
  const options = ['-sigopt', 'rsa_padding_mode:pss']
  assert.equal(await verdictOn([await makeLeaf(rsa, { options, digest: 'sha1' })], rsa), weak(1))

  const short = await makeLeaf(root, { key: 'rsa-1024' })
  assert.equal(
    await verdictOn([short]),
    'certificate 1 of the path: its key has only 1024 bits of RSA',
  )
  const shortCa = await makeCa({ subject: '/CN=Short', issuer: root, key: 'rsa-1024' })
  assert.equal(await verdictOn([await makeLeaf(shortCa), shortCa]), NO_PATH)
  const shortAnchor = await makeCa({ subject: '/CN=Short', key: 'rsa-1024' })
  assert.equal(
    await verdictOn([await makeLeaf(shortAnchor)], shortAnchor),
    'certificate 2 of the path: its key has only 1024 bits of RSA',
  )
})

test('a certificate may end after 2050, where its date is written in another form', async () => {
  const far = await makeCa({ subject: '/CN=Far', notAfter: days(50 * 365) })
  const leaf = await makeLeaf(far, { notAfter: days(40 * 365) })
  assert.equal(await verdictOn([leaf], far), 'valid')
})

test('a CA cannot have more CAs below it than it was allowed', async () => {
  // Attack: the holder of an issuing CA makes CAs for his friends.
  const confined = await makeCa({
    subject: '/CN=Confined',
    issuer: root,
    extensions: ['basicConstraints=critical,CA:TRUE,pathlen:0', ...CA_EXTENSIONS.slice(1)],
  })
  assert.equal(await verdictOn([await makeLeaf(confined), confined]), 'valid')
  const friend = await makeCa({ subject: '/CN=Friend', issuer: confined })
  const leaf = await makeLeaf(friend)
  const why = 'certificate 3 of the path: there are more CAs below it than it allows'
  assert.equal(await verdictOn([leaf, friend, confined]), why)
  // Also where that CA is itself the anchor.
  assert.equal(await verdictOn([leaf, friend], confined), why)
})

test('an intermediate that may not sign certificates is not accepted', async () => {
  const crippled = await makeCa({
    subject: '/CN=Crippled',
    issuer: root,
    extensions: ['basicConstraints=critical,CA:TRUE', 'keyUsage=critical,cRLSign'],
  })
  const leaf = await makeLeaf(crippled, { extensions: ['extendedKeyUsage=clientAuth'] })
  assert.equal(await verdictOn([leaf, crippled]), NO_PATH)
})

test('an unknown critical extension is refused, another one is ignored', async () => {
  const critical = '1.3.6.1.4.1.99999.2=critical,ASN1:UTF8String:only on Sundays'
  const odd = (at: number) =>
    `certificate ${at} of the path: it has a critical extension that is not understood: 1.3.6.1.4.1.99999.2`
  const withExtension = (line: string) => makeLeaf(root, { extensions: [...LEAF_EXTENSIONS, line] })
  assert.equal(await verdictOn([await withExtension(critical)]), odd(1))
  assert.equal(await verdictOn([await withExtension(critical.replace('critical,', ''))]), 'valid')
  const oddCa = await makeCa({
    subject: '/CN=Odd',
    issuer: root,
    extensions: [...CA_EXTENSIONS, critical],
  })
  assert.equal(await verdictOn([await makeLeaf(oddCa), oddCa]), odd(2))
})

test('an unreadable extension is not treated as a missing one', async () => {
  // Policy constraints, which OpenSSL does not look at here, and name constraints, for which it refuses by itself.
  for (const [extension, why] of [
    [
      '2.5.29.36=DER:0403010203',
      'certificate 2 of the path: its extension 2.5.29.36 cannot be read',
    ],
    ['2.5.29.30=critical,DER:0403010203', NO_PATH],
  ] as const) {
    const broken = await makeCa({
      subject: '/CN=Broken',
      issuer: root,
      extensions: [...CA_EXTENSIONS, extension],
    })
    assert.equal(await verdictOn([await makeLeaf(broken), broken]), why)
  }
})

test('certificate policies that a PKI writes for itself change nothing', async () => {
  const sub = await makeCa({
    subject: '/CN=Policy',
    issuer: root,
    extensions: [...CA_EXTENSIONS, 'certificatePolicies=1.3.6.1.4.1.99999.3'],
  })
  assert.equal(await verdictOn([await makeLeaf(sub), sub]), 'valid')
  for (const policy of ['1.3.6.1.4.1.99999.3', '1.3.6.1.4.1.99999.4']) {
    const extensions = [...LEAF_EXTENSIONS, `certificatePolicies=${policy}`]
    assert.equal(await verdictOn([await makeLeaf(sub, { extensions }), sub]), 'valid')
  }
})

const confinedTo = (subject: string, names: string, issuer = root) =>
  makeCa({
    subject,
    issuer,
    extensions: [...CA_EXTENSIONS, `nameConstraints=critical,${names}`],
  })
const withMail = (issuer: MadeCertificate, address: string) =>
  makeLeaf(issuer, { extensions: [...LEAF_EXTENSIONS, `subjectAltName=email:${address}`] })

test('a CA that is confined to certain names vouches for no other', async () => {
  const mail = await confinedTo('/CN=Mail', 'permitted;email:.good.example')
  const good = await withMail(mail, 'a@x.good.example')
  const bad = await withMail(mail, 'a@x.bad.example')
  assert.equal(await verdictOn([good, mail]), 'valid')
  assert.match(await verdictOn([bad, mail]), /permitted sub-trees/)
  // The same where the confined CA is itself the anchor.
  assert.equal(await verdictOn([good], mail), 'valid')
  assert.match(await verdictOn([bad], mail), /permitted sub-trees/)
  const without = await confinedTo('/CN=Without', 'excluded;email:.bad.example')
  assert.match(
    await verdictOn([await withMail(without, 'a@x.bad.example'), without]),
    /excluded sub-trees/,
  )
})

test('a CA that is confined to certain names cannot let the CAs below it out', async () => {
  // Attack: the confined CA makes one that says that more is permitted.
  const mail = await confinedTo('/CN=Mail', 'permitted;email:.good.example')
  const wider = await confinedTo('/CN=Wider', 'permitted;email:.bad.example', mail)
  assert.equal(
    await verdictOn([await withMail(wider, 'a@x.bad.example'), wider, mail]),
    'more than one CA of the path is confined to certain names',
  )
  const other = await confinedTo('/CN=Other', 'permitted;otherName:1.2.3.4;UTF8:x')
  assert.equal(
    await verdictOn([await makeLeaf(other), other]),
    'a CA is confined by names of a kind that is not understood',
  )
})

test('CAs that certify each other in circles cause no endless work', async () => {
  // Attack: a search that follows issuers without remembering where it was never comes back.
  const [a, b, c] = [
    await makeCa({ subject: '/CN=A' }),
    await makeCa({ subject: '/CN=B' }),
    await makeCa({ subject: '/CN=C' }),
  ]
  const circles: MadeCertificate[] = []
  for (const issuer of [a, b, c]) {
    for (const subject of [a, b, c]) {
      if (subject === issuer) continue
      circles.push(await makeCa({ subject: subject.subject, keyOf: subject, issuer }))
    }
  }
  const leaf = await makeLeaf(a)
  assert.equal(await verdictOn([leaf, ...circles, a, b, c]), NO_PATH)
  // With a way out, it is found; and the library must not walk in circles either.
  const out = await makeCa({ subject: '/CN=A', keyOf: a, issuer: root })
  assert.equal(await verdictOn([leaf, ...circles, out]), 'valid')
  assert.equal(await verdictOn([leaf, ...circles], c), 'valid')
})
