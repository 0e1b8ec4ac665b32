/** How a program polls for the login of a device: RFC 8628 §3.5. No test waits; the waits are recorded. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../../test/support/clocks/manual-clock.ts'
import { utf8 } from '../../base/encoding.ts'
import { milliseconds } from '../../base/time/duration.ts'
import { LoginCancelled, LoginRefused, ServerUnavailable, UnexpectedAnswer } from '../errors.ts'
import type { Session } from '../session.ts'
import type { TokenAnswer } from '../tokens.ts'
import type { WireAnswer } from '../wire/https-wire.ts'
import { beginDeviceLogin } from './device.ts'

const BASE = 'https://localhost:1280'
const ANSWER = {
  device_code: 'd'.repeat(43),
  user_code: 'BCDF-GHJK',
  verification_uri: `${BASE}/device`,
  verification_uri_complete: `${BASE}/device?user_code=BCDF-GHJK`,
  expires_in: 600,
  interval: 5,
}
const SESSION = { identityId: 'ada' } as Session
const TOKENS = { accessToken: 'a' } as TokenAnswer

const answerWith = (status: number, json: object): WireAnswer =>
  ({ status, headers: new Headers(), body: utf8(JSON.stringify(json)) }) as never

type Polled = string | TokenAnswer | Error

async function begin(polled: readonly Polled[], answer: object = ANSWER) {
  const clock = new ManualClock()
  const waits: number[] = []
  const outcomes = [...polled]
  const login = await beginDeviceLogin(
    {
      wire: { send: async () => answerWith(200, answer) },
      provider: {
        issuer: `${BASE}/oidc`,
        deviceAuthorization: new URL(`${BASE}/oidc/device_authorization`),
      },
      clientId: 'service',
      clock,
      tokens: {
        async poll() {
          const next = outcomes.shift() ?? 'authorization_pending'
          if (next instanceof Error) throw next
          return typeof next === 'string' ? answerWith(400, { error: next }) : next
        },
      },
      async wait(time, signal) {
        signal.throwIfAborted()
        waits.push(time / 1_000)
        clock.pass(milliseconds(time))
      },
    },
    {},
    async () => SESSION,
  )
  return { login, waits }
}

test('waits for the interval before each poll, until the user has approved', async () => {
  const { login, waits } = await begin(['authorization_pending', TOKENS])
  assert.equal(login.userCode, 'BCDF-GHJK')
  assert.equal(await login.finish(), SESSION)
  assert.deepEqual(waits, [5, 5])
})

test('slow_down makes this and all later waits five seconds longer', async () => {
  const { login, waits } = await begin(['slow_down', 'authorization_pending', 'slow_down', TOKENS])
  await login.finish()
  assert.deepEqual(waits, [5, 10, 10, 15])
})

test('after a timeout it asks less often, and goes on', async () => {
  const lost = new ServerUnavailable('TIMED_OUT', 'no answer', { mayHaveHappened: true })
  const { login, waits } = await begin([lost, lost, TOKENS])
  await login.finish()
  assert.deepEqual(waits, [5, 10, 20])
})

for (const [code, words] of [
  ['access_denied', /denied/],
  ['expired_token', /expired/],
] as const) {
  test(`${code} ends it`, async () => {
    const { login } = await begin([code])
    await assert.rejects(login.finish(), (error) => {
      assert.ok(error instanceof LoginRefused)
      assert.equal(error.code, code)
      assert.match(error.message, words)
      return true
    })
  })
}

test('it gives up when the code has expired, whatever the server says', async () => {
  const { login, waits } = await begin([])
  await assert.rejects(login.finish(), { code: 'expired_token' })
  assert.equal(waits.length, 120)
})

test('cancel ends the wait', async () => {
  const { login } = await begin([])
  login.cancel()
  await assert.rejects(login.finish(), LoginCancelled)
})

const FORGED: Readonly<Record<string, object>> = {
  'an address of another server': { verification_uri: 'https://evil.example/device' },
  'a complete address of another server': { verification_uri_complete: 'https://evil.example' },
  'a script as the address': { verification_uri: 'javascript:alert(1)' },
  'a code that moves the cursor': { user_code: '\u001b[2J' },
  'no device code': { device_code: undefined },
  'no end': { expires_in: undefined },
  'an interval below zero': { interval: -1 },
}
for (const [what, changes] of Object.entries(FORGED)) {
  test(`an answer with ${what} is not used`, async () => {
    await assert.rejects(begin([], { ...ANSWER, ...changes }), UnexpectedAnswer)
  })
}
