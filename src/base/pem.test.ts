/** PEM as RFC 7468 has it, read back by OpenSSL in the tests of certificates and requests. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pem } from './pem.ts'

test('a block has its label in both lines, 64 characters a line, and ends with a line end', () => {
  assert.equal(
    pem('CERTIFICATE', new Uint8Array(49)),
    `-----BEGIN CERTIFICATE-----\n${'A'.repeat(64)}\nAA==\n-----END CERTIFICATE-----\n`,
  )
  assert.equal(
    pem('CERTIFICATE REQUEST', new Uint8Array(48)),
    `-----BEGIN CERTIFICATE REQUEST-----\n${'A'.repeat(64)}\n-----END CERTIFICATE REQUEST-----\n`,
  )
})
