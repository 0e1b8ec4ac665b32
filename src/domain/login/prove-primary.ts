/**
 * Checks a primary credential of any kind, for both kinds of login: OIDC and legacy. SPEC Primary login; D-12. Refusals
 * are recorded with their exact reason and thrown with one generic sentence.
 *
 * Only what can be guessed is limited: a wrong password counts against the address it came from (D-22). A certificate
 * or a JWT is always checked, whatever else came from its address, so that an attacker cannot cut off others behind the
 * same NAT.
 */
import { networkOf } from '../../base/network.ts'
import type { Secret } from '../../base/secrets/secret.ts'
import type { Instant } from '../../base/time/instant.ts'
import { Failure } from '../../errors/catalogue.ts'
import type { Caller } from '../audit/events.ts'
import { recordEvent } from '../audit/record.ts'
import type { PresentedChain } from '../certificates/presented-chain.ts'
import { proveByCertificate } from '../factors/client-certificate.ts'
import { proveByExternalJwt } from '../factors/external-jwt.ts'
import { oneAfterTheOther } from '../factors/guessing/guess-order.ts'
import {
  recognizeDevice,
  rememberDevice,
  type ShownDevice,
} from '../factors/guessing/known-devices.ts'
import { type PasskeyCredentials, proveByPasskey } from '../factors/passkey/prove-by-passkey.ts'
import { type PasswordCredentials, proveByPassword } from '../factors/passwords/password.ts'
import type { Accepted, PrimaryVerdict, Rejected } from '../factors/verdict.ts'
import { usernameKey } from '../identities/authenticator.ts'
import { refuseStale } from '../policies/rules.ts'
import type { LoginPorts } from './ports.ts'

export type PrimaryCredential =
  | { readonly method: 'password'; readonly credentials: PasswordCredentials }
  | { readonly method: 'cert'; readonly chain: PresentedChain | undefined }
  /** The bearer tokens of the call are the credential. */
  | { readonly method: 'ext-jwt' }
  /** Only in an OIDC login: its challenge belongs to one. */
  | { readonly method: 'passkey'; readonly credentials: PasskeyCredentials }

export interface PrimarySubmission {
  readonly credential: PrimaryCredential
  /** Every bearer token of the call: the primary JWT, or one beside another credential (D-14). */
  readonly bearers: readonly Secret[]
  /** A primary JWT must show an authentication since then (D-241); any age is accepted if it is missing. */
  readonly since?: Instant | undefined
  readonly caller: Caller
  /** With a password: what may prove that the device is known (D-216). */
  readonly device?: ShownDevice
}

/**
 * Returns the proven identity. Throws INVALID_AUTH, UNAUTHORIZED with challenges, RATE_LIMITED, SERVER_TOO_BUSY,
 * NOT_READY.
 */
export async function provePrimary(
  ports: LoginPorts,
  submission: PrimarySubmission,
): Promise<Accepted> {
  const { credential, bearers, since } = submission
  // First, so that the refusal does not depend on the credential (R077).
  refuseStale(ports.rules)
  switch (credential.method) {
    case 'password':
      return provePassword(ports, submission, credential.credentials)
    case 'cert':
      return settle(ports, submission, await proveByCertificate(ports, credential.chain))
    case 'ext-jwt':
      return settle(ports, submission, await proveByExternalJwt(ports, bearers, since))
    case 'passkey':
      return settle(ports, submission, await proveByPasskey(ports, credential.credentials))
  }
}

async function provePassword(
  ports: LoginPorts,
  submission: PrimarySubmission,
  credentials: PasswordCredentials,
): Promise<Accepted> {
  const { caller, device: shown = {} } = submission
  const device = await recognizeDevice(ports, shown, credentials.username)
  const origin = { network: networkOf(caller.address), device }
  const attempt = async (fail: () => void): Promise<Accepted> => {
    const lane = `${device ?? origin.network} ${usernameKey(credentials.username)}`
    const guess = ports.beginGuess(lane)
    try {
      const verdict = await proveByPassword(ports, credentials, { caller, origin, guess })
      if (verdict.verdict === 'rejected') fail()
      return await settle(ports, submission, verdict)
    } finally {
      guess.end()
    }
  }
  // A known device has its own count, so failures of others at the same address do not block it. It is counted here as
  // well as in the database, where a policy may switch the count off.
  const accepted = await ports.addressFailures.guard(device ?? caller.address, attempt)
  const { authenticatorId: id, credentialVersion } = accepted.primary
  if (id === undefined || credentialVersion === undefined) return accepted
  return { ...accepted, device: rememberDevice(ports, shown, { id, credentialVersion }) }
}

async function settle(
  ports: LoginPorts,
  { credential, caller }: PrimarySubmission,
  verdict: PrimaryVerdict,
): Promise<Accepted> {
  if (verdict.verdict === 'accepted') return verdict
  await record(ports, credential, verdict, caller)
  const { reason, why, challenges } = verdict
  const detail = why === undefined ? reason : `${reason}: ${why}`
  if (challenges === undefined) {
    const next = credential.method === 'cert' ? 'present-certificate' : 'correct-credentials'
    throw new Failure('INVALID_AUTH', { detail, next })
  }
  // If there is no signer at all, use the challenge for "no supported token" (D-37).
  throw new Failure('UNAUTHORIZED', challenges.length === 0 ? { detail } : { challenges, detail })
}

async function record(
  ports: LoginPorts,
  credential: PrimaryCredential,
  { reason, identityId, why, clock, count }: Rejected,
  caller: Caller,
): Promise<void> {
  const details = {
    method: credential.method,
    ...(credential.method === 'password' ? { username: credential.credentials.username } : {}),
    ...(why === undefined ? {} : { why }),
    ...(clock === undefined ? {} : { clock }),
  }
  const failed = recordEvent(ports, caller, { type: 'login.failed', identityId, reason, details })
  const write = () =>
    ports.transaction(async (tx) => {
      await count?.(tx)
      await tx.events.insert(failed)
    })
  if (credential.method === 'password') await write()
  // Attempts with a certificate, a JWT or a passkey are not limited, and each refusal is a commit (D-207).
  else await oneAfterTheOther(ports.beginGuess, `refusals ${networkOf(caller.address)}`, write)
}
