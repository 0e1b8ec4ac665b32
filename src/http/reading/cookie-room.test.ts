import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cookiesWithoutRoom } from './cookie-room.ts'

const STATE = 'AAAAAAAAAAAAAAAAAAAAA_'
const own = (name: string, length: number) => `__Host-latchkey-${name}=${'x'.repeat(length)}`

function dropped(pairs: readonly string[], ...set: readonly string[]): readonly string[] {
  const lines = set.map((pair) => `${pair}; Path=/; Max-Age=600`)
  const names = cookiesWithoutRoom({ headers: { cookie: pairs.join('; ') } }, lines)
  return names.map((name) => name.slice('__Host-latchkey-'.length))
}

test('D-482: every kind of old login makes room, the oldest first, and what was typed comes last', () => {
  const logins = [
    `account-login-${STATE}`,
    'gateway-login-AAAAAAAAAAAAAAA-',
    STATE,
    `idp-${STATE}-0`,
    `primary-${STATE}-2`,
    `device-page-login-${STATE}`,
  ]
  const input = own('console-input', 100)
  const newest = own(`console-login-${STATE}`, 1_400)
  const pairs = [input, ...logins.map((name) => own(name, 500)), newest]
  const full = [...pairs, `other=${'x'.repeat(2_700)}`]
  const overfull = [...pairs, `other=${'x'.repeat(12_000)}`]
  assert.deepEqual(dropped(pairs, own('console', 900)), [])
  assert.deepEqual(dropped(full, own('console', 600)), logins.slice(0, 2))
  assert.deepEqual(dropped(overfull, own('console', 600)), [...logins, 'console-input'])
  // The response itself must not become too long: the next one deletes more.
  assert.deepEqual(dropped(overfull, own('account', 3_000)), [
    ...logins.slice(0, 2),
    'console-input',
  ])
})

test('D-482: a step of a login makes no room by deleting what binds that login to its browser', () => {
  const between = 'BBBBBBBBBBBBBBBBBBBBBB'
  const newest = 'CCCCCCCCCCCCCCCCCCCCCC'
  const pairs = [
    own('console', 4_000),
    own(STATE, 22),
    own(`primary-${STATE}-0`, 500),
    own(between, 22),
    own(`console-login-${newest}`, 1_400),
  ]
  assert.deepEqual(dropped(pairs, own(`idp-${STATE}-0`, 2_000)), [between])
  const all = [STATE, `primary-${STATE}-0`, between]
  assert.deepEqual(dropped(pairs, own(`idp-${newest}-0`, 2_000)), all)
})

test('D-482: sessions, known devices and cookies of others are never deleted', () => {
  const names = [
    'console',
    'account',
    'device',
    'device-page',
    'gateway',
    'language',
    'console-note',
  ]
  const pairs = [...names.map((name) => own(name, 2_000)), `${STATE}=x`, `x-login-${STATE}=x`]
  assert.deepEqual(dropped(pairs, own('console', 1_000)), [])
  assert.deepEqual(dropped(pairs, own('console-input', 100)), ['console-input'])
})

test('D-482: a cookie that is replaced or deleted counts as it is afterwards', () => {
  const pairs = [own(`console-login-${STATE}`, 1_600), own('console', 5_000)]
  assert.deepEqual(dropped(pairs, own('console', 5_500)), [])
  assert.deepEqual(dropped(pairs, own('account', 3_000), '__Host-latchkey-console='), [])
  assert.deepEqual(dropped(pairs, own('account', 3_000)), [`console-login-${STATE}`])
})
