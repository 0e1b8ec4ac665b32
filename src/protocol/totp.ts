/**
 * Time-based one-time codes: RFC 6238 over RFC 4226, with SHA-1, 6 digits and steps of 30 seconds, which every
 * authenticator app supports (D-17, R084). domain/factors decides which steps are accepted, and how often.
 */
import { createHmac } from 'node:crypto'
import { base32 } from '../base/base32.ts'
import { epochSeconds, type Instant } from '../base/time/instant.ts'

export const STEP_SECONDS = 30
const DIGITS = 6

/** RFC 6238 §4.2: returns the number of the time step of an instant. */
export function totpStep(at: Instant): number {
  return Math.floor(epochSeconds(at) / STEP_SECONDS)
}

/** RFC 4226 §5.3, with the time step as the counter. */
export function totpCode(secret: Uint8Array, step: number): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const mac = createHmac('sha1', secret).update(counter).digest()
  // Dynamic truncation: the last four bits say where to read 31 bits.
  const offset = mac.readUInt8(mac.length - 1) & 0x0f
  const number = mac.readUInt32BE(offset) & 0x7fffffff
  return String(number % 10 ** DIGITS).padStart(DIGITS, '0')
}

/**
 * Returns the content of the QR code for the authenticator app (SPEC TOTP enrollment record, D-19). Everything is
 * percent-encoded: a colon in the name would otherwise move the boundary between issuer and name, and a `?` would end
 * the label (R091).
 */
export function provisioningUrl(account: {
  readonly issuer: string
  readonly name: string
  readonly secret: Uint8Array
}): string {
  const issuer = encode(account.issuer)
  const label = `${issuer}:${encode(account.name)}`
  return `otpauth://totp/${label}?issuer=${issuer}&secret=${base32(account.secret)}`
}

/** Half a surrogate pair, which JSON can carry, has no percent-encoding; it becomes U+FFFD. */
function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed())
}
