import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { test } from 'node:test'
import { runOpenssl } from '../../../test/support/certificates/csr.ts'
import { openOpenssl } from '../../../test/support/certificates/openssl.ts'
import { UnexpectedAnswer } from '../errors.ts'
import { readBundle } from './fetch-ca.ts'

/** A message of certificates, as the openssl command makes it. */
async function bundleOf(pem: string): Promise<string> {
  const args = ['crl2pkcs7', '-nocrl', '-certfile', 'certs', '-outform', 'PEM', '-out', 'out']
  const { out } = await runOpenssl(args, { certs: pem })
  return out.replace(/-----[^-]+-----/g, '')
}

test('reads what openssl puts into a message of certificates, in its order', async () => {
  const openssl = await openOpenssl()
  try {
    const root = await openssl.makeCa()
    const issuing = await openssl.makeCa({ subject: '/CN=Issuing', issuer: root })
    const read = readBundle(await bundleOf(`${root.pem}${issuing.pem}`))
    const fingerprints = (pems: readonly string[]) =>
      pems.map((pem) => new X509Certificate(pem).fingerprint256)
    assert.deepEqual(
      read.map(({ fingerprint256 }) => fingerprint256),
      fingerprints([root.pem, issuing.pem]),
    )
  } finally {
    await openssl.close()
  }
})

test('reads nothing else', () => {
  const texts = ['', 'MAA=', 'MIAwgA==', 'AAAA', '{"keys":[]}', 'MA8GCSqGSIb3DQEHAqACMAA=']
  for (const text of texts) assert.throws(() => readBundle(text), UnexpectedAnswer, text)
})
