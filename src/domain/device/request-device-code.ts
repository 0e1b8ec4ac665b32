/**
 * The device authorization request: RFC 8628 §3.1, §3.2, D-440. Any caller can send one and each is a row, so the number
 * of undecided ones is bounded, for each network, for each site of IPv6 and in total (D-442).
 */
import { base64url } from '../../base/encoding.ts'
import { networkOf } from '../../base/network.ts'
import { Secret } from '../../base/secrets/secret.ts'
import { inSeconds } from '../../base/time/duration.ts'
import { plus } from '../../base/time/instant.ts'
import { Failure } from '../../errors/catalogue.ts'
import { type Issuer, SCOPES } from '../../protocol/oidc.ts'
import type { Caller } from '../audit/events.ts'
import { isKnownClient } from '../login/known-client.ts'
import {
  DEVICE_CODE_LIFE,
  type DeviceCode,
  deviceCodeHash,
  FIRST_INTERVAL,
  userCodeHash,
} from './device-code.ts'
import type { DevicePorts } from './ports.ts'
import { newUserCode, type UserCode } from './user-code.ts'

/** 256 bits. */
const DEVICE_CODE_BYTES = 32

/** D-442. Concurrent requests can exceed them by as many as run at the same time. */
const MOST_OF_A_NETWORK = 20
const MOST_OF_A_SITE = 200
const MOST_OUTSTANDING = 2000

/** Two devices with the same user code are so rare that a second attempt is enough. */
const ATTEMPTS = 3

export interface DeviceRequest {
  readonly issuer: Issuer
  readonly clientId: string
  readonly scope: string | undefined
  readonly caller: Caller
}

export interface RequestedDeviceCode {
  readonly deviceCode: Secret
  readonly userCode: UserCode
  readonly expiresInSeconds: number
  readonly intervalSeconds: number
}

/** Throws INVALID_CLIENT, INVALID_SCOPE, RATE_LIMITED, SERVER_TOO_BUSY. */
export async function requestDeviceCode(
  ports: Pick<
    DevicePorts,
    'clientId' | 'otherClientIds' | 'vault' | 'random' | 'clock' | 'transaction'
  >,
  { issuer, clientId, scope, caller }: DeviceRequest,
): Promise<RequestedDeviceCode> {
  const { vault, random, clock } = ports
  if (!isKnownClient(ports, clientId)) throw new Failure('INVALID_CLIENT')
  const words = scope?.split(' ') ?? []
  if (!words.includes('openid')) throw new Failure('INVALID_SCOPE')
  const deviceCode = base64url(random.bytes(DEVICE_CODE_BYTES))
  const now = clock.now()
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const userCode = newUserCode(random)
    const isStored = await insertBounded(ports, {
      hash: deviceCodeHash(vault, deviceCode),
      userCodeHash: userCodeHash(vault, userCode),
      clientId,
      issuer,
      scopes: SCOPES.filter((known) => words.includes(known)),
      address: caller.address,
      userAgent: caller.userAgent,
      requestedAt: now,
      expiresAt: plus(now, DEVICE_CODE_LIFE),
      interval: FIRST_INTERVAL,
      polledAt: undefined,
      answer: 'pending',
    })
    if (!isStored) continue
    return {
      deviceCode: new Secret(deviceCode),
      userCode,
      expiresInSeconds: inSeconds(DEVICE_CODE_LIFE),
      intervalSeconds: inSeconds(FIRST_INTERVAL),
    }
  }
  throw new Error('no user code is free')
}

/** Counts and inserts in one transaction, so that the bound holds on a database with one writer. */
function insertBounded(
  { transaction }: Pick<DevicePorts, 'transaction'>,
  code: DeviceCode,
): Promise<boolean> {
  return transaction(async (tx) => {
    const { all, ofNetwork, ofSite } = await tx.deviceCodes.countOutstanding(
      networkOf(code.address),
      code.requestedAt,
    )
    if (ofNetwork >= MOST_OF_A_NETWORK || ofSite >= MOST_OF_A_SITE) {
      const detail = 'too many devices of this address wait for their users'
      throw new Failure('RATE_LIMITED', { retryAfterSeconds: 60, detail })
    }
    if (all >= MOST_OUTSTANDING) {
      const detail = 'too many devices wait for their users'
      throw new Failure('SERVER_TOO_BUSY', { retryAfterSeconds: 60, detail })
    }
    return tx.deviceCodes.insert(code)
  })
}
