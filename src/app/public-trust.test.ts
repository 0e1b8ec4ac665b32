/** D-200: for which certificates a listener tells browsers to use only https. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { rootCertificates } from 'node:tls'
import { openOpenssl } from '../../test/support/certificates/openssl.ts'
import { isPubliclyTrusted } from './public-trust.ts'

const openssl = await openOpenssl()
after(() => openssl.close())
const root = await openssl.makeCa({ subject: '/CN=Public Root' })
const issuing = await openssl.makeCa({ subject: '/CN=Public Issuing', issuer: root })
const leaf = await openssl.makeLeaf(issuing, { subject: '/CN=id.example.com' })
const direct = await openssl.makeLeaf(root, { subject: '/CN=id.example.com' })
// The name of a public root, but another key: a name alone proves nothing.
const namesake = await openssl.makeCa({ subject: '/CN=Public Root' })
const forged = await openssl.makeLeaf(namesake, { subject: '/CN=id.example.com' })

const ROOTS = [...rootCertificates.slice(0, 3), root.pem]

for (const [what, chain, expected] of [
  ['a certificate and its intermediate', `${leaf.pem}${issuing.pem}`, true],
  ['a certificate of the root itself', direct.pem, true],
  ['a chain with the root in it', `${leaf.pem}${issuing.pem}${root.pem}`, true],
  ['a certificate without its intermediate', leaf.pem, false],
  ["a certificate of the root's namesake", `${forged.pem}${namesake.pem}`, false],
  ['nothing', '', false],
  [
    'what is not a certificate',
    '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----',
    false,
  ],
] as const) {
  test(`${what} is ${expected ? '' : 'not '}publicly trusted`, () => {
    assert.equal(isPubliclyTrusted(chain, ROOTS), expected)
  })
}

test('a root of our own is not public', () => {
  assert.equal(isPubliclyTrusted(`${leaf.pem}${issuing.pem}${root.pem}`), false)
})
