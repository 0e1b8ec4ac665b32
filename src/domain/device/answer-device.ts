/**
 * What a user who signed in at the page for devices can do with a user code: look at the request, approve it, deny it.
 * RFC 8628 §3.3, D-441, D-443. A code is looked up only for a user who has signed in, so anonymous callers cannot guess.
 */
import { base64url } from '../../base/encoding.ts'
import { toRfc3339 } from '../../base/time/instant.ts'
import { isFreshLogin } from '../account/session.ts'
import type { Caller } from '../audit/events.ts'
import { record, recordEvent } from '../audit/record.ts'
import type { AuthRequestKey, CodeIssued } from '../login/request/auth-request.ts'
import { NO_REDIRECT } from '../login/request/verified-redirect.ts'
import type { ApiSession } from '../sessions/api-session.ts'
import { type CallSession, findCallSession, holdSession } from '../sessions/call-session.ts'
import { type DeviceCode, userCodeHash } from './device-code.ts'
import type { DevicePorts } from './ports.ts'
import type { UserCode } from './user-code.ts'

/** Why a code cannot be answered. `unknown` counts as a wrong guess. */
export type DeviceRefusal = 'unknown' | 'expired' | 'answered'

const KEY_BYTES = 16

/** All wrong codes count under this name. */
const EVERYBODY = 'everybody'

/** Throws RATE_LIMITED after too many wrong codes of the address, of the identity, or of all callers (RFC 8628 §5.1). */
export async function findDevice(
  ports: DevicePorts,
  { userCode, session, caller }: Asked,
): Promise<DeviceCode | DeviceRefusal> {
  const { userCodeFailures, allUserCodeFailures, deviceCodes, vault, clock } = ports
  const guess = async (fail: () => void): Promise<DeviceCode | DeviceRefusal> => {
    const device = await deviceCodes.findByUserCode(userCodeHash(vault, userCode))
    if (device !== undefined) return refusalOf(device) ?? device
    fail()
    const { identityId } = session
    const wrong = { type: 'device.refused', identityId, reason: 'unknown-user-code' } as const
    await record(ports, ports, caller, wrong)
    return 'unknown'
  }
  return userCodeFailures.guard(caller.address, (failAddress) =>
    userCodeFailures.guard(`identity ${session.identityId}`, (failIdentity) =>
      allUserCodeFailures.guard(EVERYBODY, (failAll) =>
        guess(() => {
          failAddress()
          failIdentity()
          failAll()
        }),
      ),
    ),
  )

  function refusalOf({ answer, expiresAt }: DeviceCode): DeviceRefusal | undefined {
    if (answer !== 'pending') return 'answered'
    return expiresAt <= clock.now() ? 'expired' : undefined
  }
}

interface Asked {
  readonly userCode: UserCode
  readonly session: CallSession
  readonly caller: Caller
}

/**
 * Records the answer. Approving stores the user's login for the device: a finished login whose code is the device code.
 * Returns `done`, `stale` if the user must sign in again first, `certificate` if the login cannot be handed to a device
 * (D-444), or why the code cannot be answered. Throws RATE_LIMITED, and UNAUTHORIZED if the session has ended.
 */
export async function answerDevice(
  ports: DevicePorts,
  asked: Asked & { readonly answer: 'approved' | 'denied' },
): Promise<'done' | 'stale' | 'certificate' | DeviceRefusal> {
  const { answer, session, caller } = asked
  const { clock } = ports
  if (!(await isFreshLogin(ports, session))) return 'stale'
  const device = await findDevice(ports, asked)
  if (typeof device === 'string') return device
  const approver = await findCallSession(ports, ports, session)
  if (answer === 'approved' && !canBeHanded(approver)) return 'certificate'
  const now = clock.now()
  const { identityId } = approver
  const { address, userAgent, requestedAt } = device
  const answered = recordEvent(ports, caller, {
    type: `device.${answer}`,
    identityId,
    details: {
      address,
      ...(userAgent === undefined ? {} : { userAgent }),
      requestedAt: toRfc3339(requestedAt),
    },
  })
  const login = answer === 'approved' ? loginFor(ports, device, approver) : undefined
  return ports.transaction(async (tx) => {
    // Locked, because whatever ends the session deletes its row: one that ends at this moment approves nothing.
    await holdSession(ports, tx, session)
    if (!(await tx.deviceCodes.answer(device.userCodeHash, answer, now))) return 'answered'
    if (login !== undefined && !(await tx.authRequests.insert(login))) {
      throw new Error('a new auth request has the key of another one')
    }
    await tx.events.insert(answered)
    return 'done'
  })
}

/** D-444: tokens name the certificate of the login, and the device does not have it. */
function canBeHanded({ primary }: Pick<ApiSession, 'primary'>): boolean {
  return primary.method !== 'cert'
}

/** The key is never sealed into an id, so no step of a login can reach this request; only the device code does. */
function loginFor(
  { random }: Pick<DevicePorts, 'random'>,
  { hash, clientId, issuer, scopes, expiresAt }: DeviceCode,
  { primary, secondary }: ApiSession,
): CodeIssued {
  return {
    state: 'code-issued',
    key: base64url(random.bytes(KEY_BYTES)) as AuthRequestKey,
    revision: 1,
    ask: {
      clientId,
      redirectUri: NO_REDIRECT,
      responseMode: 'query',
      issuer,
      scopes,
      codeChallenge: '',
      dpopKey: undefined,
      state: undefined,
      nonce: undefined,
      prompt: undefined,
      maxAge: undefined,
      stepUp: undefined,
      configTypes: [],
    },
    browser: undefined,
    primary,
    secondary,
    reusedSession: undefined,
    codeHash: hash,
    codeExpiresAt: expiresAt,
    byEnrollment: false,
    // The exchange chooses it: the event of the approval is one of the approving session.
    sessionId: undefined,
    expiresAt,
  }
}
