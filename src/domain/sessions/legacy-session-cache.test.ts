/** Legacy sessions in memory: what was read before a session changed is not kept after it. D-36, D-289. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../../test/support/clocks/manual-clock.ts'
import { aLegacySession, anIdentity } from '../../../test/support/people.ts'
import type { ApiSessionId } from '../../base/ids.ts'
import type { SecretHash } from '../../base/secrets/vault.ts'
import { milliseconds, seconds } from '../../base/time/duration.ts'
import { createLegacySessionCache } from './legacy-session-cache.ts'

const HASH = 'token-hash' as SecretHash

function world() {
  const clock = new ManualClock()
  const cache = createLegacySessionCache({ clock })
  const read = (id = aLegacySession().id) => ({
    session: aLegacySession({ id }),
    identity: anIdentity(),
    readAt: clock.uptime(),
  })
  return { clock, cache, read }
}

test('what was read before the session changed, and arrives after it, is not kept', async () => {
  // A call reads or renews its session while another one proves a second factor: the next call must not be told that
  // the factor is outstanding.
  const { clock, cache, read } = world()
  const before = read()
  clock.pass(milliseconds(1))
  await cache.forget(before.session.id)
  clock.pass(milliseconds(1))
  cache.keep(HASH, before)
  assert.equal(cache.find(HASH), undefined)

  const after = read()
  cache.keep(HASH, after)
  cache.keep(HASH, before)
  assert.equal(cache.find(HASH), after)
})

test('only the session that changed is read again', async () => {
  const { clock, cache, read } = world()
  const entry = read()
  clock.pass(milliseconds(1))
  await cache.forget('another' as ApiSessionId)
  cache.keep(HASH, entry)
  assert.equal(cache.find(HASH), entry)
})

test('an entry is kept for a second from when its read began', () => {
  const { clock, cache, read } = world()
  const entry = read()
  clock.pass(milliseconds(999))
  cache.keep(HASH, entry)
  assert.equal(cache.find(HASH), entry)
  clock.pass(milliseconds(1))
  assert.equal(cache.find(HASH), undefined)
})

test('sessions that change one after the other are all read again', async () => {
  const { clock, cache, read } = world()
  const ids = Array.from({ length: 50 }, (_, i) => `session-${i}` as ApiSessionId)
  const entries = ids.map((id) => read(id))
  for (const id of ids) {
    clock.pass(milliseconds(10))
    await cache.forget(id)
  }
  for (const entry of entries) {
    cache.keep(HASH, entry)
    assert.equal(cache.find(HASH), undefined)
  }
  clock.pass(seconds(2))
  const [first] = ids
  const entry = read(first)
  cache.keep(HASH, entry)
  assert.equal(cache.find(HASH), entry)
})
