/**
 * Checks whether a caller may pass: the certificate of the connection and the session token, together. SPEC Other
 * errors and Limits; D-42; R101, R102. Returns yes with the session, or no with a reason for the operator. Anything
 * uncertain is a no.
 */
import type { Clock } from '../base/time/clock.ts'
import type { Instant } from '../base/time/instant.ts'
import type { ChallengedSigner } from '../protocol/challenge.ts'
import {
  type CertificateName,
  type ClientCertificate,
  nameOf,
  readClientCertificate,
} from './client-certificate.ts'
import type { FeedCopy, Known } from './feed-copy.ts'
import { type JudgedLogin, policyRefusal } from './policy-check.ts'
import { createProofFault, type DpopToken } from './possession/proofs.ts'
import type { SessionFacts } from './roles.ts'
import type { KnownSession, SessionChecks } from './session-checks.ts'

export interface Presented {
  /**
   * The end-entity certificate of the TLS connection, in DER, whose key the handshake has proven. Other certificates
   * that the client sent are not used.
   */
  readonly certificate: Uint8Array | undefined
  readonly token:
    | { readonly bearer: string }
    | { readonly ztSession: string }
    | DpopToken
    | undefined
}

export interface Accepted {
  readonly verdict: 'accepted'
  readonly sessionId: string
  readonly identityId: string
  /** The id of the API session certificate, if it is one. */
  readonly certificateId?: string
  /** The expiry of the token. By itself it closes no open connection (D-42). */
  readonly expiresAt: Instant
  /** SPEC Limits: the certificate is not valid after this. Undefined for a token that the router itself holds. */
  readonly certificateExpiresAt?: Instant
  /** If one of these ends, so does what was accepted. */
  readonly subjects: readonly string[]
  /** Compared with the policies when they change; undefined with an older controller, which does not send it. */
  readonly login?: JudgedLogin
  /** What rules about callers need beside that. Roles may have been removed since: ask `Router.rolesOf`. */
  readonly facts?: SessionFacts
}

export interface Refused {
  readonly verdict: 'refused'
  readonly reason: RefusalReason
  /** Details for the log. Never a secret. */
  readonly why?: string
  /** For `secondary-jwt-required`: the signer whose JWT is demanded. */
  readonly signer?: ChallengedSigner
}

export type RefusalReason =
  /** No message from the controller for 30 s, or never. */
  | 'cut-off'
  /** The controller could not be reached to check a `zt-session`. */
  | 'controller-unreachable'
  | 'no-certificate'
  | 'no-token'
  | 'token-invalid'
  | 'token-expired'
  /** The token is bound to a key, and came without the proof, or with one that is not valid (D-457). */
  | 'proof-invalid'
  | 'session-ended'
  /** The policy now demands more than the login proved, or forbids its method (D-232). */
  | 'policy-unmet'
  /** The policy demands a JWT with every request, which only the controller accepts. */
  | 'secondary-jwt-required'
  /** The policy binds tokens to the certificate of their login, and another one is presented. */
  | 'token-bound-elsewhere'
  | 'certificate-unreadable'
  | 'certificate-not-yet-valid'
  | 'certificate-expired'
  /** Neither issued by the network's CAs to a client, nor the one that the token is bound to. */
  | 'certificate-untrusted'
  | 'certificate-removed'
  | 'certificate-of-other-identity'
  | 'certificate-of-other-session'

export type RouterCheck = (presented: Presented) => Promise<Accepted | Refused>

/**
 * Checks an access token that this router got for itself with a code and keeps: there is no connection with a
 * certificate to compare it with. Never pass a token that a caller has presented (D-410).
 */
export type HeldTokenCheck = (token: string) => Promise<Accepted | Refused>

interface Session extends KnownSession {
  readonly tokenId?: string
  readonly keyId?: string
  readonly boundTo?: string | undefined
  readonly boundKey?: string | undefined
}

export function createRouterCheck(deps: {
  readonly copy: Pick<FeedCopy, 'known' | 'hasEnded' | 'isCutOff'>
  readonly sessionChecks: Pick<SessionChecks, 'ask'>
  readonly clock: Pick<Clock, 'now'>
}): RouterCheck {
  const { copy, sessionChecks, clock } = deps
  const proofFault = createProofFault(clock)

  return async ({ certificate: der, token }) => {
    const known = copy.known()
    if (known === undefined || copy.isCutOff()) return refuse('cut-off')
    if (der === undefined || der === null) return refuse('no-certificate')
    if (token === undefined || token === null) return refuse('no-token')
    const text = textOf(token)
    if (text === undefined) return refuse('token-invalid', 'it is not a text')
    const certificate = readClientCertificate(der)
    if (certificate === undefined) return refuse('certificate-unreadable')
    const now = clock.now()
    if (now < certificate.notBefore) return refuse('certificate-not-yet-valid')
    if (now > certificate.notAfter) return refuse('certificate-expired')

    const name = nameOf(certificate, known, now)
    const session =
      'ztSession' in token ? await askAbout(text, name) : await readBearer(text, known, now)
    if ('verdict' in session) return session
    const refusal = mismatch(certificate, name, session) ?? (await unproven(token, session))
    // No `await` from here on: what ends now is either seen here or reported to the watchers.
    return refusal ?? notEnded(copy, accept(certificate, name, session), session)
  }

  /** After the certificate, so that only its holder makes us compute a signature or remember a proof. */
  async function unproven(
    token: NonNullable<Presented['token']>,
    { boundKey }: Session,
  ): Promise<Refused | undefined> {
    if (!('dpop' in token)) {
      return boundKey === undefined ? undefined : refuse('proof-invalid', 'there is no proof')
    }
    if (boundKey === undefined) return refuse('token-invalid', 'it is bound to no key')
    const fault = await proofFault(token, boundKey)
    return fault === undefined ? undefined : refuse('proof-invalid', fault)
  }

  /**
   * A `zt-session` is bound to no certificate. Requiring one of our own keeps anonymous callers from causing checks.
   */
  async function askAbout(
    token: string,
    name: CertificateName | undefined,
  ): Promise<Session | Refused> {
    if (name === undefined) return refuse('certificate-untrusted')
    const answer = await sessionChecks.ask(token)
    switch (answer.outcome) {
      case 'active':
        return answer.expiresAt > clock.now() ? answer : refuse('token-expired')
      case 'inactive':
        return refuse('token-invalid')
      case 'unknown':
        return refuse('controller-unreachable', answer.why)
    }
  }
}

/** Programs without types pass on what a client omitted; that is refused, and an error could repeat a token. */
function textOf(token: NonNullable<Presented['token']>): string | undefined {
  if (typeof token !== 'object') return undefined
  const { ztSession, bearer, dpop } = token as Readonly<Record<string, unknown>>
  const text = 'ztSession' in token ? ztSession : 'bearer' in token ? bearer : dpop
  return typeof text === 'string' ? text : undefined
}

/** D-410: for the tokens of browsers, which the gateway holds for them. */
export function createHeldTokenCheck(deps: {
  readonly copy: Pick<FeedCopy, 'known' | 'hasEnded' | 'isCutOff'>
  readonly clock: Pick<Clock, 'now'>
}): HeldTokenCheck {
  const { copy, clock } = deps
  return async (token) => {
    const known = copy.known()
    if (known === undefined || copy.isCutOff()) return refuse('cut-off')
    if (typeof token !== 'string') return refuse('token-invalid', 'it is not a text')
    const session = await readBearer(token, known, clock.now())
    if ('verdict' in session) return session
    return notEnded(copy, accept(undefined, undefined, session), session)
  }
}

async function readBearer(token: string, known: Known, now: Instant): Promise<Session | Refused> {
  const expected = { issuers: known.issuers, audience: known.brand, now }
  const verdict = await known.keys.verify(token, expected)
  switch (verdict.outcome) {
    case 'good':
      return verdict.token
    case 'expired':
      return refuse('token-expired')
    case 'invalid':
      return refuse('token-invalid', verdict.why)
  }
}

function notEnded(
  copy: Pick<FeedCopy, 'known' | 'hasEnded' | 'isCutOff'>,
  accepted: Accepted,
  { tokenId, keyId }: Session,
): Accepted | Refused {
  if (copy.isCutOff()) return refuse('cut-off')
  const ended = accepted.subjects.find((subject) => copy.hasEnded(subject))
  if (ended === undefined) {
    const refusal = policyRefusal(copy.known()?.policies, accepted.login)
    return refusal === undefined ? accepted : { verdict: 'refused', ...refusal }
  }
  if (keyId !== undefined && ended === keySubject(keyId)) {
    return refuse('token-invalid', 'its key was withdrawn')
  }
  const isSession = ended === accepted.sessionId || ended === tokenId
  return refuse(isSession ? 'session-ended' : 'certificate-removed')
}

/** R102: the certificate belongs to this session or this identity, or the token is bound to it. */
function mismatch(
  { thumbprint }: ClientCertificate,
  name: CertificateName | undefined,
  { identityId, sessionId, boundTo }: Session,
): Refused | undefined {
  if (boundTo === thumbprint) return undefined
  if (name === undefined) return refuse('certificate-untrusted')
  if (name.identityId !== identityId) return refuse('certificate-of-other-identity')
  if (name.kind === 'session' && name.sessionId !== sessionId) {
    return refuse('certificate-of-other-session')
  }
  return undefined
}

function accept(
  certificate: ClientCertificate | undefined,
  name: CertificateName | undefined,
  { sessionId, identityId, tokenId, keyId, expiresAt, boundTo, boundKey, login, facts }: Session,
): Accepted {
  const certificateId = name?.kind === 'session' ? name.certificateId : undefined
  const key = keyId === undefined ? undefined : keySubject(keyId)
  const shown = certificate === undefined ? undefined : `cert:${certificate.fingerprint}`
  const subjects = [sessionId, tokenId, certificateId, shown, key]
  return {
    verdict: 'accepted',
    sessionId,
    identityId,
    ...(certificateId === undefined ? {} : { certificateId }),
    expiresAt,
    ...(certificate === undefined ? {} : { certificateExpiresAt: certificate.notAfter }),
    subjects: subjects.filter((subject) => subject !== undefined),
    ...(login === undefined
      ? {}
      : { login: { ...login, boundTo, boundKey, shown: certificate?.thumbprint } }),
    ...(facts === undefined ? {} : { facts }),
  }
}

/** D-135: the name of a withdrawn key in the feed. */
function keySubject(keyId: string): string {
  return `key:${keyId}`
}

function refuse(reason: RefusalReason, why?: string): Refused {
  return { verdict: 'refused', reason, ...(why === undefined ? {} : { why }) }
}
