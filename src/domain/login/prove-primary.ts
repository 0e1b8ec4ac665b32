/**
 * A primary credential, whichever it is, for a login of either kind: OIDC or legacy. SPEC Primary login; D-12.
 * Refusals are recorded with their exact reason and thrown with one dull sentence. A failure counts against the
 * address it came from (D-22).
 */
import type { Secret } from '../../base/secrets/secret.ts'
import type { Instant } from '../../base/time/instant.ts'
import { Failure } from '../../errors/catalogue.ts'
import type { Caller } from '../audit/events.ts'
import type { RecordEvent } from '../audit/record.ts'
import type { PresentedChain } from '../certificates/presented-chain.ts'
import type { CertificateFactor } from '../factors/client-certificate.ts'
import type { ExternalJwtFactor } from '../factors/external-jwt.ts'
import type { AddressFailures } from '../factors/failures.ts'
import type { PasswordCredentials, PasswordFactor } from '../factors/password.ts'
import type { Accepted, PrimaryVerdict, Rejected } from '../factors/verdict.ts'
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
  /** A primary JWT must show an authentication since then (D-241); any age will do where it is not given. */
  readonly since?: Instant | undefined
  readonly caller: Caller
}

/** Who it is. Thrown: INVALID_AUTH, UNAUTHORIZED with challenges, RATE_LIMITED, SERVER_TOO_BUSY. */
export type ProvePrimary = (submission: PrimarySubmission) => Promise<Accepted>

export function createProvePrimary(deps: {
  readonly password: PasswordFactor
  readonly certificate: CertificateFactor
  readonly externalJwt: ExternalJwtFactor
  readonly addressFailures: AddressFailures
  readonly transaction: Transaction
  readonly recordEvent: RecordEvent
}): ProvePrimary {
  const { addressFailures, transaction, recordEvent } = deps

  return async (submission) => {
    const { credential, caller } = submission
    addressFailures.check(caller.address)
    const verdict = await judge(submission)
    if (verdict.verdict === 'accepted') return verdict

    addressFailures.add(caller.address)
    await record(credential, verdict, caller)
    const { reason, why, challenges } = verdict
    const detail = why === undefined ? reason : `${reason}: ${why}`
    if (challenges === undefined) throw new Failure('INVALID_AUTH', { detail })
    // With no signer at all the pair for "no supported token" fits (D-37).
    throw new Failure('UNAUTHORIZED', challenges.length === 0 ? { detail } : { challenges, detail })
  }

  function judge({
    credential,
    bearers,
    since,
    caller,
  }: PrimarySubmission): Promise<PrimaryVerdict> {
    switch (credential.method) {
      case 'password':
        return deps.password(credential.credentials, caller)
      case 'cert':
        return deps.certificate(credential.chain)
      case 'ext-jwt':
        return deps.externalJwt(bearers, since)
    }
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
    await transaction(async (tx) => {
      await count?.(tx)
      await tx.events.insert(failed)
    })
  }
}
