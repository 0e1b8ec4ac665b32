/**
 * A device that waits until a user approves its sign-in in a browser elsewhere: RFC 8628, D-440. The device polls with its
 * device code, and the user types the user code. Both are stored as hashes.
 */
import type { SecretHash, Vault } from '../../base/secrets/vault.ts'
import { type Duration, minutes, seconds } from '../../base/time/duration.ts'
import { type Instant, plus } from '../../base/time/instant.ts'
import type { Issuer, Scope } from '../../protocol/oidc.ts'
import type { UserCode } from './user-code.ts'

/** D-440: how long a user has. */
export const DEVICE_CODE_LIFE: Duration = minutes(10)

/** RFC 8628 §3.2: how long a device waits between two polls. */
export const FIRST_INTERVAL: Duration = seconds(5)

/** RFC 8628 §3.5: what a `slow_down` adds. */
const SLOWER_BY: Duration = seconds(5)

/** From this interval on, a poll that comes too early is not written any more (D-442). */
const SLOWEST: Duration = seconds(60)

/** Timers and networks are not exact. */
const TOLERANCE: Duration = seconds(1)

export type DeviceAnswer = 'pending' | 'approved' | 'denied'

export interface DeviceCode {
  readonly hash: SecretHash
  readonly userCodeHash: SecretHash
  readonly clientId: string
  readonly issuer: Issuer
  readonly scopes: readonly Scope[]
  /** Of the device, to show to the user (RFC 8628 §5.4). */
  readonly address: string
  readonly userAgent: string | undefined
  readonly requestedAt: Instant
  readonly expiresAt: Instant
  readonly interval: Duration
  readonly polledAt: Instant | undefined
  readonly answer: DeviceAnswer
}

export function deviceCodeHash({ hash }: Pick<Vault, 'hash'>, deviceCode: string): SecretHash {
  return hash('device-code', deviceCode)
}

export function userCodeHash({ hash }: Pick<Vault, 'hash'>, userCode: UserCode): SecretHash {
  return hash('user-code', userCode)
}

/** What a poll of an undecided device means: how to answer it, and what to store of it. */
export function judgePoll(
  { polledAt, interval }: Pick<DeviceCode, 'polledAt' | 'interval'>,
  now: Instant,
): { readonly isTooEarly: boolean; readonly interval: Duration; readonly isStored: boolean } {
  const isTooEarly = polledAt !== undefined && plus(now, TOLERANCE) < plus(polledAt, interval)
  if (!isTooEarly) return { isTooEarly, interval, isStored: true }
  const isSlowest = interval >= SLOWEST
  const slower = (isSlowest ? interval : interval + SLOWER_BY) as Duration
  return { isTooEarly, interval: slower, isStored: !isSlowest }
}
