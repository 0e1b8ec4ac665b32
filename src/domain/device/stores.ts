import type { SecretHash } from '../../base/secrets/vault.ts'
import type { Duration } from '../../base/time/duration.ts'
import type { Instant } from '../../base/time/instant.ts'
import type { DeviceAnswer, DeviceCode } from './device-code.ts'

export interface DeviceCodes {
  find(hash: SecretHash): Promise<DeviceCode | undefined>
  findByUserCode(hash: SecretHash): Promise<DeviceCode | undefined>
  /** Returns false if another device has that user code. */
  insert(code: DeviceCode): Promise<boolean>
  /**
   * Counts the codes that a user could still approve: all of them, those of the network, and those of its site, which is
   * the network itself for IPv4.
   */
  countOutstanding(
    network: string,
    now: Instant,
  ): Promise<{ readonly all: number; readonly ofNetwork: number; readonly ofSite: number }>
  /** Records the last poll of the device, and how long it must wait before the next one. */
  markPolled(hash: SecretHash, at: Instant, interval: Duration): Promise<void>
  /**
   * Records the user's answer in one statement. Returns false if the device has an answer already or has expired: of two
   * answers at once, one counts.
   */
  answer(
    userCodeHash: SecretHash,
    answer: Exclude<DeviceAnswer, 'pending'>,
    at: Instant,
  ): Promise<boolean>
  /** Deletes at most `limit` codes that expired before `before`, and returns how many it deleted. */
  removeExpired(before: Instant, limit: number): Promise<number>
}
