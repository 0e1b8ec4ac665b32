/**
 * SPEC Access token: the claims let the controller rebuild the session without a look-up on each request. D-34.
 * Shown twice: by counting every call to the store, and by a call that is answered while PostgreSQL holds back
 * every read of the tables that a look-up would need.
 */
import assert from 'node:assert/strict'
import { availableParallelism } from 'node:os'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { compose } from '../../../src/app/compose/compose.ts'
import { createLog } from '../../../src/app/logging.ts'
import { systemRandom } from '../../../src/base/secrets/random.ts'
import { Secret } from '../../../src/base/secrets/secret.ts'
import { authenticateCall } from '../../../src/domain/calls/authenticate-call.ts'
import { loadAuthorities } from '../../../src/domain/certificates/own/authorities.ts'
import { createTurns } from '../../../src/domain/factors/guessing/turns.ts'
import { createPasswordHashing } from '../../../src/domain/factors/passwords/hashing.ts'
import { currentSession } from '../../../src/domain/sessions/current-session.ts'
import type { Store } from '../../../src/domain/stores.ts'
import type { Issuer } from '../../../src/protocol/oidc.ts'
import { bearer, logIn } from '../../support/login/login.ts'
import { startService } from '../../support/service.ts'
import { vaultOf } from '../../support/signing.ts'
import { migratedDatabase } from '../../support/stores/migrated-database.ts'

test('D-34: authenticating a call asks the store nothing, however many calls there are', async (t) => {
  const service = await startService(t)
  const { access_token } = await logIn(service)
  const calls: string[] = []
  const store = await service.openStore()
  const { clock } = service
  const vault = await vaultOf(service)
  const random = systemRandom
  const ports = compose({
    config: service.config,
    store: counting(store, calls),
    vault,
    authorities: await loadAuthorities({ authorities: store.authorities, vault, clock, random }),
    log: createLog({ level: 'error', format: 'json' }, { write: (line) => assert.fail(line) }),
    hashing: createPasswordHashing({
      random,
      turns: createTurns({
        purpose: 'password hashing',
        concurrency: availableParallelism(),
        queue: 1,
      }),
    }),
    clock,
    random,
    issuers: () => [`${service.baseUrl}/oidc` as Issuer],
    clientApi: () => undefined,
    past: () => clock.now(),
  })
  await ports.signingKeys.refresh()
  await ports.endedSessions.refresh()
  await ports.rules.refresh()
  assert.deepEqual(
    calls.toSorted(),
    [
      'authPolicies.list',
      'cas.list',
      'externalJwtSigners.list',
      'identities.listRouterPlaces',
      'ruleVersions.current',
      'sessionEndings.listAfter',
      'signingKeys.list',
    ],
    'the counter counts',
  )
  calls.length = 0

  const credentials = {
    bearers: [new Secret(access_token)],
    ztSession: undefined,
    certificate: () => undefined,
  }
  for (const needs of ['full', 'partial', 'logout'] as const) {
    for (let i = 0; i < 10; i++) await authenticateCall(ports, credentials, needs)
  }
  assert.deepEqual(calls, [])

  const session = await authenticateCall(ports, credentials, 'full')
  await currentSession(ports, session)
  assert.deepEqual(
    calls,
    ['apiSessions.find', 'identities.findMany'],
    'what only the handler reads',
  )
})

test('D-34: a call is authenticated while every table of sessions and identities is locked', async (t) => {
  const url = await migratedDatabase()
  const service = await startService(t, { config: { db: url } })
  const { access_token } = await logIn(service)
  const locker = new Client({ connectionString: url })
  await locker.connect()
  t.after(() => locker.end())
  await locker.query('begin')
  await locker.query(
    `lock table api_sessions, identities, authenticators, auth_policies, external_jwt_signers, cas,
     totp_enrollments, auth_requests, signing_keys`,
  )

  // A call that is authenticated and then refused for its query: nothing after the authentication needs a row.
  const path = '/edge/client/v1/current-identity'
  const reply = await service.call(`${path}?x=%zz`, bearer(access_token))
  assert.equal(reply.status, 400)
  assert.equal(reply.json().error.code, 'COULD_NOT_VALIDATE')
  assert.match(String(reply.headers['expiration-seconds']), /^\d+$/)

  // The same call with a good query has to wait for its row: the lock holds.
  const waiting = service.call(path, bearer(access_token))
  const first = await Promise.race([waiting.then(() => 'answered'), sleep(300, 'waits')])
  assert.equal(first, 'waits')
  await locker.query('rollback')
  assert.equal((await waiting).status, 200)
})

/** The same store, with a note of every method that is called. */
function counting(store: Store, calls: string[]): Store {
  const watched = Object.entries(store).map(([name, part]) => {
    if (typeof part !== 'object') return [name, part]
    if (name === 'aside') return [name, counting(part, calls)]
    const methods = Object.entries<(...args: unknown[]) => unknown>(part).map(([method, run]) => [
      method,
      (...args: unknown[]) => {
        calls.push(`${name}.${method}`)
        return run(...args)
      },
    ])
    return [name, Object.fromEntries(methods)]
  })
  return Object.fromEntries(watched)
}
