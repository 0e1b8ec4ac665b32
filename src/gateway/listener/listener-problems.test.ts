/** Certificates that browsers or clients could not accept are refused, each with its reason. D-394. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import {
  LEAF_EXTENSIONS,
  type MadeCertificate,
  openOpenssl,
} from '../../../test/support/certificates/openssl.ts'
import { Secret } from '../../base/secrets/secret.ts'
import { systemClock } from '../../base/time/clock.ts'
import { days } from '../../base/time/duration.ts'
import { plus } from '../../base/time/instant.ts'
import { checkListener } from './listener-problems.ts'

const openssl = await openOpenssl()
after(() => openssl.close())
const ca = await openssl.makeCa({ subject: '/CN=CA' })
const NOW = systemClock.now()

const server = (...more: readonly string[]) => [
  ...LEAF_EXTENSIONS.filter((line) => !line.startsWith('extendedKeyUsage')),
  ...more,
]
const GOOD = server(
  'extendedKeyUsage=serverAuth,clientAuth',
  'subjectAltName=DNS:gw.example.com,DNS:*.apps.example.com,IP:10.1.2.3',
)
const leaf = (extensions: readonly string[]) =>
  openssl.makeLeaf(ca, { subject: '/CN=gw.example.com', extensions: [...extensions] })
const good = await leaf(GOOD)
const other = await leaf(GOOD)

function check(
  { pem, keyPem }: Pick<MadeCertificate, 'pem' | 'keyPem'>,
  hosts: readonly string[] = [],
  now = NOW,
) {
  const given = { certificatePem: pem, keyPem: new Secret(keyPem) }
  return checkListener(given, [{ name: 'app', hosts }], now)
}

test('a certificate for servers with the names of the upstreams is accepted', () => {
  const checked = check(good, ['gw.example.com', 'a.apps.example.com', '10.1.2.3'])
  assert.ok('certificate' in checked, JSON.stringify(checked))
  assert.ok(checked.notAfter > NOW)
  assert.ok('certificate' in check({ ...good, pem: `${good.pem}${ca.pem}` }))
})

test('what clients could not accept is named', async () => {
  const clientOnly = await leaf(
    server('extendedKeyUsage=clientAuth', 'subjectAltName=DNS:gw.example.com'),
  )
  const nameless = await leaf(server('extendedKeyUsage=serverAuth'))
  const uriOnly = await leaf(
    server('extendedKeyUsage=serverAuth', 'subjectAltName=URI:spiffe://a/b'),
  )
  const asCa = await leaf([
    'basicConstraints=critical,CA:TRUE',
    'extendedKeyUsage=serverAuth',
    'subjectAltName=DNS:gw.example.com',
  ])
  const cases: readonly (readonly [Parameters<typeof check>, RegExp])[] = [
    [[clientOnly], /lacks serverAuth/],
    [[nameless], /names no host/],
    [[uriOnly], /names no host/],
    [[asCa], /CA:TRUE/],
    [[{ ...good, keyPem: other.keyPem }], /key does not belong to the certificate/],
    [[{ ...good, pem: `${good.pem}${other.pem}` }], /did not issue certificate 1/],
    [[{ ...good, pem: 'nothing' }], /holds no certificate/],
    [[{ ...good, keyPem: 'nothing' }], /holds no private key/],
    [[good, ['other.example.com']], /not for other\.example\.com, a host of the upstream "app"/],
    [[good, ['a.b.apps.example.com']], /not for a\.b\.apps\.example\.com/],
    [[good, ['10.1.2.4']], /not for 10\.1\.2\.4/],
    [[good, [], plus(NOW, days(36_500))], /expired at /],
    [[good, [], plus(NOW, days(-36_500))], /not valid before /],
  ]
  for (const [given, reason] of cases) {
    const checked = check(...given)
    assert.ok('problems' in checked, String(reason))
    assert.match(checked.problems.join('; '), reason)
    assert.doesNotMatch(checked.problems.join('; '), /PRIVATE KEY/)
  }
})

test('all problems are named at once', async () => {
  const bad = await leaf(server('extendedKeyUsage=clientAuth'))
  const checked = check({ ...bad, keyPem: good.keyPem })
  assert.ok('problems' in checked)
  assert.equal(checked.problems.length, 3)
})
