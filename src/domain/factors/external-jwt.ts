/**
 * External JWTs as factors: as the primary one (D-12), or as the secondary one in addition to another credential
 * (D-14). The issuer of a token decides which signer checks it; the check itself is in ext-jwt/. A token counts until it
 * expires, however often it is presented (D-486).
 */

import type { IdentityId } from '../../base/ids.ts'
import type { Secret } from '../../base/secrets/secret.ts'
import type { Instant } from '../../base/time/instant.ts'
import { type Fault, primaryExtJwt } from '../../protocol/challenge.ts'
import type { ClockOff } from '../audit/clock-off.ts'
import type { LoginFailureReason } from '../audit/reasons.ts'
import { claimedIssuer } from '../ext-jwt/claimed-issuer.ts'
import type { ExternalJwtSigner } from '../ext-jwt/signer.ts'
import { ageFault, verifyExternalJwt } from '../ext-jwt/verify.ts'
import type { Identity } from '../identities/identity.ts'
import type { Identities } from '../identities/stores.ts'
import { allowsSigner } from '../policies/auth-policy.ts'
import type { FactorPorts } from './ports.ts'
import { usableIdentity } from './usable-identity.ts'
import { type Accepted, accepted, type PrimaryVerdict, type Rejected, rejected } from './verdict.ts'

/** `satisfied`, or what is wrong with the token, in the terms of a challenge. */
export type SecondaryJwtVerdict = 'satisfied' | Fault

/** The identity that a secondary token must belong to. */
export interface JwtOwner {
  readonly identityId: IdentityId
  readonly externalId: string | undefined
}

/** Told of a token that fails only because of time (D-325). */
export type NoteClock = (clock: ClockOff) => void

/** D-14. */
export const MOST_BEARERS = 3

/** D-12. */
const MOST_CHALLENGES = 8

type JwtPorts = Pick<FactorPorts, 'brand' | 'clock' | 'signerKeys' | 'identities' | 'rules'>

/** `since`: the JWT must show an authentication since then, within the leeway for clock differences (D-241). */
export async function proveByExternalJwt(
  ports: JwtPorts,
  bearers: readonly Secret[],
  since?: Instant,
): Promise<PrimaryVerdict> {
  if (bearers.length === 0) return challenge(ports, 'jwt-missing', 'missing')
  if (bearers.length > MOST_BEARERS) return challenge(ports, 'jwt-invalid', 'invalid')
  const candidates = bearers.map((token) => ({ token, signer: signerOf(ports, token) }))
  const known = candidates.filter(({ signer }) => signer?.enabled === true)
  if (known.length === 0) {
    const isDisabled = candidates.some(({ signer }) => signer !== undefined)
    return challenge(ports, isDisabled ? 'signer-disabled' : 'signer-unknown', 'invalid')
  }

  // If there are several tokens, the first valid one is the primary one. If the policy of its identity demands a token
  // of that same signer as the secondary one, another valid token of the identity becomes the primary one, if there is
  // any.
  let refusal: Rejected | undefined
  let proven: Accepted | undefined
  for (const { token, signer } of known) {
    if (signer === undefined) continue
    const verdict = await prove(ports, token, signer, since)
    if (verdict.verdict === 'rejected') {
      refusal ??= verdict
    } else if (proven === undefined || proven.identity.id === verdict.identity.id) {
      if (verdict.policy.secondary.requireExtJwt !== signer.id) return verdict
      proven ??= verdict
    }
  }
  return proven ?? refusal ?? challenge(ports, 'jwt-invalid', 'invalid')
}

async function prove(
  ports: JwtPorts,
  token: Secret,
  signer: ExternalJwtSigner,
  since: Instant | undefined,
): Promise<PrimaryVerdict> {
  const { identities, clock } = ports
  const verified = await verifyExternalJwt(ports, signer, token)
  if (verified.verdict !== 'accepted') {
    const reason = verified.verdict === 'expired' ? 'jwt-expired' : 'jwt-invalid'
    const { why, clock } = verified
    const off = clock === undefined ? {} : { clock }
    return { ...challenge(ports, reason, verified.verdict, [signer]), why, ...off }
  }
  if (since !== undefined && ageFault(verified.authenticatedAt, since, clock.now())) {
    const why = 'it does not show an authentication as recent as the client asked for'
    return { ...challenge(ports, 'jwt-invalid', 'invalid', [signer]), why }
  }
  const identity = await findOwner(identities, signer, verified.subject)
  if (identity === undefined) return rejected('identity-unknown')
  const usable = usableIdentity(identity, (policy) => policy.primary.extJwt.allowed, ports)
  if ('refusal' in usable) return rejected(usable.refusal, identity.id)
  if (!allowsSigner(usable.policy, signer.id)) return rejected('signer-not-allowed', identity.id)
  return accepted(usable, { method: 'ext-jwt', signerId: signer.id }, clock.now())
}

function signerOf({ rules }: JwtPorts, token: Secret): ExternalJwtSigner | undefined {
  const issuer = claimedIssuer(token)
  return typeof issuer === 'string' ? rules.signerOf(issuer) : undefined
}

function challenge(
  { brand, rules }: JwtPorts,
  reason: LoginFailureReason,
  fault: Fault,
  signers = rules.signers().filter(({ enabled }) => enabled),
): Rejected {
  const challenges = signers
    .slice(0, MOST_CHALLENGES)
    .map((signer) => primaryExtJwt(brand, fault, signer))
  return { ...rejected(reason), challenges }
}

/** Finds the identity that the claim of a valid token names. */
export function findOwner(
  identities: Pick<Identities, 'find' | 'findByExternalId'>,
  signer: Pick<ExternalJwtSigner, 'useExternalId'>,
  subject: string,
): Promise<Identity | undefined> {
  return signer.useExternalId
    ? identities.findByExternalId(subject)
    : identities.find(subject as IdentityId)
}

/**
 * D-14: the token must come from exactly that signer and belong to the same identity. Of several tokens the best
 * counts. If the signer was deleted, none does.
 */
export async function checkSecondaryJwt(
  ports: Pick<FactorPorts, 'clock' | 'signerKeys'>,
  signer: ExternalJwtSigner | undefined,
  owner: JwtOwner,
  bearers: readonly Secret[],
  noteClock?: NoteClock,
): Promise<SecondaryJwtVerdict> {
  if (signer === undefined) return 'missing'
  if (bearers.length > MOST_BEARERS) return 'invalid'
  const claimed = bearers.map((token) => ({ token, issuer: claimedIssuer(token) }))
  const theirs = claimed.filter(({ issuer }) => issuer === signer.issuer)
  // R065: an unreadable token may have been meant for this signer, so the verdict is `invalid`, not `missing`.
  const isUnreadable = claimed.some(({ issuer }) => typeof issuer !== 'string')
  let fault: SecondaryJwtVerdict = isUnreadable ? 'invalid' : 'missing'
  for (const { token } of theirs) {
    // A disabled signer satisfies no demand.
    const verified = signer.enabled
      ? await verifyExternalJwt(ports, signer, token)
      : ({ verdict: 'invalid' } as const)
    if (verified.verdict === 'accepted' && isOwner(signer, verified.subject, owner)) {
      return 'satisfied'
    }
    if ('clock' in verified && verified.clock !== undefined) noteClock?.(verified.clock)
    // An expired token was valid once, so `expired` takes precedence over the faults of other tokens.
    if (verified.verdict === 'expired') fault = 'expired'
    else if (fault === 'missing') fault = 'invalid'
  }
  return fault
}

function isOwner(signer: ExternalJwtSigner, subject: string, owner: JwtOwner): boolean {
  return subject === (signer.useExternalId ? owner.externalId : owner.identityId)
}
