/**
 * Properties of one-time codes and their provisioning URLs, against an independent implementation: D-17, R084, R091.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Secret, TOTP, URI } from 'otpauth'
import { base32 } from '../../src/base/base32.ts'
import { instant } from '../../src/base/time/instant.ts'
import { provisioningUrl, totpCode, totpStep } from '../../src/protocol/totp.ts'
import { rounds } from '../support/chance/rounds.ts'

// Short in CI, long on demand.
fc.configureGlobal({ numRuns: rounds(1000) })

const secrets = fc.uint8Array({ minLength: 20, maxLength: 20 })
/** From 1970 to the year 9999, in milliseconds. */
const times = fc.integer({ min: 0, max: 253_402_300_799_999 })
/** Whatever can be a name: any characters, but something besides spaces, which apps drop at the ends. */
const names = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 64 })
  .filter((name) => name.trim() === name && name.isWellFormed())

/** What an app makes of the secret, with the parameters that every app takes when the URL names none. */
const appOf = (secret: Uint8Array) =>
  new TOTP({ secret: new Secret({ buffer: Uint8Array.from(secret).buffer }) })

test('our code is the one of the app, whatever the secret and the time', () => {
  fc.assert(
    fc.property(secrets, times, (secret, timestamp) => {
      const ours = totpCode(secret, totpStep(instant(timestamp)))
      assert.equal(ours, appOf(secret).generate({ timestamp }))
    }),
  )
})

test('our base32 is read back as the same bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
      assert.deepEqual([...Secret.fromBase32(base32(bytes)).bytes], [...bytes])
    }),
  )
})

test('R091: an app reads issuer, name and secret back, whatever the name', () => {
  fc.assert(
    fc.property(names, secrets, times, (name, secret, timestamp) => {
      const app = URI.parse(provisioningUrl({ issuer: 'id.example.org', name, secret }))
      assert.ok(app instanceof TOTP)
      assert.equal(app.issuer, 'id.example.org')
      assert.equal(app.label, name)
      assert.equal(
        app.generate({ timestamp }),
        totpCode(secret, totpStep(instant(timestamp))),
        'the app has other parameters',
      )
    }),
  )
})
