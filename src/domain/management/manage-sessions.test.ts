/** Ending all sessions: every one that exists, whatever any clock said when it began. D-34, D-470, R115. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { ManualClock, NOON } from '../../../test/support/clocks/manual-clock.ts'
import { anIdentity, anOidcSession, aPolicy, CALLER } from '../../../test/support/people.ts'
import type { ApiSessionId } from '../../base/ids.ts'
import { systemRandom } from '../../base/secrets/random.ts'
import { hours, milliseconds, minutes, seconds } from '../../base/time/duration.ts'
import { plus } from '../../base/time/instant.ts'
import { openStore } from '../../store/open.ts'
import { auditPorts } from '../audit/ports.ts'
import type { ApiSession } from '../sessions/api-session.ts'
import type { CallSession } from '../sessions/call-session.ts'
import { endOtherSessions } from '../sessions/own-sessions.ts'
import { endAllSessions, endSessionsOf } from './manage-sessions.ts'

const IDENTITY = anIdentity().id
const OWN = anOidcSession({ id: 'own' as ApiSessionId, createdAt: NOON })

async function world(t: TestContext, others: readonly Partial<ApiSession>[]) {
  const store = await openStore({ kind: 'sqlite', path: ':memory:' })
  t.after(() => store.close())
  await store.authPolicies.insert(aPolicy())
  await store.identities.insert(anIdentity())
  await store.apiSessions.insert(OWN)
  for (const [i, changes] of others.entries()) {
    const id = `other-${i}` as ApiSessionId
    await store.apiSessions.insert(anOidcSession({ ...changes, id } as Partial<typeof OWN>))
  }
  const clock = new ManualClock()
  const audit = auditPorts({ clock, random: systemRandom })
  const { transaction, identities } = store
  const ports = {
    ...audit,
    transaction,
    identities,
    accessTokenLife: minutes(30),
    brand: 'service',
  }
  const left = async () => (await store.apiSessions.listOf(IDENTITY)).map(({ id }) => id)
  return { clock, ports, left }
}

const CALL = { kind: 'oidc', sessionId: OWN.id, identityId: IDENTITY } as CallSession

/** What the clock of another instance was, or that of this one before it was set back. */
const AHEAD = [
  { createdAt: plus(NOON, milliseconds(1)) },
  { createdAt: plus(NOON, seconds(2)) },
  { createdAt: plus(NOON, hours(1)) },
]

test('an administrator who ends all sessions of an identity also ends those begun by a clock that is ahead', async (t) => {
  const { ports, left } = await world(t, AHEAD)
  await endSessionsOf(ports, IDENTITY, CALLER)
  assert.deepEqual(await left(), [])
})

test('an administrator who ends every session also ends those begun by a clock that is ahead', async (t) => {
  const { ports, left } = await world(t, AHEAD)
  await endAllSessions(ports, CALLER)
  assert.deepEqual(await left(), [])
})

test('a user who ends all other sessions also ends those begun by a clock that is ahead', async (t) => {
  const { ports, left } = await world(t, AHEAD)
  await endOtherSessions(ports, CALL, CALLER)
  assert.deepEqual(await left(), [OWN.id])
})

test('while the clock is ahead, sessions that only seem to have expired end too', async (t) => {
  // Otherwise they would be alive again when the clock is corrected.
  for (const end of ['of one', 'of all', 'others'] as const) {
    const { clock, ports, left } = await world(t, [{ expiresAt: plus(NOON, minutes(30)) }])
    clock.jump(hours(1))
    if (end === 'of one') await endSessionsOf(ports, IDENTITY, CALLER)
    else if (end === 'of all') await endAllSessions(ports, CALLER)
    else await endOtherSessions(ports, CALL, CALLER)
    assert.deepEqual(await left(), end === 'others' ? [OWN.id] : [], end)
  }
})
