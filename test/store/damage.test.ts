/**
 * A damaged row is reported by its table, key and column, and never by its content: the message ends in a log.
 */
import assert from 'node:assert/strict'
import { after as afterAll, suite, test } from 'node:test'
import { inspect } from 'node:util'
import { usernameKey } from '../../src/domain/identities/authenticator.ts'
import type { Store } from '../../src/domain/stores.ts'
import { startPostgres } from '../support/stores/postgres.ts'
import { SHARED, type TestDatabase } from './databases.ts'
import {
  aCa,
  aLegacySession,
  anAuthenticator,
  anAuthority,
  anAuthRequest,
  anIdentity,
  anInvitation,
  aPolicy,
  aRefreshToken,
  aSession,
  aSigner,
  aSigningKey,
  hash,
  NOON,
  sessionId,
} from './samples.ts'
import { insertIdentity } from './seed.ts'

afterAll(async () => (await startPostgres()).stop())

const findRequest = (store: Store) => store.authRequests.find(anAuthRequest().key)
const findPolicy = (store: Store) => store.authPolicies.find(aPolicy().id)
const findIdentity = (store: Store) => store.identities.find(anIdentity().id)
const findSession = (store: Store) => store.apiSessions.find(aSession().id)
const findLegacy = (store: Store) => store.apiSessions.find(aLegacySession().id)
const findSigner = (store: Store) => store.externalJwtSigners.find(aSigner().id)
const findCa = (store: Store) => store.cas.find(aCa().id)
const findInvitation = (store: Store) => store.enrollments.find(anInvitation().id)
const findRefreshToken = (store: Store) => store.refreshTokens.find(aRefreshToken().hash)
const findByName = (store: Store) =>
  store.authenticators.findUpdb(usernameKey(anAuthenticator().username))

const body = (members: object) => `'${JSON.stringify({ marker: 'MARKER', ...members })}'`
const { ask } = anAuthRequest()
const primary = { method: 'password', authenticatorId: 'a', at: 1 }
const secondary = { totp: true }
const login = { ask, primary, secondary, byEnrollment: false }
const { primary: methods } = aPolicy()

/** Column, what it holds after the damage, and who reads it. */
const DAMAGES: Record<string, [column: string, value: string, read: (s: Store) => unknown][]> = {
  'auth_requests, row request-1': [
    ['state', "'MARKER'", findRequest],
    ['body', "'MARKER'", findRequest],
    ['body', "'[]'", findRequest],
    ['body', "'null'", findRequest],
    ['body', body({ ...login, primary: undefined }), findRequest],
    ['body', body({ ...login, primary: { ...primary, at: 1.5 } }), findRequest],
    ['body', body({ ...login, primary: { ...primary, method: 'MARKER' } }), findRequest],
    ['body', body({ ...login, primary: { ...primary, certificate: 'MARKER' } }), findRequest],
    ['body', body({ ...login, secondary: { totp: 1 } }), findRequest],
    ['body', body({ ...login, secondary: undefined }), findRequest],
    ['body', body({ ...login, byEnrollment: undefined }), findRequest],
    ['body', body({ ...login, ask: { ...ask, scopes: 'openid' } }), findRequest],
    ['body', body({ ...login, ask: { ...ask, redirectUri: undefined } }), findRequest],
    ['body', body({ ...login, ask: { ...ask, nonce: 7 } }), findRequest],
    ['code_hash', 'null', findRequest],
    ['code_expires_at', 'null', findRequest],
  ],
  'auth_policies, row policy-1': [
    ['body', "'MARKER'", findPolicy],
    ['body', body({ primary: methods }), findPolicy],
    ['body', body({ primary: { ...methods, updb: { allowed: 1 } }, secondary: {} }), findPolicy],
    ['tags', `'{"MARKER": []}'`, findPolicy],
  ],
  'external_jwt_signers, row signer-1': [
    ['body', "'MARKER'", findSigner],
    ['body', body({ ...aSigner(), keys: { kind: 'MARKER' } }), findSigner],
    ['body', body({ ...aSigner(), keys: { kind: 'certificate' } }), findSigner],
    ['body', body({ ...aSigner(), targetToken: 'MARKER' }), findSigner],
    ['body', body({ ...aSigner(), scopes: [7] }), findSigner],
    ['tags', "'MARKER'", findSigner],
  ],
  'cas, row ca-1': [
    ['body', "'MARKER'", findCa],
    ['body', body({ ...aCa(), externalIdClaim: { location: 'MARKER' } }), findCa],
    ['body', body({ ...aCa(), isAuthEnabled: 'MARKER' }), findCa],
    ['tags', "'[]'", findCa],
  ],
  'identities, row identity-1': [
    ['type', "'MARKER'", findIdentity],
    ['role_attributes', "'[7]'", findIdentity],
    ['app_data', "'[]'", findIdentity],
    ['tags', `'{"MARKER": {}}'`, findIdentity],
  ],
  'authenticators, row authenticator-1': [
    ['method', "'MARKER'", findByName],
    ['method', "'MARKER'", (store) => store.authenticators.find(anAuthenticator().id)],
    ['method', "'cert'", findByName],
    ['tags', "'MARKER'", findByName],
    ['password_hash', 'null', findByName],
  ],
  'api_sessions, row session-1': [
    ['kind', "'MARKER'", findSession],
    ['amr', "'MARKER'", findSession],
    ['config_types', "'{}'", findSession],
    ['proof', "'MARKER'", findSession],
    ['proof', body({ primary: { ...primary, method: 'MARKER' } }), findSession],
    ['proof', body({ primary, extJwt: 7 }), findSession],
    ['proof', body(primary), findSession],
    ['scopes', 'null', findSession],
    ['scopes', "'MARKER'", findSession],
    ['scopes', "'[7]'", findSession],
    ['issuer', 'null', findSession],
    ['client_id', 'null', findSession],
  ],
  'api_sessions, row session-9': [
    ['token_hash', 'null', findLegacy],
    ['last_activity_at', 'null', findLegacy],
    ['is_totp_demanded', 'null', findLegacy],
  ],
  // By its session: the log gets nothing that could be compared with a token.
  'refresh_tokens, row session-1': [['successor', 'null', findRefreshToken]],
  'enrollments, row invitation-1': [
    ['method', "'MARKER'", findInvitation],
    ['username', 'null', findInvitation],
    ['tags', "'MARKER'", findInvitation],
  ],
  'signing_keys, row kid-1': [
    ['algorithm', "'MARKER'", (store) => store.signingKeys.list()],
    ['public_jwk', `'{"x": 1}'`, (store) => store.signingKeys.list()],
  ],
  'authorities, row MARKER/1': [['role', "'MARKER'", (store) => store.authorities.list()]],
}

/** The columns that name a row, where it is not `id`. */
const KEYS: Record<string, string> = {
  auth_requests: 'key',
  refresh_tokens: 'session_id',
  signing_keys: 'kid',
  authorities: 'generation',
}

for (const kind of SHARED) {
  suite(kind.name, () => {
    for (const [row, damages] of Object.entries(DAMAGES)) {
      test(`a damaged row is reported as table ${row}`, async (t) => {
        const [table = '', key = ''] = row.split(', row ')
        const where = `where ${KEYS[table] ?? 'id'} = '${key.replace('MARKER/', '')}'`
        const database = await kind.create(t)
        const store = await filled(database)
        for (const [column, value, read] of damages) {
          const [before] = await database.query(`select ${column} as value from ${table} ${where}`)
          await database.query(`update ${table} set ${column} = ${value} ${where}`)
          await assert.rejects(
            async () => read(store),
            (error) => {
              const expected = `table ${row}: the column ${column} is damaged`
              assert.equal((error as Error).message, expected)
              const shown = inspect(error, { depth: 9, showHidden: true })
              if (!row.includes('MARKER')) assert.doesNotMatch(shown, /MARKER/)
              return true
            },
          )
          const repaired = literal(before?.['value'])
          await database.query(`update ${table} set ${column} = ${repaired} ${where}`)
        }
      })
    }

    test('a damaged request is reported when its code is taken, and the code is spent', async (t) => {
      const database = await kind.create(t)
      const { authRequests } = await filled(database)
      await database.query(`update auth_requests set body = 'MARKER'`)
      const redemption = { at: NOON, sessionId: sessionId('session-1') }
      await assert.rejects(authRequests.takeByCode(anAuthRequest().codeHash, redemption), {
        message: 'table auth_requests, row request-1: the column body is damaged',
      })
      assert.equal(await authRequests.takeByCode(anAuthRequest().codeHash, redemption), undefined)
    })

    test('a spent code without its redemption is reported', async (t) => {
      const database = await kind.create(t)
      const { authRequests } = await filled(database)
      await database.query(`update auth_requests set state = 'tokens-issued'`)
      await assert.rejects(authRequests.findRedeemed(anAuthRequest().codeHash), {
        message: 'table auth_requests, row request-1: the column redeemed_at is damaged',
      })
    })
  })
}

async function filled(database: TestDatabase): Promise<Store> {
  const store = await database.open()
  await insertIdentity(store)
  await store.authenticators.insert(anAuthenticator())
  await store.enrollments.insert(anInvitation())
  await store.externalJwtSigners.insert(aSigner())
  await store.cas.insert(aCa())
  await store.authRequests.insert(anAuthRequest())
  await store.apiSessions.insert(aSession())
  await store.apiSessions.insert(aLegacySession())
  const spent = { at: NOON, successor: hash('MARKER') }
  await store.refreshTokens.insert(aRefreshToken({ spent }))
  await store.signingKeys.insert(aSigningKey(1))
  await store.authorities.insert(anAuthority('root', 1))
  return store
}

function literal(value: unknown): string {
  return typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value)
}
