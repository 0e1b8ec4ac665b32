/** When the steps of a script are due, and which scripts are refused. D-326. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { followScript, readScript } from './script.ts'

const request = (path: string, grantType?: string) => ({ method: 'POST', path, grantType })
const TOKEN = '/oidc/token'

test('a step is due once, after its moment', () => {
  const script = followScript([
    { scenario: 'clock-ahead', after: 'start' },
    { scenario: 'cut', after: 'login' },
    { scenario: 'slow', after: 'login' },
    { scenario: 'key-rotation', after: 'refresh' },
    { scenario: 'unavailable', after: 5 },
  ])
  assert.deepEqual(script.atStart(), ['clock-ahead'])
  assert.deepEqual(script.atStart(), [])
  assert.deepEqual(script.answered(request(TOKEN, 'authorization_code'), 400), [])
  assert.deepEqual(script.answered(request(TOKEN, 'authorization_code'), 200), ['cut', 'slow'])
  assert.deepEqual(script.answered(request(TOKEN, 'authorization_code'), 200), [])
  assert.deepEqual(script.answered(request(TOKEN, 'refresh_token'), 200), ['key-rotation'])
  assert.deepEqual(script.answered(request('/edge/client/v1/version'), 404), ['unavailable'])
})

test('a legacy login is a login', () => {
  for (const api of ['client', 'management']) {
    const script = followScript([{ scenario: 'cut', after: 'login' }])
    const answered = script.answered(request(`/edge/${api}/v1/authenticate`), 200)
    assert.deepEqual(answered, ['cut'])
  }
})

test('a script without "after" begins after the login', () => {
  assert.deepEqual(readScript([{ scenario: 'cut' }]), [{ scenario: 'cut', after: 'login' }])
})

const BROKEN: readonly [value: unknown, message: RegExp][] = [
  [undefined, /must be a JSON array/],
  [[], /must be a JSON array/],
  [{ scenario: 'cut' }, /must be a JSON array/],
  [Array(101).fill({ scenario: 'cut' }), /at most 100 steps/],
  [[null], /step 1 of the script names no scenario/],
  [[{ scenario: 'cut' }, { scenario: 'toString' }], /step 2 of the script names no scenario/],
  [[{ scenario: 'cut', after: 0 }], /"after" must be/],
  [[{ scenario: 'cut', after: 1.5 }], /"after" must be/],
  [[{ scenario: 'cut', after: 'lunch' }], /"after" must be/],
  [[{ scenario: 'cut', before: 'login' }], /unknown member "before"/],
]

for (const [value, message] of BROKEN) {
  test(`the script ${JSON.stringify(value)?.slice(0, 60)} is refused`, () => {
    assert.throws(() => readScript(value), { name: 'TypeError', message })
  })
}
