/**
 * A damaged row is reported by its table, key and column, and never by its content: the message ends in a log.
 */
import assert from 'node:assert/strict'
import { after as afterAll, suite, test } from 'node:test'
import { inspect } from 'node:util'
import { usernameKey } from '../../src/domain/identities/identity.ts'
import type { Store } from '../../src/domain/stores.ts'
import { startPostgres } from '../support/postgres.ts'
import { SHARED, type TestDatabase } from './databases.ts'
import {
  anAuthenticator,
  anAuthority,
  anAuthRequest,
  anIdentity,
  aPolicy,
  aSession,
  aSigningKey,
  NOON,
  sessionId,
} from './samples.ts'

afterAll(async () => (await startPostgres()).stop())

const findRequest = (store: Store) => store.authRequests.find(anAuthRequest().key)
const findPolicy = (store: Store) => store.authPolicies.find(aPolicy().id)
const findIdentity = (store: Store) => store.identities.find(anIdentity().id)
const findSession = (store: Store) => store.apiSessions.find(aSession().id)
const findByName = (store: Store) =>
  store.authenticators.findUpdb(usernameKey(anAuthenticator().username))

const body = (members: object) => `'${JSON.stringify({ marker: 'MARKER', ...members })}'`
const { ask } = anAuthRequest()
const primary = { method: 'password', authenticatorId: 'a', at: 1 }

/** Column, what it holds after the damage, and who reads it. */
const DAMAGES: Record<string, [column: string, value: string, read: (s: Store) => unknown][]> = {
  'auth_requests, row request-1': [
    ['state', "'MARKER'", findRequest],
    ['body', "'MARKER'", findRequest],
    ['body', "'[]'", findRequest],
    ['body', "'null'", findRequest],
    ['body', body({ ask }), findRequest],
    ['body', body({ ask, primary: { ...primary, at: 1.5 } }), findRequest],
    ['body', body({ ask, primary: { ...primary, method: 'MARKER' } }), findRequest],
    ['body', body({ ask: { ...ask, scopes: 'openid' }, primary }), findRequest],
    ['body', body({ ask: { ...ask, redirectUri: undefined }, primary }), findRequest],
    ['body', body({ ask: { ...ask, nonce: 7 }, primary }), findRequest],
    ['code_hash', 'null', findRequest],
    ['code_expires_at', 'null', findRequest],
  ],
  'auth_policies, row policy-1': [
    ['body', "'MARKER'", findPolicy],
    ['body', body({ primary: { updb: { allowed: 1, minPasswordLength: 8 } } }), findPolicy],
  ],
  'identities, row identity-1': [
    ['type', "'MARKER'", findIdentity],
    ['role_attributes', "'[7]'", findIdentity],
    ['app_data', "'[]'", findIdentity],
    ['tags', `'{"MARKER": {}}'`, findIdentity],
  ],
  'authenticators, row authenticator-1': [
    ['method', "'MARKER'", findByName],
    ['password_hash', 'null', findByName],
  ],
  'api_sessions, row session-1': [
    ['kind', "'MARKER'", findSession],
    ['amr', "'MARKER'", findSession],
    ['config_types', "'{}'", findSession],
  ],
  'signing_keys, row kid-1': [
    ['algorithm', "'MARKER'", (store) => store.signingKeys.list()],
    ['public_jwk', `'{"x": 1}'`, (store) => store.signingKeys.list()],
  ],
  'authorities, row MARKER/1': [['role', "'MARKER'", (store) => store.authorities.list()]],
}

for (const kind of SHARED) {
  suite(kind.name, () => {
    for (const [row, damages] of Object.entries(DAMAGES)) {
      test(`a damaged row is reported as table ${row}`, async (t) => {
        const table = row.split(',')[0]
        const database = await kind.create(t)
        const store = await filled(database)
        for (const [column, value, read] of damages) {
          const [before] = await database.query(`select ${column} as value from ${table}`)
          await database.query(`update ${table} set ${column} = ${value}`)
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
          await database.query(`update ${table} set ${column} = ${literal(before?.['value'])}`)
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
  await store.authPolicies.insert(aPolicy())
  await store.identities.insert(anIdentity())
  await store.authenticators.insertUpdb(anAuthenticator())
  await store.authRequests.insert(anAuthRequest())
  await store.apiSessions.insert(aSession())
  await store.signingKeys.insert(aSigningKey(1))
  await store.authorities.insert(anAuthority('root', 1))
  return store
}

function literal(value: unknown): string {
  return typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value)
}
