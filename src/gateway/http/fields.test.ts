import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { clientFields, type Field, fieldsOf, upstreamFields, valuesOf } from './fields.ts'

const OWN = {
  host: 'upstream:80',
  identityId: 'i1',
  sessionId: 's1',
  requestId: 'r1',
  remoteAddress: '192.0.2.1',
  forwardedHost: 'gateway.example',
}

const ADDED: readonly Field[] = [
  ['host', 'upstream:80'],
  ['x-latchkey-identity-id', 'i1'],
  ['x-latchkey-session-id', 's1'],
  ['x-request-id', 'r1'],
  ['x-forwarded-for', '192.0.2.1'],
  ['x-forwarded-host', 'gateway.example'],
  ['x-forwarded-proto', 'https'],
]

/** What is left of these fields, beside what the gateway adds. */
function kept(...fields: readonly Field[]): readonly Field[] {
  return upstreamFields(fields, OWN).filter(
    ([name, value]) => !ADDED.some((own) => own[0] === name && own[1] === value),
  )
}

test('the upstream gets the identity of the caller, once', () => {
  assert.deepEqual(upstreamFields([], OWN), ADDED)
})

test('other fields pass as they came, in their order, repeated ones too', () => {
  const fields: readonly Field[] = [
    ['Accept', 'a'],
    ['Cookie', 'x=1'],
    ['accept', 'b'],
    ['X-Own_Thing', 'c'],
  ]
  assert.deepEqual(kept(...fields), fields)
})

// An upstream reads who calls from these fields; a client that could send one could claim any identity.
describe('a client cannot send', () => {
  const names = [
    'X-Latchkey-Identity-Id',
    'x-latchkey-session-id',
    'x-latchkey-whatever-comes-later',
    // CGI, WSGI and Rack turn these into the same variable as the real one.
    'X_Latchkey_Identity_Id',
    'x-latchkey_identity-id',
    'x.latchkey.identity.id',
    "x'latchkey!identity~id",
    'Authorization',
    'AUTHORIZATION',
    'zt-session',
    'ZT_Session',
    'X-Request-Id',
    'X_Request_Id',
    'X-Forwarded-For',
    'X_Forwarded_For',
    'x-forwarded-proto',
    'x-forwarded-client-cert',
    'Forwarded',
    'X-Real-IP',
    // Some servers serve the path that these name instead of that of the request, which the gateway has judged.
    'X-Original-URL',
    'X_Original_Url',
    'X-Original-URI',
    'X-Original-Host',
    'X-Rewrite-URL',
    // RFC 9440 §2.4: the certificate of the caller.
    'Client-Cert',
    'client_cert_chain',
    'Host',
    'Content-Length',
    'Content_Length',
    'Transfer-Encoding',
    'Transfer_Encoding',
    'TE',
    'Trailer',
    'Upgrade',
    'HTTP2-Settings',
    'Keep-Alive',
    'Connection',
    'Proxy-Authorization',
    'Proxy-Connection',
    'Proxy_Anything',
    'Proxy',
    'Expect',
  ]
  for (const name of names) test(name, () => assert.deepEqual(kept([name, 'forged']), []))
})

test('what Connection names is removed, in whatever spelling', () => {
  const fields: readonly Field[] = [
    ['Connection', 'close, X-Hop , ,x_other'],
    ['connection', 'X-Third'],
    ['x-hop', '1'],
    ['X-Other', '2'],
    ['X-Third', '3'],
    ['X-End', '4'],
  ]
  assert.deepEqual(kept(...fields), [['X-End', '4']])
})

// A proxy that obeyed would take our own fields for the client's, and the upstream would not know who calls.
test('Connection cannot remove what the gateway adds', () => {
  const named = ADDED.map(([name]) => name).join(', ')
  assert.deepEqual(upstreamFields([['Connection', named]], OWN), ADDED)
})

test('an answer loses what is between two neighbours, and keeps its length', () => {
  const answer: readonly Field[] = [
    ['Connection', 'close, content-length, X-Hop'],
    ['Keep-Alive', 'timeout=5'],
    ['Transfer-Encoding', 'chunked'],
    ['Trailer', 'x'],
    ['Upgrade', 'h2c'],
    ['Proxy-Authenticate', 'Basic'],
    ['X-Hop', '1'],
    ['X-Request-Id', 'of the upstream'],
    ['Content-Length', '5'],
    ['Set-Cookie', 'a=1'],
    ['Set-Cookie', 'b=2'],
  ]
  assert.deepEqual(clientFields(answer, 'r1'), [
    ['Content-Length', '5'],
    ['Set-Cookie', 'a=1'],
    ['Set-Cookie', 'b=2'],
    ['x-request-id', 'r1'],
  ])
})

test('raw fields are read in pairs', () => {
  const fields = fieldsOf(['A', '1', 'b', '2', 'a', '3'])
  assert.deepEqual(valuesOf(fields, 'a'), ['1', '3'])
})
