/** The CAs of our own PKI for anybody, as EST clients fetch them. API 3.2; RFC 7030 §4.1.3. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runOpenssl } from '../../support/certificates/csr.ts'
import { blocksOf } from '../../support/certificates/session-certificates.ts'
import { startService } from '../../support/service.ts'

const PATH = '/.well-known/est/cacerts'

test('openssl reads the CA bundle at each of its addresses without authentication', async (t) => {
  const service = await startService(t)
  for (const prefix of ['', '/edge/client/v1', '/edge/management/v1']) {
    for (const headers of [{}, { authorization: 'Bearer nonsense', 'zt-session': 'nonsense' }]) {
      const reply = await service.call(`${prefix}${PATH}`, { headers })
      assert.equal(reply.status, 200, reply.text)
      assert.equal(reply.headers['content-type'], 'application/pkcs7-mime')
      assert.equal(reply.headers['content-transfer-encoding'], 'base64')
      assert.equal(reply.headers['www-authenticate'], undefined)
      assert.ok(reply.text.split('\r\n').every((line) => line.length <= 76))
      const message = `-----BEGIN PKCS7-----\n${reply.text.replaceAll('\r', '')}-----END PKCS7-----\n`
      const { text } = await runOpenssl(['pkcs7', '-print_certs', '-in', 'message'], { message })
      assert.deepEqual(blocksOf(text), blocksOf(service.ca))
    }
  }
})

test('other methods get the one that is allowed', async (t) => {
  const service = await startService(t)
  const reply = await service.call(PATH, { method: 'POST', body: '' })
  assert.equal(reply.status, 405)
  assert.equal(reply.headers['allow'], 'GET, HEAD')
  assert.equal(reply.json().error.code, 'METHOD_NOT_ALLOWED')
})
