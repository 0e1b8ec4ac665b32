/** D-441: how many wrong user codes are accepted: from one network, of one identity, and from all callers together. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../../test/support/clocks/manual-clock.ts'
import type { IdentityId, RequestId } from '../../base/ids.ts'
import { minutes } from '../../base/time/duration.ts'
import { Failure } from '../../errors/catalogue.ts'
import { createAddressFailures } from '../factors/guessing/failures.ts'
import { findDevice } from './answer-device.ts'
import type { DevicePorts } from './ports.ts'
import type { UserCode } from './user-code.ts'

/** Finds a waiting device only for the right code. */
function setUp() {
  const clock = new ManualClock()
  const events: unknown[] = []
  const ports = {
    clock,
    foldRepeats: () => undefined,
    random: { bytes: (length: number) => new Uint8Array(length) },
    vault: { hash: (_: string, text: string) => text },
    deviceCodes: {
      findByUserCode: async (hash: string) =>
        hash.includes('RIGHT') ? { answer: 'pending', expiresAt: Number.MAX_VALUE } : undefined,
    },
    events: { insert: async (event: unknown) => void events.push(event) },
    userCodeFailures: createAddressFailures({ limit: 10, clock }),
    allUserCodeFailures: createAddressFailures({ limit: 60, clock }),
  } as unknown as DevicePorts
  const guess = async (address: string, identity: string, userCode = 'WRONG') => {
    const session = { identityId: identity as IdentityId } as never
    const caller = { address, requestId: 'req' as RequestId, userAgent: undefined }
    try {
      const found = await findDevice(ports, { userCode: userCode as UserCode, session, caller })
      return typeof found === 'string' ? found : 'found'
    } catch (error) {
      if (error instanceof Failure) return error.code
      throw error
    }
  }
  return { clock, events, guess }
}

test('after sixty wrong codes from all callers, every caller is blocked until the minute is over', async () => {
  const { clock, events, guess } = setUp()
  for (let n = 0; n < 60; n++) assert.equal(await guess(`192.0.2.${n}`, `identity-${n}`), 'unknown')
  assert.equal(await guess('198.51.100.1', 'somebody', 'RIGHT'), 'RATE_LIMITED')
  assert.equal(events.length, 60, 'each wrong code is an event')
  clock.pass(minutes(1))
  assert.equal(await guess('198.51.100.1', 'somebody', 'RIGHT'), 'found')
})

test('ten wrong codes block one network or one identity, and no other caller', async () => {
  const { guess } = setUp()
  for (let n = 0; n < 10; n++) assert.equal(await guess('192.0.2.1', `identity-${n}`), 'unknown')
  assert.equal(await guess('192.0.2.1', 'somebody', 'RIGHT'), 'RATE_LIMITED')
  assert.equal(await guess('198.51.100.1', 'somebody', 'RIGHT'), 'found')
  for (let n = 0; n < 10; n++) assert.equal(await guess(`203.0.113.${n}`, 'guesser'), 'unknown')
  assert.equal(await guess('198.51.100.2', 'guesser', 'RIGHT'), 'RATE_LIMITED')
  assert.equal(await guess('198.51.100.2', 'somebody', 'RIGHT'), 'found')
})

test('right codes are not counted', async () => {
  const { guess } = setUp()
  for (let n = 0; n < 70; n++) assert.equal(await guess('192.0.2.1', 'a', 'RIGHT'), 'found')
})
