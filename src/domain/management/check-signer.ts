/**
 * Simulates a login with an external JWT, step by step, for the administrator who configures a signer. API 3.3, D-136,
 * D-261.
 *
 * Every step makes the same check as a login (verify.ts, factors/external-jwt.ts), but continues after a failure, so
 * that the result shows all problems at once. It logs no one in, counts and stores nothing, and shows only those values
 * of the token that are compared with something. Keys are fetched no more often than for logins.
 */
import { compactVerify, decodeJwt, errors, type JWTPayload, UnsecuredJWT } from 'jose'
import { base64url, utf8 } from '../../base/encoding.ts'
import type { ExternalJwtSignerId } from '../../base/ids.ts'
import type { Secret } from '../../base/secrets/secret.ts'
import { inSeconds } from '../../base/time/duration.ts'
import { type Instant, instant, plus, toRfc3339 } from '../../base/time/instant.ts'
import { SIGNER_CHECK_STEPS } from '../../entities/external-jwt-signer.ts'
import { claimedSubject } from '../ext-jwt/claim.ts'
import type { ExternalJwtSigner } from '../ext-jwt/signer.ts'
import {
  audienceRule,
  hasEnded,
  issuerRule,
  LEEWAY,
  readHeader,
  readIssuer,
  refusedTime,
  timeRule,
} from '../ext-jwt/verify.ts'
import { findOwner } from '../factors/external-jwt.ts'
import { type Identity, isDisabled } from '../identities/identity.ts'
import { allowsSigner } from '../policies/auth-policy.ts'
import { orNotFound } from '../refusals.ts'
import type { ManagementPorts } from './ports.ts'

type CheckStepName = (typeof SIGNER_CHECK_STEPS)[number]

export interface CheckStep {
  readonly step: CheckStepName
  /** Null if it depends on a step that failed. */
  readonly passed: boolean | null
  readonly expected: string | null
  readonly received: string | null
  readonly message: string
}

export interface CheckedJwt {
  /** A login with this token alone would be accepted; a second factor may still be required. */
  readonly passed: boolean
  readonly steps: readonly CheckStep[]
}

type Outcome = Omit<CheckStep, 'step'>

/** Values come from the token: truncate them to what is needed to see the problem. */
const LONGEST_SHOWN = 256

type Ports = Pick<ManagementPorts, 'clock'> & {
  readonly rules: Pick<ManagementPorts['rules'], 'refresh' | 'signer' | 'policy'>
  readonly signerKeys: Pick<ManagementPorts['signerKeys'], 'keyFor' | 'status'>
  readonly identities: Pick<ManagementPorts['identities'], 'find' | 'findByExternalId'>
}

/** Returns the signer as logins know it now. Throws NOT_FOUND. */
export async function findCheckedSigner(
  { rules }: Pick<Ports, 'rules'>,
  id: ExternalJwtSignerId,
): Promise<ExternalJwtSigner> {
  // Another instance may have created it a moment ago.
  await rules.refresh()
  return orNotFound(rules.signer(id))
}

export async function checkSigner(
  ports: Ports,
  signer: ExternalJwtSigner,
  token: Secret,
): Promise<CheckedJwt> {
  const outcomes: Record<CheckStepName, Outcome> = {
    signer: checkEnabled(signer),
    signature: notReached('the token cannot be read'),
    times: notReached('the token cannot be read'),
    issuer: notReached('the token cannot be read'),
    audience: notReached('the token cannot be read'),
    claim: notReached('the token cannot be read'),
    identity: notReached('the claim does not name an identity'),
    policy: notReached('there is no identity whose policy could be asked'),
  }
  const issuer = readIssuer(token)
  if (typeof issuer === 'object' && issuer !== null) {
    outcomes.signature = failed(issuer.why, { expected: 'a JWT (RFC 7519)' })
    return summary(outcomes)
  }
  const text = token.reveal()
  outcomes.signature = await checkSignature(ports, signer, token)
  const claims = decodeJwt(text)
  const now = ports.clock.now()
  outcomes.times = checkTimes(text, claims, now)
  outcomes.issuer = checkIssuer(text, claims, signer)
  outcomes.audience = checkAudience(text, claims, signer)
  outcomes.claim = checkClaim(claims, signer)
  const subject = claimedSubject(claims, signer.claimsProperty)
  if (subject === undefined) return summary(outcomes)
  const owner = await findOwner(ports.identities, signer, subject)
  outcomes.identity = checkIdentity(signer, subject, owner, now)
  if (owner !== undefined) outcomes.policy = checkPolicy(ports, signer, owner)
  return summary(outcomes)
}

async function checkSignature(
  { signerKeys }: Pick<Ports, 'signerKeys'>,
  signer: ExternalJwtSigner,
  token: Secret,
): Promise<Outcome> {
  const header = readHeader(token)
  if ('why' in header) return failed(header.why, { expected: await knownKeys(signerKeys, signer) })
  const received = `kid ${header.kid === undefined ? 'none' : shown(header.kid)}, alg ${header.alg}`
  const found = await signerKeys.keyFor(signer, header)
  // Read this after the lookup: the keys may have been fetched for this token.
  const expected = await knownKeys(signerKeys, signer)
  if ('why' in found) return failed(found.why, { expected, received })
  try {
    await compactVerify(token.reveal(), found.key, { algorithms: [header.alg] })
  } catch (error) {
    if (!(error instanceof errors.JOSEError) && !(error instanceof TypeError)) throw error
    return failed('the signature is not by that key of the signer', { expected, received })
  }
  return passed('the signature is by a key of the signer', { expected, received })
}

async function knownKeys(
  signerKeys: Ports['signerKeys'],
  signer: ExternalJwtSigner,
): Promise<string> {
  const { keys } = signer
  if (keys.kind === 'certificate') {
    return `the key of the certificate, kid ${keys.kid === undefined ? 'any' : shown(keys.kid)}`
  }
  const known = (await signerKeys.status(signer))?.keys ?? []
  const kids = known.map(({ kid, algorithms }) => `${kid ?? 'no kid'} (${algorithms.join(' ')})`)
  return kids.length === 0 ? 'a key of the key set, which has none' : shown(kids.join(', '))
}

function checkIdentity(
  signer: ExternalJwtSigner,
  subject: string,
  owner: Identity | undefined,
  now: Instant,
): Outcome {
  const kind = signer.useExternalId ? 'external id' : 'id'
  const expected = `an identity that is enabled, with the ${kind} ${shown(subject)}`
  if (owner === undefined) return failed(`no identity has this ${kind}`, { expected })
  const received = shown(`${owner.id} (${owner.name})`)
  return isDisabled(owner, now)
    ? failed('the identity is disabled', { expected, received })
    : passed('the identity exists and is enabled', { expected, received })
}

function checkPolicy(
  { rules }: Pick<Ports, 'rules'>,
  signer: ExternalJwtSigner,
  { authPolicyId }: Identity,
): Outcome {
  const expected = 'a policy that allows logins by external JWT, and this signer'
  const policy = rules.policy(authPolicyId)
  if (policy === undefined) return failed('the policy does not exist', { expected })
  const received = shown(`${policy.id} (${policy.name})`)
  if (allowsSigner(policy, signer.id)) {
    return passed('the policy allows this signer', { expected, received })
  }
  const reason = policy.primary.extJwt.allowed
    ? 'the policy allows other signers only'
    : 'the policy does not allow logins by external JWT'
  const isSecond = policy.secondary.requireExtJwt === signer.id
  const besides = isSecond ? '; a token of this signer counts as the second factor only' : ''
  return failed(`${reason}${besides}`, { expected, received })
}

function summary(outcomes: Readonly<Record<CheckStepName, Outcome>>): CheckedJwt {
  const steps = SIGNER_CHECK_STEPS.map((step) => ({ step, ...outcomes[step] }))
  return { passed: steps.every((step) => step.passed === true), steps }
}

function checkEnabled({ name, enabled }: ExternalJwtSigner): Outcome {
  const facts = { expected: 'enabled', received: enabled ? 'enabled' : 'disabled' }
  return enabled
    ? passed(`the signer ${shown(name)} is enabled`, facts)
    : failed(`the signer ${shown(name)} is disabled; none of its tokens is accepted`, facts)
}

function checkTimes(text: string, claims: JWTPayload, now: Instant): Outcome {
  const latest = toRfc3339(plus(now, LEEWAY))
  const expected = `exp after ${toRfc3339(now)}; nbf and iat, if present, not after ${latest}`
  const times = (['exp', 'nbf', 'iat'] as const).map((name) => `${name} ${shownTime(claims[name])}`)
  const facts = { expected, received: times.join(', ') }
  const early = refusedClaim(text, timeRule(now)) ?? refusedTime(claims, now)
  const refused = early ?? (hasEnded(claims, now) ? 'exp' : undefined)
  if (refused === undefined) {
    return passed(`the times are valid, with ${inSeconds(LEEWAY)} s for clocks that differ`, facts)
  }
  if (refused === 'exp' && claims.exp === undefined)
    return failed('the claim exp is missing', facts)
  const isOver = refused === 'exp' && Number.isFinite(claims.exp)
  return failed(isOver ? 'the token has expired' : `the claim ${refused} is refused`, facts)
}

function checkIssuer(text: string, { iss }: JWTPayload, signer: ExternalJwtSigner): Outcome {
  const facts = { expected: shown(signer.issuer), received: shownText(iss) }
  return refusedClaim(text, issuerRule(signer)) === 'iss'
    ? failed('the issuer is not the one of the signer; they must match exactly', facts)
    : passed('the issuer is the one of the signer', facts)
}

function checkAudience(text: string, { aud }: JWTPayload, signer: ExternalJwtSigner): Outcome {
  const received = Array.isArray(aud) ? shown(aud.map(shownText).join(', ')) : shownText(aud)
  const facts = { expected: shown(signer.audience), received }
  return refusedClaim(text, audienceRule(signer)) === 'aud'
    ? failed('the audience of the signer is not among those of the token', facts)
    : passed('the token is for the audience of the signer', facts)
}

function checkClaim(claims: JWTPayload, { claimsProperty }: ExternalJwtSigner): Outcome {
  const expected = `a text of one line at ${shown(claimsProperty)}`
  const subject = claimedSubject(claims, claimsProperty)
  if (subject !== undefined) {
    return passed('the claim can name an identity', { expected, received: shown(subject) })
  }
  return failed('the claim is missing, or is not text that can name an identity', { expected })
}

/**
 * Returns the claim that verification refuses by this rule alone. The claims get a header without a signature, so that
 * the library checks them as it does at a login. The result never causes the token to be accepted.
 */
function refusedClaim(
  text: string,
  rule: Parameters<typeof UnsecuredJWT.decode>[1],
): string | undefined {
  const [, claims = ''] = text.split('.')
  try {
    UnsecuredJWT.decode(`${UNSIGNED}.${claims}.`, rule)
    return undefined
  } catch (error) {
    if (error instanceof errors.JWTClaimValidationFailed || error instanceof errors.JWTExpired) {
      return error.claim
    }
    if (error instanceof errors.JOSEError || error instanceof TypeError) return 'claims'
    throw error
  }
}

const UNSIGNED = base64url(utf8(JSON.stringify({ alg: 'none' })))

type Facts = Partial<Pick<CheckStep, 'expected' | 'received'>>

const NO_FACTS = { expected: null, received: null } as const

function passed(message: string, facts: Facts): Outcome {
  return { passed: true, ...NO_FACTS, ...facts, message }
}

function failed(message: string, facts: Facts): Outcome {
  return { passed: false, ...NO_FACTS, ...facts, message }
}

function notReached(message: string): Outcome {
  return { passed: null, ...NO_FACTS, message }
}

function shown(text: string): string {
  const whole = text.toWellFormed()
  return whole.length <= LONGEST_SHOWN ? whole : `${whole.slice(0, LONGEST_SHOWN).toWellFormed()}…`
}

/** For a claim that should be a text. */
function shownText(value: unknown): string {
  if (typeof value === 'string') return shown(value)
  return value === undefined ? 'none' : 'a value that is not text'
}

function shownTime(value: unknown): string {
  if (value === undefined) return 'none'
  if (typeof value !== 'number') return 'a value that is not a number'
  const isDate = Math.abs(value) <= 8_000_000_000_000
  return isDate ? toRfc3339(instant(value * 1_000)) : 'no date'
}
