/**
 * Exchanges the JWT of an invitation for the first credential of an identity: API 3.2; D-126, D-127, D-131. The JWT
 * says by which method. Nothing is sent before the server has proven that it made the JWT, and a refusal does not use
 * up the token.
 */
import { readCertificate } from '../../base/certificates.ts'
import { isText, type JsonObject } from '../../base/json.ts'
import { type Clock, systemClock } from '../../base/time/clock.ts'
import { makeCsr } from '../certificates/csr.ts'
import { type CertificateOptions, keyFrom } from '../certificates/session-certificate.ts'
import { ClientError, Refused, UnexpectedAnswer } from '../errors.ts'
import type { Credential } from '../login/credentials.ts'
import { asObject, jsonOf } from '../wire/answers.ts'
import {
  type ClientCertificate,
  createWire,
  jsonRequest,
  TIMEOUT_MILLISECONDS,
  type Wire,
  type WireAnswer,
} from '../wire/https-wire.ts'
import { type Claims, readClaims, signerOf } from './invitation.ts'
import { enrollmentRefusal, refusedInput } from './refusals.ts'
import { certificatesIn, fetchCas, pemOf, type TrustedBy, trustedFrom } from './trusted-cas.ts'

export interface NewPasswordAsk {
  /** 1, then one more after each refusal. */
  readonly attempt: number
  /** Why the previous one was refused; throw it to give up. */
  readonly refused: Refused | undefined
  /** Which of the two was wrong. */
  readonly wrong: 'username' | 'password' | undefined
}

export interface NewPassword {
  /** The username of the invitation, which is not in the JWT. */
  readonly username: string
  readonly password: string
}

export interface EnrollOptions extends Pick<CertificateOptions, 'commonName' | 'key'> {
  /** For `updb`. Called after the server has proven its identity, and again after a refusal, at most twice. */
  readonly newPassword?: (ask: NewPasswordAsk) => NewPassword | Promise<NewPassword>
  /** For `ottca` and `ca`: the certificate of the CA, and its key. */
  readonly certificate?: ClientCertificate
  /** The CAs that the server is trusted by, if known; then the signature of the JWT is not checked. */
  readonly ca?: string | undefined
  /** For `ott`: refuse, without spending the token, if the identity has another type (D-393). */
  readonly identityType?: 'Router'
  readonly timeoutMilliseconds?: number
  readonly clock?: Clock
}

interface EnrolledAt {
  /** For `connect`. */
  readonly url: string
  readonly ca: string
  readonly identityId: string
}

export interface EnrolledCertificate extends EnrolledAt {
  readonly method: 'ott' | 'ottca' | 'ca'
  /** For `logIn`. Its key is the identity; with `ott`, the key was created here. */
  readonly credential: Extract<Credential, { readonly method: 'cert' }>
  readonly validTo: Date
}

export interface EnrolledPassword extends EnrolledAt {
  readonly method: 'updb'
  /** With the username as the server stores it. */
  readonly credential: Extract<Credential, { readonly method: 'password' }>
}

export type Enrolled = EnrolledCertificate | EnrolledPassword

const PREFIX = '/edge/client/v1/enroll'

/** As for codes: D-151. */
const MOST_ATTEMPTS = 3

/**
 * Throws TypeError if the text is not an enrollment JWT, or an option is missing that its method needs; ClientError
 * with the code ENROLLMENT_EXPIRED or NOT_CONFIRMED; Refused.
 */
export function enroll(
  jwt: string,
  /** Without a way to get a password it becomes none. */
  options?: EnrollOptions & { readonly newPassword?: never },
): Promise<EnrolledCertificate>
export function enroll(jwt: string, options: EnrollOptions): Promise<Enrolled>
export async function enroll(jwt: string, options: EnrollOptions = {}): Promise<Enrolled> {
  const { timeoutMilliseconds = TIMEOUT_MILLISECONDS, clock = systemClock } = options
  const claims = readClaims(jwt)
  if (claims.expiresAt !== undefined && claims.expiresAt <= clock.now()) {
    throw new ClientError('ENROLLMENT_EXPIRED', 'the enrollment has expired; ask for a new one')
  }
  const work = workFor(claims, options)
  const by: TrustedBy =
    options.ca === undefined
      ? {
          kind: 'signer',
          certificate: await signerOf(jwt, claims.url, clock, timeoutMilliseconds),
        }
      : { kind: 'given', ca: options.ca }
  const certificate = isByCa(claims) ? options.certificate : undefined
  const wire = createWire({ ca: pemOf(by), certificate, timeoutMilliseconds })
  try {
    return await work({ wire, by })
  } finally {
    wire.close()
  }
}

interface Use {
  readonly wire: Wire
  readonly by: TrustedBy
}

/** Returns what the method does once the server is trusted. Throws TypeError at once if an option is missing. */
function workFor(claims: Claims, options: EnrollOptions): (use: Use) => Promise<Enrolled> {
  if (claims.method === 'ott') {
    const key = keyFrom(options.key)
    const clientCsr = makeCsr(key, options.commonName ?? claims.identityId)
    const { identityType } = options
    return (use) => byCsr(claims, key, { clientCsr, identityType }, use)
  }
  if (claims.method === 'updb') {
    const { newPassword } = options
    if (newPassword === undefined) {
      throw new TypeError('this enrollment is one to a password, and there is no newPassword')
    }
    return (use) => byPassword(claims, newPassword, use)
  }
  const { certificate } = options
  const leaf = certificate === undefined ? undefined : readCertificate(certificate.cert)
  if (certificate === undefined || leaf === undefined) {
    throw new TypeError('this enrollment needs a certificate of the CA that it is for')
  }
  return (use) => byCertificate(claims, { ...certificate, validTo: leaf.validToDate }, use)
}

async function byCsr(
  claims: Claims,
  key: ReturnType<typeof keyFrom>,
  fields: { readonly clientCsr: string; readonly identityType: string | undefined },
  { wire, by }: Use,
): Promise<EnrolledCertificate> {
  const got = await exchange(wire, claims, { token: claims.token, ...fields })
  const leaf = isText(got['cert']) ? readCertificate(got['cert']) : undefined
  const cas = isText(got['ca']) ? certificatesIn(got['ca']) : []
  if (!isText(got['cert']) || leaf?.checkPrivateKey(key) !== true || cas.length === 0) {
    throw new UnexpectedAnswer('the certificate of the enrollment is not one for its key')
  }
  const keyPem = key.export({ type: 'pkcs8', format: 'pem' }).toString()
  return {
    method: 'ott',
    url: claims.url.origin,
    ca: trustedFrom(cas, by),
    identityId: claims.identityId,
    credential: { method: 'cert', cert: got['cert'], key: keyPem },
    validTo: leaf.validToDate,
  }
}

async function byPassword(
  claims: Claims,
  newPassword: NonNullable<EnrollOptions['newPassword']>,
  { wire, by }: Use,
): Promise<EnrolledPassword> {
  // Before the token is spent, so that a failure can be retried.
  const ca = trustedFrom(await fetchCas(wire, claims.url), by)
  let before: Pick<NewPasswordAsk, 'refused' | 'wrong'> = { refused: undefined, wrong: undefined }
  for (let attempt = 1; ; attempt += 1) {
    const { username, password } = await newPassword({ attempt, ...before })
    const answer = await post(wire, claims, { token: claims.token, username, password })
    if (answer.status === 200) {
      const { username: own } = dataOf(answer)
      if (!isText(own)) throw new UnexpectedAnswer('the enrollment contains no username')
      const { url, identityId } = claims
      const credential = { method: 'password', username: own, password } as const
      return { method: 'updb', url: url.origin, ca, identityId, credential }
    }
    const refused = enrollmentRefusal(answer, claims.method)
    const wrong = refusedInput(answer)
    const canGoOn = refused instanceof Refused && wrong !== undefined && attempt < MOST_ATTEMPTS
    if (!canGoOn) throw refused
    before = { refused, wrong }
  }
}

async function byCertificate(
  claims: Claims,
  { cert, key, validTo }: ClientCertificate & { readonly validTo: Date },
  { wire, by }: Use,
): Promise<EnrolledCertificate> {
  const ca = trustedFrom(await fetchCas(wire, claims.url), by)
  const isByToken = claims.method === 'ottca'
  const got = await exchange(wire, claims, isByToken ? { token: claims.token } : {})
  const identityId = isByToken ? claims.identityId : got['id']
  if (!isText(identityId)) throw new UnexpectedAnswer('the enrollment names no identity')
  return {
    method: isByToken ? 'ottca' : 'ca',
    url: claims.url.origin,
    ca,
    identityId,
    credential: { method: 'cert', cert, key },
    validTo,
  }
}

const isByCa = ({ method }: Claims) => method === 'ottca' || method === 'ca'

/** Returns `data` of the response. */
async function exchange(wire: Wire, claims: Claims, body: object): Promise<JsonObject> {
  const answer = await post(wire, claims, body)
  if (answer.status !== 200) throw enrollmentRefusal(answer, claims.method)
  return dataOf(answer)
}

function post(wire: Wire, { url, method }: Claims, body: object): Promise<WireAnswer> {
  return wire.send({ ...jsonRequest(new URL(`${PREFIX}/${method}`, url), body), isAlone: true })
}

const dataOf = (answer: WireAnswer): JsonObject => asObject(jsonOf(answer)?.['data']) ?? {}
