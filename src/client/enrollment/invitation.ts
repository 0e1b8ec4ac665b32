/**
 * The JWT of an invitation: API 3.2; D-126, D-132. It says where to enroll and by which method, and is signed with the
 * key of the server there. So a client that knows no CA yet fetches the certificate of that server, checks the JWT with
 * it, and from then on trusts only this certificate.
 */
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { decodeJwt, errors, jwtVerify } from 'jose'
import { withoutBrackets } from '../../base/host-port.ts'
import { isText } from '../../base/json.ts'
import { attempt } from '../../base/node/attempt.ts'
import type { Clock } from '../../base/time/clock.ts'
import { ClientError, ServerUnavailable } from '../errors.ts'
import { parseOrigin } from '../wire/provider.ts'

const METHODS = ['ott', 'updb', 'ottca', 'ca'] as const

/** The result: `ott` a certificate of the server, `updb` a password, the others use a certificate of a CA. */
export type EnrollmentMethod = (typeof METHODS)[number]

/** The contents of a JWT, not verified yet. */
export interface Invitation {
  readonly method: EnrollmentMethod
  readonly url: string
  /** Undefined for an invitation to all holders of a certificate of a CA. */
  readonly identityId: string | undefined
  /** Undefined if it does not expire. */
  readonly expiresAt: Date | undefined
}

/** Throws TypeError if the text is not an invitation. */
export function readInvitation(jwt: string): Invitation {
  const { method, url, identityId, expiresAt } = readClaims(jwt)
  return {
    method,
    url: url.origin,
    identityId: method === 'ca' ? undefined : identityId,
    expiresAt: expiresAt === undefined ? undefined : new Date(expiresAt),
  }
}

export interface Claims {
  readonly method: EnrollmentMethod
  readonly url: URL
  /** Empty for `ca`, which has none. */
  readonly token: string
  /** Of the identity; for `ca`, of the CA. */
  readonly identityId: string
  readonly expiresAt: number | undefined
}

export function readClaims(jwt: string): Claims {
  const claims = attempt(() => decodeJwt(jwt)) ?? {}
  const { iss, sub, jti, exp, em } = claims
  const isWhole = isText(iss) && isText(sub) && isText(em)
  // D-132: the JWT of a CA has neither token nor expiry.
  const hasToken = em === 'ca' || (isText(jti) && typeof exp === 'number')
  if (!isWhole || !hasToken) throw new TypeError('this is not the JWT of an enrollment')
  const method = METHODS.find((one) => one === em)
  if (method === undefined) throw new TypeError('the method of this enrollment is not supported')
  return {
    method,
    url: parseOrigin(iss, 'the issuer of the enrollment'),
    token: jti ?? '',
    identityId: sub,
    expiresAt: typeof exp === 'number' ? exp * 1_000 : undefined,
  }
}

/** Every algorithm that a server's key may sign JWTs with (D-126); nothing symmetric. */
const ALGORITHMS = ['ES256', 'ES384', 'ES512', 'RS256', 'EdDSA']

/** Returns the certificate of the server, after checking that its key signed the JWT. */
export async function signerOf(
  jwt: string,
  url: URL,
  clock: Pick<Clock, 'now'>,
  timeoutMilliseconds: number,
): Promise<X509Certificate> {
  const certificate = await certificateAt(url, timeoutMilliseconds)
  try {
    await jwtVerify(jwt, certificate.publicKey, {
      algorithms: ALGORITHMS,
      currentDate: new Date(clock.now()),
    })
  } catch (cause) {
    if (!(cause instanceof errors.JOSEError) && !(cause instanceof TypeError)) throw cause
    throw new ClientError(
      'NOT_CONFIRMED',
      'the server is not the one that made this enrollment; nothing was sent',
      { cause },
    )
  }
  return certificate
}

async function certificateAt(url: URL, timeoutMilliseconds: number): Promise<X509Certificate> {
  let socket: TLSSocket | undefined
  try {
    const host = withoutBrackets(url.hostname)
    // Nothing from this connection is trusted, and nothing is sent over it.
    socket = connectTls({
      host,
      port: url.port === '' ? 443 : Number(url.port),
      ...(/^[\d.]+$|:/.test(host) ? {} : { servername: host }),
      minVersion: 'TLSv1.2',
      rejectUnauthorized: false,
    })
    await once(socket, 'secureConnect', { signal: AbortSignal.timeout(timeoutMilliseconds) })
    const shown = socket.getPeerX509Certificate()
    if (shown === undefined) throw new Error('no certificate was shown')
    return new X509Certificate(shown.raw)
  } catch (cause) {
    const about = { mayHaveHappened: false, cause }
    throw new ServerUnavailable('NO_ANSWER', 'the server of the enrollment does not answer', about)
  } finally {
    socket?.on('error', () => undefined)
    socket?.destroy()
  }
}
