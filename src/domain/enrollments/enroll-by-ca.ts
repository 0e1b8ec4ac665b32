/**
 * Enrolls with a certificate of a third-party CA: the certificate of the connection becomes the credential of an
 * identity. With a token, of the identity that the token was created for; without one, of a new identity, if the CA's
 * settings allow it. API 3.2, 4.6; D-131. Enrolling never grants more than those settings. A certificate cannot be
 * guessed, so its refusal counts against no address (D-22); an unknown token does.
 */

import { X509Certificate } from 'node:crypto'
import { type AuthenticatorId, type IdentityId, newId } from '../../base/ids.ts'
import { networkOf } from '../../base/network.ts'
import type { Random } from '../../base/secrets/random.ts'
import type { Secret } from '../../base/secrets/secret.ts'
import { isLine } from '../../base/text.ts'
import type { Clock } from '../../base/time/clock.ts'
import { Failure } from '../../errors/catalogue.ts'
import { LONGEST_NAME } from '../../protocol/limits.ts'
import type { Caller, EnrollmentRefusalReason } from '../audit/events.ts'
import type { RecordEvent } from '../audit/record.ts'
import type { PresentedChain } from '../certificates/presented-chain.ts'
import type { Ca } from '../certificates/third-party/ca.ts'
import { createGuessOrder, oneAfterTheOther } from '../factors/guessing/guess-order.ts'
import type { FreshIdentity } from '../identities/identity.ts'
import { DEFAULT_POLICY_ID } from '../policies/auth-policy.ts'
import { inUse } from '../refusals.ts'
import type { Stores, Transaction } from '../stores.ts'
import type { JudgeForEnrollment, Purpose } from './ca-certificate.ts'
import { type Enrolling, identityName, unusedIdentityName } from './identity-name.ts'
import type { NewCredential, UseEnrollment } from './use-enrollment.ts'

/** Both throw CERT_FAILED_VALIDATION or CERT_IN_USE. */
export interface EnrollByCa {
  /** Also thrown: what `UseEnrollment` throws. */
  withToken(
    given: { readonly token: Secret; readonly shown: PresentedChain | undefined },
    caller: Caller,
  ): Promise<void>
  /** Answers the identity that was made. Also thrown: ENTITY_NAME_IN_USE, for the external id. */
  withoutToken(
    given: { readonly shown: PresentedChain | undefined },
    caller: Caller,
  ): Promise<IdentityId>
}

export function createEnrollByCa(deps: {
  readonly judgeForEnrollment: JudgeForEnrollment
  readonly useEnrollment: UseEnrollment
  readonly transaction: Transaction
  readonly clock: Clock
  readonly random: Random
  readonly recordEvent: RecordEvent
}): EnrollByCa {
  const { judgeForEnrollment, useEnrollment, transaction, clock } = deps
  const { random, recordEvent } = deps
  const beginRefusal = createGuessOrder()

  interface Attempt {
    readonly method: 'ottca' | 'ca'
    readonly identityId: IdentityId | undefined
    readonly caller: Caller
  }

  async function refuse(
    { method, identityId, caller }: Attempt,
    reason: EnrollmentRefusalReason,
    why?: string,
  ): Promise<never> {
    const details = { method, ...(why === undefined ? {} : { why }) }
    const refused = { type: 'enrollment.refused', identityId, reason, details } as const
    const event = recordEvent(caller, refused)
    await oneAfterTheOther(beginRefusal, networkOf(caller.address), () =>
      transaction((tx) => tx.events.insert(event)),
    )
    const detail = why === undefined ? reason : `${reason}: ${why}`
    const field = { field: 'certificate', reason: 'is missing on this connection' }
    throw new Failure('CERT_FAILED_VALIDATION', {
      detail,
      ...(reason === 'no-certificate' ? { field } : {}),
    })
  }

  async function judge(attempt: Attempt, shown: PresentedChain | undefined, purpose: Purpose) {
    const judged = await judgeForEnrollment(shown, purpose)
    if (judged.verdict === 'rejected') return refuse(attempt, judged.reason, judged.why)
    const { pem: certPem, fingerprint, externalId } = judged.certificate
    const credential = { method: 'cert', certPem, fingerprint, isIssuedByNetwork: false } as const
    return { ca: judged.ca, credential, externalId }
  }

  async function insertIdentity(
    tx: Pick<Stores, 'identities'>,
    identity: FreshIdentity,
    enrolling: Enrolling,
  ): Promise<void> {
    for (const name of [identityName(enrolling), unusedIdentityName(enrolling)]) {
      const outcome = await tx.identities.insert({ ...identity, name })
      if (outcome === 'inserted') return
      if (outcome === 'external-id-in-use') throw inUse('externalId')
    }
    throw inUse('name')
  }

  async function insertAuthenticator(
    tx: Pick<Stores, 'authenticators'>,
    identityId: IdentityId,
    credential: Extract<NewCredential, { method: 'cert' }>,
  ): Promise<AuthenticatorId> {
    const now = clock.now()
    const id = newId<AuthenticatorId>(random)
    const made = { id, identityId, tags: {}, createdAt: now, updatedAt: now }
    const outcome = await tx.authenticators.insert({ ...credential, ...made })
    if (outcome !== 'inserted') throw new Failure('CERT_IN_USE')
    return id
  }

  return {
    async withToken({ token, shown }, caller) {
      const invited = { token, method: 'ottca', caller } as const
      const { enrollment, identity } = await useEnrollment.look(invited)
      const attempt = { method: 'ottca', identityId: identity.id, caller } as const
      const purpose = { caId: enrollment.caId, isEnabled: isForTokens }
      const { credential } = await judge(attempt, shown, purpose)
      await useEnrollment.take(invited, identity.id, credential)
    },

    async withoutToken({ shown }, caller) {
      const attempt = { method: 'ca', identityId: undefined, caller } as const
      const judged = await judge(attempt, shown, { isEnabled: isForAnybody })
      const { externalId } = judged
      if (judged.ca.externalIdClaim !== undefined && !isExternalId(externalId)) {
        return refuse(attempt, 'external-id-missing', `by the claim of the CA ${judged.ca.id}`)
      }
      const now = clock.now()
      const identityId = newId<IdentityId>(random)
      const commonName = commonNameOf(judged.credential.certPem)
      await transaction(async (tx) => {
        // As the CA is now: what was judged is a copy.
        const ca = await tx.cas.find(judged.ca.id)
        if (ca === undefined || !ca.isVerified || !isForAnybody(ca)) {
          throw new Failure('CERT_FAILED_VALIDATION', { detail: 'the CA was switched off' })
        }
        // Before anything is made: nearly always this is what stands in the way.
        if ((await tx.authenticators.findCert(judged.credential.fingerprint)) !== undefined) {
          throw new Failure('CERT_IN_USE')
        }
        const identity: FreshIdentity = {
          id: identityId,
          name: '',
          type: 'Default',
          isAdmin: false,
          externalId,
          authPolicyId: DEFAULT_POLICY_ID,
          roleAttributes: ca.identityRoles,
          appData: {},
          tags: {},
          disabledAt: undefined,
          disabledUntil: undefined,
          createdAt: now,
          updatedAt: now,
        }
        await insertIdentity(tx, identity, { ca, commonName, identityId })
        const id = await insertAuthenticator(tx, identityId, judged.credential)
        await tx.events.insert(recordEvent(caller, { type: 'identity.created', identityId }))
        const created = { type: 'authenticator.created', identityId, details: { id } } as const
        await tx.events.insert(recordEvent(caller, created))
      })
      return identityId
    },
  }
}

const isForTokens = (ca: Ca): boolean => ca.isOttCaEnrollmentEnabled
const isForAnybody = (ca: Ca): boolean => ca.isAutoCaEnrollmentEnabled

function isExternalId(text: string | undefined): boolean {
  if (text === undefined) return false
  return text.length <= LONGEST_NAME && isLine(text)
}

/** The first of the subject; the legacy object has it as it is, unescaped. */
function commonNameOf(certPem: string): string | undefined {
  const { CN = [] } = new X509Certificate(certPem).toLegacyObject().subject ?? {}
  return [CN].flat()[0]
}
