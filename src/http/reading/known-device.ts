/**
 * Reads the evidence that a password login comes from a known device: D-216. This is the cookie of an earlier sign-in,
 * the session certificate of the connection, or a refresh token in the body. Nothing is verified here.
 */
import { Secret } from '../../base/secrets/secret.ts'
import { inSeconds } from '../../base/time/duration.ts'
import type { ShownDevice } from '../../domain/factors/guessing/known-devices.ts'
import { DEVICE_LIFE } from '../../domain/factors/guessing/lock-rule.ts'
import { hostCookie } from '../answer.ts'
import type { Call } from '../call.ts'
import { cookieOf } from './cookies.ts'
import { type Fields, textField } from './fields.ts'
import { fingerprintOf } from './peer-certificate.ts'

const NAME = '__Host-latchkey-device'

/** Five sealed entries are far shorter. */
const LONGEST_COOKIE = 4096
const LONGEST_TOKEN = 512

type Presented = Pick<Call, 'headers' | 'certificateChain'>

const REFRESH_TOKEN_FIELD = 'refresh_token'

export function shownDevice(call: Presented, fields: Fields): ShownDevice {
  const refreshToken = fields.has(REFRESH_TOKEN_FIELD)
    ? new Secret(textField(fields, REFRESH_TOKEN_FIELD, LONGEST_TOKEN))
    : undefined
  const certificate = fingerprintOf(call.certificateChain())
  return { cookie: readCookie(call), certificate, refreshToken }
}

export function deviceCookie(value: string): string {
  return hostCookie(NAME, value, inSeconds(DEVICE_LIFE))
}

function readCookie(call: Presented): string | undefined {
  const value = cookieOf(call, NAME)
  return value !== undefined && value.length <= LONGEST_COOKIE ? value : undefined
}
