import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  bearerExpired,
  bearerInvalid,
  formatChallenges,
  missingToken,
  parseChallenges,
  ztSessionInvalid,
} from './challenge.ts'

test('no token gives both challenges in one field, zt-session first (SPEC 401 challenges, R064)', () => {
  assert.equal(
    formatChallenges(missingToken('service')),
    'zt-session realm="zt-session", error="missing", error_description="no matching token was provided", ' +
      'Bearer realm="service-oidc", error="missing", error_description="no matching token was provided"',
  )
})

test('expired and invalid bearer tokens get the words of the SPEC (R065)', () => {
  assert.equal(
    formatChallenges([bearerExpired('service')]),
    'Bearer realm="service-oidc", error="expired", error_description="token expired"',
  )
  assert.equal(
    formatChallenges([bearerInvalid('service')]),
    'Bearer realm="service-oidc", error="invalid", error_description="token is invalid"',
  )
})

test('an unknown zt-session is called invalid in its own realm (D-36)', () => {
  assert.equal(
    formatChallenges([ztSessionInvalid()]),
    'zt-session realm="zt-session", error="invalid", error_description="token is invalid"',
  )
})

test('the brand is the prefix of the bearer realm and of nothing else (D-1)', () => {
  const field = formatChallenges(missingToken('acme'))
  assert.match(field, /^zt-session realm="zt-session", .*, Bearer realm="acme-oidc", /)
  assert.doesNotMatch(field, /service/)
})

test('id and issuer come last, quoted and escaped (D-37, R066)', () => {
  const expired = bearerExpired('service')
  assert.equal(
    formatChallenges([{ ...expired, id: 'a"b', issuer: 'https://idp.example/a\\b, c' }]),
    'Bearer realm="service-oidc", error="expired", error_description="token expired", ' +
      'id="a\\"b", issuer="https://idp.example/a\\\\b, c"',
  )
})

test('what cannot be in a header field is percent-encoded as UTF-8', () => {
  // Attack: an issuer with a line break would add a header field to the answer.
  const expired = bearerExpired('service')
  const field = formatChallenges([
    { ...expired, issuer: 'https://bücher.example/\r\nSet-Cookie: a' },
  ])
  assert.match(field, /issuer="https:\/\/b%C3%BCcher\.example\/%0D%0ASet-Cookie: a"$/)
})

test('challenges of other servers are read as RFC 9110 writes them', () => {
  // The example of RFC 9110 §11.6.1.
  assert.deepEqual(
    parseChallenges(
      'Basic realm="simple", Newauth realm="apps", type=1, title="Login to \\"apps\\""',
    ),
    [
      { scheme: 'Basic', token68: undefined, parameters: new Map([['realm', 'simple']]) },
      {
        scheme: 'Newauth',
        token68: undefined,
        parameters: new Map([
          ['realm', 'apps'],
          ['type', '1'],
          ['title', 'Login to "apps"'],
        ]),
      },
    ],
  )
  assert.deepEqual(parseChallenges(' , Negotiate YWJj/+==,, NTLM ,Bearer Realm = "x" ,'), [
    { scheme: 'Negotiate', token68: 'YWJj/+==', parameters: new Map() },
    { scheme: 'NTLM', token68: undefined, parameters: new Map() },
    { scheme: 'Bearer', token68: undefined, parameters: new Map([['realm', 'x']]) },
  ])
  assert.deepEqual(parseChallenges(''), [])
})

test('a text that breaks the grammar is not a list of challenges', () => {
  const broken = [
    'realm="x"',
    'Bearer realm="x',
    'Bearer realm="x\\"',
    'Bearer realm="x"error="y"',
    'Bearer realm="x" error="y"',
    'Bearer realm="x", REALM="y"',
    'Bearer a="b", realm=',
    'Bearer realm="a\nb"',
    'Bearer realm="a\\\nb"',
    'Bearer, realm="x"',
    'Basic YWJj, realm="x"',
    'Basic YWJj YWJj',
    'Bearer =x',
    '"Bearer"',
    'Bearer realm="x"; error="y"',
  ]
  for (const text of broken) assert.equal(parseChallenges(text), undefined, text)
})
