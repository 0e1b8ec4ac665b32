/**
 * Which second factors a login needs, and what is still outstanding. SPEC Authentication 3; D-14, D-15, D-16. One
 * place for OIDC logins, legacy sessions and the checks that come later.
 */
import type { Secret } from '../../base/secrets/secret.ts'
import { Failure } from '../../errors/catalogue.ts'
import {
  type AuthQuery,
  extJwtQuery,
  type TOTP_URLS,
  totpQuery,
} from '../../protocol/auth-query.ts'
import { secondaryExtJwt } from '../../protocol/challenge.ts'
import type { ExternalJwtSigner } from '../ext-jwt/signer.ts'
import {
  checkSecondaryJwt,
  type JwtOwner,
  type SecondaryJwtVerdict,
} from '../factors/external-jwt.ts'
import type { ProvenSecondary } from '../factors/proven.ts'
import type { Identity } from '../identities/identity.ts'
import type { AuthPolicy } from '../policies/auth-policy.ts'
import type { Rules } from '../policies/rules.ts'
import type { LoginPorts } from './ports.ts'

/** What the policy and the enrollment of an identity demand right now. */
export interface Demands {
  readonly totp: { readonly isDemanded: boolean; readonly isEnrolled: boolean }
  readonly extJwt: DemandedSigner | undefined
}

/** `signer` is undefined when the policy names one that is gone: then nobody can satisfy it. */
export interface DemandedSigner {
  readonly id: string
  readonly signer: ExternalJwtSigner | undefined
}

export async function findDemands(
  ports: Pick<LoginPorts, 'totpEnrollments' | 'rules'>,
  identity: Identity,
  policy: AuthPolicy,
): Promise<Demands> {
  const enrollment = await ports.totpEnrollments.find(identity.id)
  const isEnrolled = enrollment?.isVerified === true
  return {
    totp: { isDemanded: policy.secondary.requireTotp || isEnrolled, isEnrolled }, // D-16
    extJwt: demandedSigner(policy, ports.rules),
  }
}

export function demandedSigner(
  { secondary }: AuthPolicy,
  rules: Pick<Rules, 'signer'>,
): DemandedSigner | undefined {
  const id = secondary.requireExtJwt
  return id === undefined ? undefined : { id, signer: rules.signer(id) }
}

/** The demanded signer whose token has not been shown on this login. Asked before anything is called finished. */
export function unprovenSigner(
  { extJwt }: Pick<Demands, 'extJwt'>,
  proven: ProvenSecondary,
): DemandedSigner | undefined {
  return extJwt !== undefined && proven.extJwt !== extJwt.id ? extJwt : undefined
}

/** The queries of what `proven` leaves open; empty when nothing is outstanding. */
export function outstandingQueries(
  demands: Demands,
  proven: ProvenSecondary,
  { brand, where }: { readonly brand: string; readonly where: keyof typeof TOTP_URLS },
): readonly AuthQuery[] {
  const { isDemanded, isEnrolled } = demands.totp
  const signer = unprovenSigner(demands, proven)?.signer
  return [
    ...(isDemanded && !proven.totp ? [totpQuery(brand, where, isEnrolled)] : []),
    ...(signer === undefined ? [] : [extJwtQuery(signer)]),
  ]
}

/** Whether a policy demands, by now, more than was proven at a login that is finished (D-27, D-52). */
export function isShortOf({ secondary }: AuthPolicy, proven: ProvenSecondary): boolean {
  const { requireTotp, requireExtJwt } = secondary
  const isJwtMissing = requireExtJwt !== undefined && requireExtJwt !== proven.extJwt
  return (requireTotp && !proven.totp) || isJwtMissing
}

/** What is wrong with the token of a demanded signer, or `satisfied`. */
export async function checkDemandedJwt(
  ports: Pick<LoginPorts, 'clock' | 'signerKeys'>,
  { signer }: DemandedSigner,
  owner: JwtOwner,
  bearers: readonly Secret[],
): Promise<SecondaryJwtVerdict> {
  return signer === undefined ? 'missing' : checkSecondaryJwt(ports, signer, owner, bearers)
}

/** SPEC Authentication 5: blocked, with the challenge that names the signer. */
export function secondaryJwtUnmet(
  brand: string,
  { signer }: DemandedSigner,
  fault: Exclude<SecondaryJwtVerdict, 'satisfied'>,
  authQueries: readonly AuthQuery[],
): Failure {
  const detail = `the secondary external JWT is ${fault}`
  return new Failure('UNAUTHORIZED', {
    authQueries,
    detail,
    ...(signer === undefined ? {} : { challenges: [secondaryExtJwt(brand, fault, signer)] }),
  })
}
