/** When `latchkey login` lets the user approve on another device. D-445. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hasBrowser } from './device.ts'

const ROWS = [
  ['linux', { DISPLAY: ':0' }, true],
  ['linux', { WAYLAND_DISPLAY: 'wayland-0' }, true],
  ['linux', {}, false],
  ['linux', { SSH_CONNECTION: '192.0.2.1 1 192.0.2.2 22' }, false],
  ['linux', { SSH_CONNECTION: '192.0.2.1 1 192.0.2.2 22', DISPLAY: 'localhost:10' }, true],
  ['darwin', {}, true],
  ['darwin', { SSH_TTY: '/dev/ttys001' }, false],
  ['win32', {}, true],
] as const

for (const [platform, variables, expected] of ROWS) {
  const where = `${platform} with ${Object.keys(variables).join(' and ') || 'nothing'}`
  test(`${where} ${expected ? 'has' : 'does not have'} a browser`, () => {
    assert.equal(hasBrowser({ variables }, platform), expected)
  })
}
