/** The small parts of the demo that need no service: passwords and the phone. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemRandom } from '../base/secrets/random.ts'
import { instant } from '../base/time/instant.ts'
import { drawPasswords, WITH_PASSWORD } from './people.ts'
import { startPhone } from './phone.ts'

test('every user has their own password, and a new one at the next start', () => {
  const all = [drawPasswords(systemRandom), drawPasswords(systemRandom)].flatMap(Object.values)
  assert.equal(new Set(all).size, 2 * WITH_PASSWORD.length)
  for (const password of all) assert.match(password, /^[a-z2-7]{4}-[a-z2-7]{4}-[a-z2-7]{4}$/)
})

test('the phone has the code of the moment as soon as it is there', async () => {
  const written: string[] = []
  const phone = await startPhone(Buffer.from('12345678901234567890'), {
    // RFC 6238, appendix B: at 59 seconds the code of SHA-1 is 94287082, of which we have the last six digits.
    clock: { now: () => instant(59_000) },
    write: async (text) => void written.push(text),
    log: { error: () => assert.fail() },
  })
  await phone.stop()
  assert.deepEqual(written, ['287082\n'])
})
