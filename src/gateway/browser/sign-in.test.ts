/** What a sign-in costs the gateway that any visitor can begin: D-468. The whole way is in test/protocol/gateway. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../../test/support/clocks/manual-clock.ts'
import { waitFor } from '../../../test/support/process/child-service.ts'
import { systemRandom } from '../../base/secrets/random.ts'
import { createVault, INSTALLATION_SECRET_BYTES } from '../../base/secrets/vault.ts'
import { type Session, UnexpectedAnswer } from '../../client/client.ts'
import type { Field } from '../http/fields.ts'
import { createExchanges } from './exchanges.ts'
import type { BrowserSessions } from './sessions.ts'
import { beginSignIn, finishSignIn, type SignInPorts } from './sign-in.ts'
import type { Visit } from './visit.ts'

const ORIGIN = 'https://app.example'

function visitTo(target: string, fields: readonly Field[] = []): Visit {
  return { origin: ORIGIN, method: 'GET', target, fields, isUpgrade: false, requestId: 'r' }
}

// Attack: a visitor without an account begins one login and sends its callback, with a made-up code, any number of times
// at once. Each made the gateway open a connection to the controller, until it had no descriptor left for anyone.
test('callbacks without end use a bounded number of connections to the controller', async () => {
  const answers: ((error: Error) => void)[] = []
  let most = 0
  let running = 0
  const proof = { state: 's'.repeat(43), nonce: 'n', verifier: 'v', redirectUri: '' }
  const client = {
    beginRedirectLogin: () => ({ url: 'https://id.example/authorize', proof }),
    finishRedirectLogin: () => {
      running += 1
      most = Math.max(most, running)
      return new Promise<Session>((_, reject) => answers.push(reject)).finally(() => {
        running -= 1
      })
    },
  }
  const logged: object[] = []
  const log = { debug() {}, info() {}, warn: (fields: object) => logged.push(fields), error() {} }
  const ports: SignInPorts = {
    client: async () => client,
    sessions: {} as BrowserSessions,
    vault: createVault(systemRandom.bytes(INSTALLATION_SECRET_BYTES), systemRandom),
    clock: new ManualClock(),
    log,
    exchange: createExchanges({ atOnce: 4, waiting: 8 }),
  }
  const begun = await beginSignIn(ports, visitTo('/'), { target: '/' })
  const [, kept = ''] = begun.fields.find(([name]) => name === 'set-cookie') ?? []
  const cookie: Field = ['cookie', kept.split(';')[0] ?? '']
  const callback = visitTo(`/.latchkey/callback?state=${proof.state}&code=made-up`, [cookie])
  const finished = Array.from({ length: 500 }, () => finishSignIn(ports, callback))
  const statuses: number[] = []
  for (const one of finished) void one.then(({ status }) => statuses.push(status))
  await waitFor(
    () => statuses.length === 488,
    () => `refusals: ${statuses.length}`,
  )
  assert.deepEqual(new Set(statuses), new Set([503]), 'what has no place is told to try again')
  // Those that wait are served in turn.
  while (statuses.length < 500) {
    answers.shift()?.(new UnexpectedAnswer('no'.repeat(9_000)))
    await new Promise(setImmediate)
  }
  assert.equal(most, 4)
  assert.equal(statuses.filter((status) => status === 400).length, 12)
  assert.equal(logged.length, 500)
  for (const fields of logged) {
    assert.ok(!('err' in fields), 'a stack trace would be most of the log')
    assert.ok(JSON.stringify(fields).length < 800)
  }
})
