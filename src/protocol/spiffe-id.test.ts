/** The name in a session certificate is written and read in one form, and nothing near it is taken for one. D-40. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiSessionId, IdentityId, SessionCertificateId } from '../base/ids.ts'
import { parseSessionCertificateUri, sessionCertificateUri } from './spiffe-id.ts'

const NAME = {
  trustDomain: 'door.example',
  identityId: 'i1' as IdentityId,
  sessionId: 's2' as ApiSessionId,
  certificateId: 'c3' as SessionCertificateId,
}
const URI = 'spiffe://door.example/identity/i1/apiSession/s2/apiSessionCertificate/c3'

test('D-40: the name is a SPIFFE id of identity, session and certificate', () => {
  assert.equal(sessionCertificateUri(NAME), URI)
})

test('D-40: what was written is read back', () => {
  assert.deepEqual(parseSessionCertificateUri(URI), NAME)
})

const OTHERS: Readonly<Record<string, string>> = {
  nothing: '',
  'an enrolled certificate': 'spiffe://door.example/identity/i1',
  'a session without a certificate': 'spiffe://door.example/identity/i1/apiSession/s2',
  'a name that goes on': `${URI}/more`,
  'a name with a slash at the end': `${URI}/`,
  'an empty trust domain': URI.replace('door.example', ''),
  'an empty identity': URI.replace('i1', ''),
  'an empty certificate': URI.replace('c3', ''),
  'another scheme': URI.replace('spiffe', 'https'),
  'other case': URI.replace('apiSession/', 'apisession/'),
  'something in front': ` ${URI}`,
  'two lines': `spiffe://x\n${URI}`,
  'a line behind': `${URI}\n`,
}

for (const [what, text] of Object.entries(OTHERS)) {
  test(`${what} is not the name of a session certificate`, () => {
    assert.equal(parseSessionCertificateUri(text), undefined)
  })
}
