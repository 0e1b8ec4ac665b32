/**
 * R077 on the wire: every refused password asks the database equally often. Attack: a network that is locked out goes on
 * guessing, and knows the right password by the two round trips that it takes longer; or learns from the attempt that
 * locks it out that the name exists. Counted, never measured.
 */
import assert from 'node:assert/strict'
import { after as afterAll, test } from 'node:test'
import type { RequestId } from '../../src/base/ids.ts'
import { systemRandom } from '../../src/base/secrets/random.ts'
import { Secret } from '../../src/base/secrets/secret.ts'
import { createVault, INSTALLATION_SECRET_BYTES } from '../../src/base/secrets/vault.ts'
import { seconds } from '../../src/base/time/duration.ts'
import { createAddressFailures } from '../../src/domain/factors/guessing/failures.ts'
import { createGuessOrder } from '../../src/domain/factors/guessing/guess-order.ts'
import type { LoginPorts } from '../../src/domain/login/ports.ts'
import { provePrimary } from '../../src/domain/login/prove-primary.ts'
import type { Failure } from '../../src/errors/catalogue.ts'
import { openStore } from '../../src/store/open.ts'
import { startCable } from '../support/stores/cable.ts'
import { startPostgres } from '../support/stores/postgres.ts'
import { primaryOf, seedLogin } from './login-sample.ts'
import { after, anAuthenticator, aPolicy } from './samples.ts'

afterAll(async () => (await startPostgres()).stop())

const RIGHT = 'the right one'
const ATTEMPTS = 3

test('R077: no reason for a refused password shows in how often the database is asked', async (t) => {
  const cable = await startCable(t, await (await startPostgres()).freshDatabase())
  const store = await openStore({ kind: 'postgres', url: new Secret(cable.url) })
  t.after(() => store.close())
  await seedLogin(store, primaryOf('password'))
  const clock = { now: () => after(1_000), uptime: () => seconds(0) }
  const { primary, ...others } = aPolicy()
  const updb = { ...primary.updb, maxAttempts: ATTEMPTS, lockoutDurationMinutes: 15 }
  let isAllowed = true
  const ports = {
    ...store,
    clock,
    random: systemRandom,
    vault: createVault(systemRandom.bytes(INSTALLATION_SECRET_BYTES), systemRandom),
    foldRepeats: () => undefined,
    rules: {
      policy: () => ({ ...others, primary: { ...primary, updb: { ...updb, allowed: isAllowed } } }),
      isStale: () => false,
    },
    hashing: {
      verify: async (_: string, password: Secret) => password.reveal() === RIGHT,
      verifyNothing: async () => undefined,
      isWeak: () => false,
    },
    addressFailures: createAddressFailures({ limit: 0, clock }),
    beginGuess: createGuessOrder(),
  } as unknown as LoginPorts
  const { username: known } = anAuthenticator()

  const counts: Record<string, number> = {}
  const refuse = async (reason: string, username: string, password: string) => {
    cable.takeRoundTrips()
    const credentials = { username, password: new Secret(password) }
    const caller = { address: '192.0.2.1', requestId: 'r' as RequestId, userAgent: undefined }
    const submission = { credential: { method: 'password', credentials }, bearers: [], caller }
    await assert.rejects(
      provePrimary(ports, submission as Parameters<typeof provePrimary>[1]),
      ({ code, detail }: Failure) => code === 'INVALID_AUTH' && detail === reason,
    )
    return cable.takeRoundTrips()
  }
  counts['an unknown name'] = await refuse('unknown-username', 'nobody', RIGHT)
  isAllowed = false
  counts['a method that is not allowed'] = await refuse('method-not-allowed', known, RIGHT)
  isAllowed = true
  for (let n = 1; n < ATTEMPTS; n += 1) {
    counts[`wrong password ${n}`] = await refuse('wrong-password', known, 'wrong')
  }
  counts['the wrong password that locks'] = await refuse('wrong-password', known, 'wrong')
  counts['a wrong password while locked'] = await refuse('wrong-password', known, 'wrong')
  counts['the right password while locked'] = await refuse('password-locked', known, RIGHT)
  counts['an unknown name, later'] = await refuse('unknown-username', 'nobody', RIGHT)
  const [first = 0] = Object.values(counts)
  assert.ok(first > 0)
  assert.deepEqual(counts, Object.fromEntries(Object.keys(counts).map((what) => [what, first])))
})
