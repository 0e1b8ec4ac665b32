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
import type { RecordEvent } from '../audit/record.ts'
import type { PresentedChain } from '../certificates/presented-chain.ts'
import type { CertificateFactor } from '../factors/client-certificate.ts'
import type { ExternalJwtFactor } from '../factors/external-jwt.ts'
import type { AddressFailures } from '../factors/guessing/failures.ts'
import { type BeginGuess, oneAfterTheOther } from '../factors/guessing/guess-order.ts'
import type { KnownDevices, ShownDevice } from '../factors/guessing/known-devices.ts'
import type { PasswordCredentials, PasswordFactor } from '../factors/password.ts'
import type { Accepted, PrimaryVerdict, Rejected } from '../factors/verdict.ts'
import { usernameKey } from '../identities/authenticator.ts'
import type { Transaction } from '../stores.ts'

export type PrimaryCredential =
  | { readonly method: 'password'; readonly credentials: PasswordCredentials }
  | { readonly method: 'cert'; readonly chain: PresentedChain | undefined }
  /** The bearer tokens of the call are the credential. */
  | { readonly method: 'ext-jwt' }

export interface PrimarySubmission {
  readonly credential: PrimaryCredential
  /** Every bearer token of the call: the primary JWT, or one beside another credential (D-14). */
  readonly bearers: readonly Secret[]
  /** A primary JWT must show an authentication since then (D-241); any age is accepted if it is missing. */
  readonly since?: Instant | undefined
  readonly caller: Caller
  /** With a password: what may show that the device is known (D-216). */
  readonly device?: ShownDevice
}

/** Who it is. Thrown: INVALID_AUTH, UNAUTHORIZED with challenges, RATE_LIMITED, SERVER_TOO_BUSY. */
export type ProvePrimary = (submission: PrimarySubmission) => Promise<Accepted>

export function createProvePrimary(deps: {
  readonly password: PasswordFactor
  readonly certificate: CertificateFactor
  readonly externalJwt: ExternalJwtFactor
  /** Counts wrong passwords only. */
  readonly addressFailures: AddressFailures
  readonly knownDevices: KnownDevices
  readonly beginGuess: BeginGuess
  readonly transaction: Transaction
  readonly recordEvent: RecordEvent
}): ProvePrimary {
  const { addressFailures, knownDevices, transaction, recordEvent } = deps

  return async (submission) => {
    const { credential, bearers, since } = submission
    switch (credential.method) {
      case 'password':
        return provePassword(submission, credential.credentials)
      case 'cert':
        return settle(submission, await deps.certificate(credential.chain))
      case 'ext-jwt':
        return settle(submission, await deps.externalJwt(bearers, since))
    }
  }

  async function provePassword(
    submission: PrimarySubmission,
    credentials: PasswordCredentials,
  ): Promise<Accepted> {
    const { caller, device: shown = {} } = submission
    const device = await knownDevices.recognize(shown, credentials.username)
    const origin = { network: networkOf(caller.address), device }
    const attempt = async (fail: () => void): Promise<Accepted> => {
      const lane = `${device ?? origin.network} ${usernameKey(credentials.username)}`
      const guess = deps.beginGuess(lane)
      try {
        const verdict = await deps.password(credentials, { caller, origin, guess })
        if (verdict.verdict === 'rejected') fail()
        return await settle(submission, verdict)
      } finally {
        guess.end()
      }
    }
    // A known device has a count of its own: its neighbors do not stop it. Here too, and not in the database alone, where a
    // policy may switch it off.
    const accepted = await addressFailures.guard(device ?? caller.address, attempt)
    return { ...accepted, ...rememberIn(shown, accepted) }
  }

  function rememberIn(shown: ShownDevice, { primary }: Accepted): Pick<Accepted, 'device'> {
    const { authenticatorId: id, credentialVersion } = primary
    if (id === undefined || credentialVersion === undefined) return {}
    return { device: knownDevices.remember(shown, { id, credentialVersion }) }
  }

  async function settle(
    { credential, caller }: PrimarySubmission,
    verdict: PrimaryVerdict,
  ): Promise<Accepted> {
    if (verdict.verdict === 'accepted') return verdict
    await record(credential, verdict, caller)
    const { reason, why, challenges } = verdict
    const detail = why === undefined ? reason : `${reason}: ${why}`
    if (challenges === undefined) throw new Failure('INVALID_AUTH', { detail })
    // With no signer at all the pair for "no supported token" fits (D-37).
    throw new Failure('UNAUTHORIZED', challenges.length === 0 ? { detail } : { challenges, detail })
  }

  async function record(
    credential: PrimaryCredential,
    { reason, identityId, why, count }: Rejected,
    caller: Caller,
  ): Promise<void> {
    const details = {
      method: credential.method,
      ...(credential.method === 'password' ? { username: credential.credentials.username } : {}),
      ...(why === undefined ? {} : { why }),
    }
    const failed = recordEvent(caller, { type: 'login.failed', identityId, reason, details })
    const write = () =>
      transaction(async (tx) => {
        await count?.(tx)
        await tx.events.insert(failed)
      })
    if (credential.method === 'password') await write()
    // Nothing limits how often a certificate or a JWT is tried, and each refusal is a commit (D-207).
    else await oneAfterTheOther(deps.beginGuess, `refusals ${networkOf(caller.address)}`, write)
  }
}
