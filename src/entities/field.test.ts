import assert from 'node:assert/strict'
import { test } from 'node:test'
import { API_SESSION } from './api-session.ts'
import { AUTH_POLICY } from './auth-policy.ts'
import { AUTHENTICATOR } from './authenticator.ts'
import { CA } from './ca.ts'
import { ENROLLMENT } from './enrollment.ts'
import { EXTERNAL_JWT_SIGNER } from './external-jwt-signer.ts'
import { columnOf, type Fields, writableNames } from './field.ts'
import { IDENTITY } from './identity.ts'

const ALL: Readonly<Record<string, Fields>> = {
  identity: IDENTITY,
  authenticator: AUTHENTICATOR,
  policy: AUTH_POLICY,
  signer: EXTERNAL_JWT_SIGNER,
  ca: CA,
  enrollment: ENROLLMENT,
  session: API_SESSION,
}

test('the column of a field is its name in snake case', () => {
  assert.equal(columnOf('id'), 'id')
  assert.equal(columnOf('lastLoginAt'), 'last_login_at')
  assert.equal(columnOf('isOttCaEnrollmentEnabled'), 'is_ott_ca_enrollment_enabled')
})

test('an administrator chooses exactly the writable fields', () => {
  assert.deepEqual(writableNames(IDENTITY), [
    'name',
    'type',
    'isAdmin',
    'externalId',
    'authPolicyId',
    'roleAttributes',
    'hosts',
    'appData',
    'tags',
  ])
})

test('secret and internal fields are in no answer, list or table', () => {
  const hidden = Object.entries(ALL).flatMap(([entity, fields]) =>
    Object.entries(fields)
      .filter(([, { shownTo }]) => shownTo === undefined)
      .map(([name, { isListed, title }]) => {
        assert.equal(isListed, undefined, `${entity}.${name} would be filtered by`)
        assert.equal(title, undefined, `${entity}.${name} would be in a table`)
        return `${entity}.${name}`
      }),
  )
  assert.deepEqual(hidden, [
    'identity.voidedLogins',
    'identity.roleVersion',
    'authenticator.password',
    'authenticator.passwordHash',
    'authenticator.credentialVersion',
    'enrollment.tokenHash',
    'enrollment.sealedJwt',
  ])
})

test('lists filter by stored fields alone', () => {
  for (const [entity, fields] of Object.entries(ALL)) {
    for (const [name, { isListed, isComputed }] of Object.entries(fields)) {
      assert.ok(!(isListed === true && isComputed === true), `${entity}.${name}`)
    }
  }
})
