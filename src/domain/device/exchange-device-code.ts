/**
 * `grant_type=urn:ietf:params:oauth:grant-type:device_code`: RFC 8628 §3.4, §3.5. A user's approval has stored a finished
 * login under the hash of the device code, so from there on it is an exchange like that of an authorization code: the
 * login is checked again, spent in the commit that begins the session, and used twice it ends that session (D-443).
 */
import { type ApiSessionId, newId } from '../../base/ids.ts'
import type { Secret } from '../../base/secrets/secret.ts'
import { inSeconds } from '../../base/time/duration.ts'
import { Failure } from '../../errors/catalogue.ts'
import type { Caller } from '../audit/events.ts'
import { isKnownClient } from '../login/known-client.ts'
import { redeem, refuseSpent } from '../tokens/exchange-code.ts'
import type { IssuedTokens } from '../tokens/issue.ts'
import type { ProvenKey } from '../tokens/possession/proven-key.ts'
import { type DeviceCode, deviceCodeHash, judgePoll } from './device-code.ts'
import type { DevicePorts } from './ports.ts'

export interface DeviceExchange {
  readonly clientId: string
  readonly deviceCode: Secret
  /** The key that the client proved, if it did (RFC 9449 §5). */
  readonly key?: ProvenKey | undefined
  readonly caller: Caller
}

/**
 * Throws INVALID_CLIENT, INVALID_GRANT; AUTHORIZATION_PENDING and SLOW_DOWN until the user has answered; ACCESS_DENIED,
 * EXPIRED_DEVICE_CODE; INVALID_DPOP_PROOF.
 */
export async function exchangeDeviceCode(
  ports: DevicePorts,
  { clientId, deviceCode, key, caller }: DeviceExchange,
): Promise<IssuedTokens> {
  const { vault, clock, deviceCodes } = ports
  if (!isKnownClient(ports, clientId)) throw new Failure('INVALID_CLIENT')
  const device = await deviceCodes.find(deviceCodeHash(vault, deviceCode.reveal()))
  if (device === undefined) throw refuse('the device code is unknown')
  // R031, RFC 8628 §3.4: a device code is for the client that asked for it, and another one does not touch it.
  if (device.clientId !== clientId) throw refuse('the client is another one')
  switch (device.answer) {
    case 'denied':
      throw new Failure('ACCESS_DENIED')
    case 'approved':
      return exchangeApproved(ports, device, key, caller)
    case 'pending':
      if (device.expiresAt <= clock.now()) throw new Failure('EXPIRED_DEVICE_CODE')
      throw await keepWaiting(ports, device)
  }
}

/** Returns the failure to throw. */
async function keepWaiting(
  { deviceCodes, clock }: Pick<DevicePorts, 'deviceCodes' | 'clock'>,
  device: DeviceCode,
): Promise<Failure> {
  const now = clock.now()
  const { isTooEarly, interval, isStored } = judgePoll(device, now)
  if (isStored) await deviceCodes.markPolled(device.hash, now, interval)
  const retryAfterSeconds = inSeconds(interval)
  return new Failure(isTooEarly ? 'SLOW_DOWN' : 'AUTHORIZATION_PENDING', { retryAfterSeconds })
}

async function exchangeApproved(
  ports: DevicePorts,
  { hash, clientId, expiresAt }: DeviceCode,
  key: ProvenKey | undefined,
  caller: Caller,
): Promise<IssuedTokens> {
  const now = ports.clock.now()
  const request = await ports.authRequests.findByCode(hash)
  const presented = { codeHash: hash, clientId, at: now, caller }
  if (request === undefined) throw await refuseSpent(ports, presented)
  if (expiresAt <= now) throw new Failure('EXPIRED_DEVICE_CODE')
  const sessionId = newId<ApiSessionId>(ports.random)
  return redeem(ports, request, { ...presented, sessionId, key, isDevice: true })
}

function refuse(detail: string): Failure {
  return new Failure('INVALID_GRANT', { detail })
}
