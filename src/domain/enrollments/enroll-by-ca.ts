/**
 * Enrolls with a certificate of a third-party CA: the certificate of the connection becomes the credential of an
 * identity. With a token, of the identity that the token was created for; without one, of a new identity, if the CA's
 * settings allow it. API 3.2, 4.6; D-131. Enrolling never grants more than those settings. A certificate cannot be
 * guessed, so its refusal counts against no address (D-22); an unknown token does.
 */

import { X509Certificate } from 'node:crypto'
import { type CaId, type IdentityId, newId } from '../../base/ids.ts'
import { networkOf } from '../../base/network.ts'
import type { Secret } from '../../base/secrets/secret.ts'
import { isLine } from '../../base/text.ts'
import { Failure } from '../../errors/catalogue.ts'
import { LONGEST_NAME } from '../../protocol/limits.ts'
import type { ClockOff } from '../audit/clock-off.ts'
import type { Caller } from '../audit/events.ts'
import type { EnrollmentRefusalReason } from '../audit/reasons.ts'
import { record, recordEvent } from '../audit/record.ts'
import type { PresentedChain } from '../certificates/presented-chain.ts'
import type { Ca } from '../certificates/third-party/ca.ts'
import { commonNames } from '../certificates/third-party/prove-ca.ts'
import { oneAfterTheOther } from '../factors/guessing/guess-order.ts'
import { type FreshIdentity, freshIdentity } from '../identities/identity.ts'
import { DEFAULT_POLICY_ID } from '../policies/auth-policy.ts'
import { inUse } from '../refusals.ts'
import type { Stores } from '../stores.ts'
import { judgeForEnrollment, type Purpose } from './ca-certificate.ts'
import { type Enrolling, identityName, unusedIdentityName } from './identity-name.ts'
import type { EnrollmentPorts } from './ports.ts'
import { addAuthenticatorWithin, findEnrollment, takeEnrollment } from './use-enrollment.ts'

/** Throws CERT_FAILED_VALIDATION or CERT_IN_USE, and what `takeEnrollment` throws. */
export async function enrollByCaAndToken(
  ports: EnrollmentPorts,
  { token, shown }: { readonly token: Secret; readonly shown: PresentedChain | undefined },
  caller: Caller,
): Promise<void> {
  const invited = { token, method: 'ottca', caller } as const
  const { enrollment, identity } = await findEnrollment(ports, invited)
  const attempt = { method: 'ottca', identityId: identity.id, caller } as const
  const purpose = { caId: enrollment.caId, isEnabled: isForTokens }
  const { ca, credential } = await judge(ports, attempt, shown, purpose)
  const check = (tx: Stores) => currentCa(tx, ca.id, isForTokens)
  await orRefuse(ports, attempt, takeEnrollment(ports, invited, identity.id, credential, check))
}

/** Returns the identity that was created. Throws CERT_FAILED_VALIDATION, CERT_IN_USE; ENTITY_NAME_IN_USE, for the external id. */
export async function enrollByCaAlone(
  ports: EnrollmentPorts,
  { shown }: { readonly shown: PresentedChain | undefined },
  caller: Caller,
): Promise<IdentityId> {
  const attempt = { method: 'ca', identityId: undefined, caller } as const
  const judged = await judge(ports, attempt, shown, { isEnabled: isForAnybody })
  const { externalId } = judged
  if (judged.ca.externalIdClaim !== undefined && !isExternalId(externalId)) {
    return refuse(ports, attempt, 'external-id-missing', `by the claim of the CA ${judged.ca.id}`)
  }
  const now = ports.clock.now()
  const identityId = newId<IdentityId>(ports.random)
  const [commonName] = commonNames(new X509Certificate(judged.credential.certPem))
  const enrolling = ports.transaction(async (tx) => {
    const ca = await currentCa(tx, judged.ca.id, isForAnybody)
    // Check this before creating anything: it is by far the most common conflict.
    if ((await tx.authenticators.findCert(judged.credential.fingerprint)) !== undefined) {
      throw new Failure('CERT_IN_USE')
    }
    const chosen = { authPolicyId: DEFAULT_POLICY_ID, externalId, roleAttributes: ca.identityRoles }
    const identity = freshIdentity({ ...chosen, id: identityId, name: '' }, now)
    await insertIdentity(tx, identity, { ca, commonName, identityId })
    await record(ports, tx, caller, { type: 'identity.created', identityId })
    await addAuthenticatorWithin(ports, tx, { ...judged.credential, identityId, tags: {} }, caller)
  })
  await orRefuse(ports, attempt, enrolling)
  return identityId
}

interface Attempt {
  readonly method: 'ottca' | 'ca'
  readonly identityId: IdentityId | undefined
  readonly caller: Caller
}

async function refuse(
  ports: EnrollmentPorts,
  { method, identityId, caller }: Attempt,
  reason: EnrollmentRefusalReason,
  why?: string,
  clock?: ClockOff,
): Promise<never> {
  const details = {
    method,
    ...(why === undefined ? {} : { why }),
    ...(clock === undefined ? {} : { clock }),
  }
  const refused = { type: 'enrollment.refused', identityId, reason, details } as const
  const event = recordEvent(ports, caller, refused)
  await oneAfterTheOther(ports.beginEnrollmentRefusal, networkOf(caller.address), () =>
    ports.transaction((tx) => tx.events.insert(event)),
  )
  const detail = why === undefined ? reason : `${reason}: ${why}`
  const field = { field: 'certificate', reason: 'is missing on this connection' }
  throw new Failure('CERT_FAILED_VALIDATION', {
    detail,
    next: 'present-certificate',
    ...(reason === 'no-certificate' ? { field } : {}),
  })
}

async function judge(
  ports: EnrollmentPorts,
  attempt: Attempt,
  shown: PresentedChain | undefined,
  purpose: Purpose,
) {
  const judged = await judgeForEnrollment(ports, shown, purpose)
  if (judged.verdict === 'rejected') {
    return refuse(ports, attempt, judged.reason, judged.why, judged.clock)
  }
  const { pem: certPem, fingerprint, externalId } = judged.certificate
  const credential = { method: 'cert', certPem, fingerprint, isIssuedByNetwork: false } as const
  return { ca: judged.ca, credential, externalId }
}

/** Refuses if the CA was switched off. Records that after the transaction, which has rolled back. */
async function orRefuse(
  ports: EnrollmentPorts,
  attempt: Attempt,
  enrolling: Promise<void>,
): Promise<void> {
  try {
    await enrolling
  } catch (error) {
    if (!(error instanceof SwitchedOff)) throw error
    await refuse(ports, attempt, 'ca-disabled', 'the CA was switched off')
  }
}

class SwitchedOff extends Error {}

/**
 * Reads the CA again: the certificate was judged by a copy, and what is enrolled stays (D-487). Throws SwitchedOff, for
 * `orRefuse`.
 */
async function currentCa(
  { cas }: Pick<Stores, 'cas'>,
  id: CaId,
  isEnabled: Purpose['isEnabled'],
): Promise<Ca> {
  const ca = await cas.find(id)
  if (ca?.isVerified && isEnabled(ca)) return ca
  throw new SwitchedOff()
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

const isForTokens = (ca: Ca): boolean => ca.isOttCaEnrollmentEnabled
const isForAnybody = (ca: Ca): boolean => ca.isAutoCaEnrollmentEnabled

function isExternalId(text: string | undefined): boolean {
  if (text === undefined) return false
  return text.length <= LONGEST_NAME && isLine(text)
}
