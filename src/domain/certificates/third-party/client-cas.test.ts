import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { after, test } from 'node:test'
import { openOpenssl } from '../../../../test/support/certificates/openssl.ts'
import { readCertificates } from '../../../base/certificates.ts'
import { nameableCas } from './client-cas.ts'

const openssl = await openOpenssl()
after(() => openssl.close())
const own = await openssl.makeCa({ subject: '/CN=Own' })
const partner = await openssl.makeCa({ subject: '/O=Partner/CN=Partner' })

const subjects = (pem: string) => readCertificates(pem).map((ca) => ca?.subject)

test('each CA is named once, in the order given, and what cannot be read is left out', () => {
  const named = nameableCas([own.pem, 'nothing', partner.pem, own.pem + partner.pem])
  assert.deepEqual(subjects(named), ['CN=Own', 'O=Partner\nCN=Partner'])
})

test('when the names are too much for a handshake none is named, which asks for any', async () => {
  // RFC 5280 A.1: 64 characters at most in each attribute, but any number of attributes.
  const long = `${`/OU=${'u'.repeat(64)}`.repeat(12)}/CN=CA`
  const many: string[] = []
  for (let i = 0; i < 14; i++) many.push((await openssl.makeCa({ subject: long })).pem)
  assert.equal(nameableCas([own.pem, ...many]), '')
  const few = nameableCas([own.pem, ...many.slice(0, 10)])
  assert.equal(subjects(few).length, 11)
  assert.equal(new X509Certificate(few).subject, 'CN=Own')
})
