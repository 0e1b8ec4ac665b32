/**
 * Bodies of management writes that are not what they should be. API 1: unknown fields are named; D-45: the cause has
 * the field and the reason, never the value.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bearer } from '../../support/login/login.ts'
import { administrate, assertRefused, MANAGEMENT } from '../../support/management.ts'
import { ADMIN, startService } from '../../support/service.ts'

const IDENTITY = { name: 'somebody', type: 'Default', isAdmin: false }
const POLICY = { name: 'a policy', primary: { cert: { allowed: true } } }
const SIGNER = {
  name: 'a signer',
  issuer: 'https://idp.example',
  audience: 'latchkey',
  jwksEndpoint: 'https://idp.example/keys',
}
const CA = { name: 'a ca', certPem: 'x' }
const UPDB = { method: 'updb', identityId: 'x', username: 'ada', password: 'correct horse' }

type Case = readonly [path: string, body: unknown, field: string]

/** What each of these is refused for. An unknown field is named before any other fault (API 1), else the first one. */
const INVALID: Readonly<Record<string, Case>> = {
  'a list': ['/identities', [], 'body'],
  null: ['/identities', null, 'body'],
  'a text': ['/identities', 'x', 'body'],
  'no name': ['/identities', { ...IDENTITY, name: undefined }, 'name'],
  'an empty name': ['/identities', { ...IDENTITY, name: '' }, 'name'],
  'a name of 257 characters': ['/identities', { ...IDENTITY, name: 'x'.repeat(257) }, 'name'],
  'a name that is a number': ['/identities', { ...IDENTITY, name: 7 }, 'name'],
  'a name with NUL': ['/identities', { ...IDENTITY, name: 'a\0b' }, 'name'],
  'a name with a line end': ['/identities', { ...IDENTITY, name: 'a\nb' }, 'name'],
  'a name with a C1 control': ['/identities', { ...IDENTITY, name: 'a\u0085b' }, 'name'],
  'a name with a line separator': ['/identities', { ...IDENTITY, name: 'a\u2028b' }, 'name'],
  'a name with half a character': ['/identities', { ...IDENTITY, name: 'a\ud800' }, 'name'],
  'a name of blanks': ['/identities', { ...IDENTITY, name: '   ' }, 'name'],
  'a name with a blank at its end': ['/identities', { ...IDENTITY, name: 'admin ' }, 'name'],
  'no type': ['/identities', { ...IDENTITY, type: undefined }, 'type'],
  'an unknown type': ['/identities', { ...IDENTITY, type: 'Admin' }, 'type'],
  'no isAdmin': ['/identities', { ...IDENTITY, isAdmin: undefined }, 'isAdmin'],
  'isAdmin as text': ['/identities', { ...IDENTITY, isAdmin: 'true' }, 'isAdmin'],
  'an empty external id': ['/identities', { ...IDENTITY, externalId: '' }, 'externalId'],
  'a long external id': ['/identities', { ...IDENTITY, externalId: 'x'.repeat(257) }, 'externalId'],
  'an unknown policy': ['/identities', { ...IDENTITY, authPolicyId: 'nothing' }, 'authPolicyId'],
  'a policy of NUL': ['/identities', { ...IDENTITY, authPolicyId: '\0' }, 'authPolicyId'],
  'an unknown field': ['/identities', { ...IDENTITY, colour: 'red' }, 'colour'],
  'an unknown field, and fields that are missing': ['/identities', { nmae: 'x' }, 'nmae'],
  'an unknown field inside, and others missing': [
    '/auth-policies',
    { primary: { cert: { allow: true } } },
    'primary.cert.allow',
  ],
  'an id of its own': ['/identities', { ...IDENTITY, id: 'mine' }, 'id'],
  // Enrollment comes later; until then it must not be ignored.
  'two enrollments at once': [
    '/identities',
    { ...IDENTITY, enrollment: { ott: true, updb: 'zoe' } },
    'enrollment',
  ],
  'an enrollment of no kind': ['/identities', { ...IDENTITY, enrollment: {} }, 'enrollment'],
  'an enrollment by an unknown CA': [
    '/identities',
    { ...IDENTITY, enrollment: { ottca: 'nothing' } },
    'enrollment.ottca',
  ],
  'an enrollment with a username that grows': [
    '/identities',
    { ...IDENTITY, enrollment: { updb: '\ufdfa'.repeat(20) } },
    'enrollment.updb',
  ],
  'a role that is empty': [
    '/identities',
    { ...IDENTITY, roleAttributes: [''] },
    'roleAttributes.0',
  ],
  'roles as text': ['/identities', { ...IDENTITY, roleAttributes: 'a' }, 'roleAttributes'],
  'tags as a list': ['/identities', { ...IDENTITY, tags: [] }, 'tags'],
  'a tag that is a map': ['/identities', { ...IDENTITY, tags: { a: {} } }, 'tags.a'],
  'a tag that is too long': [
    '/identities',
    { ...IDENTITY, tags: { a: 'x'.repeat(4097) } },
    'tags.a',
  ],
  'a tag with NUL': ['/identities', { ...IDENTITY, tags: { a: '\0' } }, 'tags.a'],
  'a tag without a name': ['/identities', { ...IDENTITY, tags: { '': 1 } }, 'tags.'],
  'too many tags': [
    '/identities',
    { ...IDENTITY, tags: Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`t${i}`, i])) },
    'tags',
  ],
  'an unknown method': ['/authenticators', { ...UPDB, method: 'totp' }, 'method'],
  'no method': ['/authenticators', { ...UPDB, method: undefined }, 'method'],
  'no username': ['/authenticators', { ...UPDB, username: undefined }, 'username'],
  'a username of 257 characters': [
    '/authenticators',
    { ...UPDB, username: 'x'.repeat(257) },
    'username',
  ],
  // Eighteen characters each, once it is folded.
  'a username that grows': [
    '/authenticators',
    { ...UPDB, username: '\ufdfa'.repeat(20) },
    'username',
  ],
  'a username with NUL': ['/authenticators', { ...UPDB, username: 'a\0' }, 'username'],
  'no password': ['/authenticators', { ...UPDB, password: undefined }, 'password'],
  'a password that is a number': ['/authenticators', { ...UPDB, password: 12345678 }, 'password'],
  'an unknown identity': ['/authenticators', UPDB, 'identityId'],
  'a certificate for updb': ['/authenticators', { ...UPDB, certPem: 'x' }, 'certPem'],
  'a hash instead of a password': [
    '/authenticators',
    { ...UPDB, passwordHash: 'x' },
    'passwordHash',
  ],
  'no primary': ['/auth-policies', { name: 'x' }, 'primary'],
  'no primary method': ['/auth-policies', { ...POLICY, primary: {} }, 'primary'],
  'only forbidden methods': [
    '/auth-policies',
    { ...POLICY, primary: { cert: { allowed: false }, updb: { allowed: false } } },
    'primary',
  ],
  'a part without allowed': [
    '/auth-policies',
    { ...POLICY, primary: { cert: {} } },
    'primary.cert.allowed',
  ],
  'an unknown part': [
    '/auth-policies',
    { ...POLICY, primary: { ...POLICY.primary, pin: { allowed: true } } },
    'primary.pin',
  ],
  'a short minimum': [
    '/auth-policies',
    { ...POLICY, primary: { updb: { allowed: true, minPasswordLength: 7 } } },
    'primary.updb.minPasswordLength',
  ],
  'attempts below zero': [
    '/auth-policies',
    { ...POLICY, primary: { updb: { allowed: true, maxAttempts: -1 } } },
    'primary.updb.maxAttempts',
  ],
  'half an attempt': [
    '/auth-policies',
    { ...POLICY, primary: { updb: { allowed: true, maxAttempts: 0.5 } } },
    'primary.updb.maxAttempts',
  ],
  'an unknown signer': [
    '/auth-policies',
    { ...POLICY, primary: { extJwt: { allowed: true, allowedSigners: ['nothing'] } } },
    'primary.extJwt.allowedSigners',
  ],
  'a signer twice': [
    '/auth-policies',
    { ...POLICY, primary: { extJwt: { allowed: true, allowedSigners: ['x', 'x'] } } },
    'primary.extJwt.allowedSigners',
  ],
  'an unknown secondary signer': [
    '/auth-policies',
    { ...POLICY, secondary: { requireExtJwt: 'nothing' } },
    'secondary.requireExtJwt',
  ],
  'an unknown secondary signer in the other spelling': [
    '/auth-policies',
    { ...POLICY, secondary: { requireExtJwtSigner: 'nothing' } },
    'secondary.requireExtJwtSigner',
  ],
  'an unknown secondary signer in both spellings': [
    '/auth-policies',
    { ...POLICY, secondary: { requireExtJwt: 'nothing', requireExtJwtSigner: 'nothing' } },
    'secondary.requireExtJwt',
  ],
  'two spellings that differ': [
    '/auth-policies',
    { ...POLICY, secondary: { requireExtJwt: 'a', requireExtJwtSigner: 'b' } },
    'secondary.requireExtJwtSigner',
  ],
  'an unknown secondary signer in one spelling, and null in the other (D-309)': [
    '/auth-policies',
    { ...POLICY, secondary: { requireExtJwt: 'a', requireExtJwtSigner: null } },
    'secondary.requireExtJwt',
  ],
  'no issuer': ['/external-jwt-signers', { ...SIGNER, issuer: undefined }, 'issuer'],
  'no audience': ['/external-jwt-signers', { ...SIGNER, audience: undefined }, 'audience'],
  'no keys': ['/external-jwt-signers', { ...SIGNER, jwksEndpoint: undefined }, 'jwksEndpoint'],
  'keys of both kinds': ['/external-jwt-signers', { ...SIGNER, certPem: 'x' }, 'jwksEndpoint'],
  'a kid for an endpoint': ['/external-jwt-signers', { ...SIGNER, kid: 'x' }, 'kid'],
  'a broken pointer': [
    '/external-jwt-signers',
    { ...SIGNER, claimsProperty: '/a~2' },
    'claimsProperty',
  ],
  'a target that is none': [
    '/external-jwt-signers',
    { ...SIGNER, targetToken: 'REFRESH' },
    'targetToken',
  ],
  'two scopes in one': ['/external-jwt-signers', { ...SIGNER, scopes: ['a b'] }, 'scopes.0'],
  'an endpoint that is no URL': [
    '/external-jwt-signers',
    { ...SIGNER, jwksEndpoint: 'keys' },
    'jwksEndpoint',
  ],
  'an endpoint in a file': [
    '/external-jwt-signers',
    { ...SIGNER, jwksEndpoint: 'file:///etc/passwd' },
    'jwksEndpoint',
  ],
  'plain http to elsewhere': [
    '/external-jwt-signers',
    { ...SIGNER, jwksEndpoint: 'http://idp.example/keys' },
    'jwksEndpoint',
  ],
  'an endpoint with a password': [
    '/external-jwt-signers',
    { ...SIGNER, jwksEndpoint: 'https://me:secret@idp.example/keys' },
    'jwksEndpoint',
  ],
  'a login page that is a script': [
    '/external-jwt-signers',
    { ...SIGNER, externalAuthUrl: 'javascript:alert(1)' },
    'externalAuthUrl',
  ],
  'a CA without a certificate': ['/cas', { name: 'x' }, 'certPem'],
  'a claim without a location': [
    '/cas',
    { ...CA, externalIdClaim: {} },
    'externalIdClaim.location',
  ],
  'a prefix of nothing': [
    '/cas',
    { ...CA, externalIdClaim: { location: 'COMMON_NAME', matcher: 'PREFIX' } },
    'externalIdClaim.matcherCriteria',
  ],
  'a split at nothing': [
    '/cas',
    { ...CA, externalIdClaim: { location: 'COMMON_NAME', parser: 'SPLIT' } },
    'externalIdClaim.parserCriteria',
  ],
  'an index below zero': [
    '/cas',
    { ...CA, externalIdClaim: { location: 'COMMON_NAME', index: -1 } },
    'externalIdClaim.index',
  ],
  'a verification token of its own': [
    '/cas',
    { ...CA, verificationToken: 'x' },
    'verificationToken',
  ],
  'a CA that calls itself verified': ['/cas', { ...CA, isVerified: true }, 'isVerified'],
}

test('bodies that are refused', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const post = (path: string, body: string, type: string) =>
    service.call(`${MANAGEMENT}${path}`, {
      method: 'POST',
      headers: { ...bearer(admin.token).headers, 'content-type': type },
      body,
    })

  for (const [what, [path, body, field]] of Object.entries(INVALID)) {
    await t.test(`${path} refuses ${what}, and names ${field}`, async () => {
      assertRefused(await admin.call('POST', path, body), 400, 'COULD_NOT_VALIDATE', field)
    })
  }

  await t.test('the error for a taken username names the field that was sent', async () => {
    const body = { ...IDENTITY, enrollment: { updb: ADMIN.username } }
    const reply = await admin.call('POST', '/identities', body)
    assertRefused(reply, 409, 'ENTITY_NAME_IN_USE', 'enrollment.updb')
  })

  await t.test('a change of a policy names the spelling that it used', async () => {
    for (const signer of ['nothing', 7]) {
      const secondary = { requireExtJwtSigner: signer }
      const field = 'secondary.requireExtJwtSigner'
      for (const [method, path, body] of [
        ['PUT', '/auth-policies/default', { ...POLICY, secondary }],
        ['PATCH', '/auth-policies/default', { secondary }],
        ['POST', '/auth-policies/default/what-if', { secondary }],
      ] as const) {
        const reply = await admin.call(method, path, body)
        assertRefused(reply, 400, 'COULD_NOT_VALIDATE', field)
      }
    }
  })

  await t.test('D-11: nothing at all counts as {}', async () => {
    assertRefused(await admin.call('POST', '/identities'), 400, 'COULD_NOT_VALIDATE', 'name')
  })

  await t.test('what is not JSON is not parsed, and another content type is 415', async () => {
    for (const body of ['{', '{"name":"a","name":"b"}', '"\xff', 'name=x']) {
      const reply = await post('/identities', body, 'application/json')
      assertRefused(reply, 400, 'COULD_NOT_PARSE_BODY')
    }
    for (const type of ['application/x-www-form-urlencoded', 'text/plain', 'application/xml']) {
      const reply = await post('/identities', 'name=x', type)
      assertRefused(reply, 415, 'UNSUPPORTED_MEDIA_TYPE')
    }
  })

  await t.test('a member named __proto__ is refused wherever it stands', async () => {
    const ends = '"name":"x","type":"Default","isAdmin":false'
    const own = await post(
      '/identities',
      `{${ends},"__proto__":{"isAdmin":true}}`,
      'application/json',
    )
    assertRefused(own, 400, 'COULD_NOT_VALIDATE', '__proto__')
    const tags = await post('/identities', `{${ends},"tags":{"__proto__":"x"}}`, 'application/json')
    assertRefused(tags, 400, 'COULD_NOT_VALIDATE', 'tags')
  })

  await t.test('D-45, R108: a refusal never repeats the value, nor does the log', async () => {
    const marker = 'hunter2-hunter2'
    for (const [path, body] of [
      ['/identities', { ...IDENTITY, type: marker }],
      ['/identities', { ...IDENTITY, externalId: `${marker}\0` }],
      ['/authenticators', { ...UPDB, password: marker }],
      ['/authenticators', { ...UPDB, method: marker }],
      ['/external-jwt-signers', { ...SIGNER, jwksEndpoint: `https://me:${marker}@idp.example` }],
      ['/cas', { ...CA, certPem: marker }],
    ] as const) {
      const reply = await admin.call('POST', path, body)
      assert.equal(reply.status, 400, reply.text)
      assert.ok(!reply.text.includes(marker), reply.text)
    }
    assert.ok(!JSON.stringify(service.log).includes(marker))
  })

  await t.test('a name of a field is not repeated forever', async () => {
    const long = 'x'.repeat(10_000)
    const reply = await admin.call('POST', '/identities', { ...IDENTITY, [long]: 1 })
    assertRefused(reply, 400, 'COULD_NOT_VALIDATE', 'x'.repeat(64))
  })

  await t.test('nothing was made by any of these', async () => {
    const kinds = ['identities', 'authenticators', 'auth-policies', 'external-jwt-signers', 'cas']
    const counts = []
    for (const kind of kinds) {
      counts.push((await admin.call('GET', `/${kind}`)).json().meta.pagination.totalCount)
    }
    assert.deepEqual(counts, [1, 1, 2, 0, 0])
  })
})
