/**
 * The first certificate of an identity, from the JWT that an administrator handed over: API 3.2; D-126, D-127. The JWT
 * says where to go, and is signed with the key of the server there. So a client that knows no CA yet looks at the
 * certificate of that server, checks the JWT with it, and from then on trusts this certificate and no other.
 */

import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { decodeJwt, errors, jwtVerify } from 'jose'
import { type Clock, systemClock } from '../../base/clock.ts'
import { ClientError, ServerUnavailable, UnexpectedAnswer } from '../errors.ts'
import type { Credential } from '../login/credentials.ts'
import { asObject, isText, jsonOf, refusalOf } from '../wire/answers.ts'
import { createWire, TIMEOUT_MILLISECONDS } from '../wire/https-wire.ts'
import { parseOrigin } from '../wire/provider.ts'
import { makeCsr } from './csr.ts'
import { type CertificateOptions, keyFrom, readCertificate } from './session-certificate.ts'

export interface EnrollOptions extends Pick<CertificateOptions, 'commonName' | 'key'> {
  /** What the server is trusted by, where that is known; then the signature of the JWT is not asked. */
  readonly ca?: string
  readonly timeoutMilliseconds?: number
  readonly clock?: Clock
}

export interface Enrolled {
  /** For `connect`. */
  readonly url: string
  readonly ca: string
  /** For `logIn`. Its key was made here; whoever has it is the identity. */
  readonly credential: Extract<Credential, { readonly method: 'cert' }>
  readonly identityId: string
  readonly validTo: Date
}

const PATH = '/edge/client/v1/enroll/ott'

/** Whatever a server's key signs JWTs with (D-126); nothing symmetric. */
const ALGORITHMS = ['ES256', 'ES384', 'ES512', 'RS256', 'EdDSA']

/** Thrown: TypeError when the text is no enrollment; ClientError with the code ENROLLMENT_EXPIRED or NOT_CONFIRMED. */
export async function enroll(jwt: string, options: EnrollOptions = {}): Promise<Enrolled> {
  const { timeoutMilliseconds = TIMEOUT_MILLISECONDS, clock = systemClock } = options
  const { url, token, identityId, expiresAt } = readEnrollment(jwt)
  if (expiresAt <= clock.now()) {
    throw new ClientError('ENROLLMENT_EXPIRED', 'the enrollment has expired; ask for a new one')
  }
  const key = keyFrom(options.key)
  const csr = makeCsr(key, options.commonName ?? identityId)
  const ca = options.ca ?? (await signerOf(jwt, url, clock, timeoutMilliseconds))
  const wire = createWire({ ca, certificate: undefined, timeoutMilliseconds })
  try {
    const answer = await wire.send({
      method: 'POST',
      url: new URL(PATH, url),
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify({ token, clientCsr: csr }),
      isAlone: true,
    })
    if (answer.status !== 200) throw refusalOf(answer, 'the enrollment')
    const got = asObject(jsonOf(answer)?.['data']) ?? {}
    const leaf = isText(got['cert']) ? readCertificate(got['cert']) : undefined
    if (!isText(got['cert']) || !isText(got['ca']) || leaf?.checkPrivateKey(key) !== true) {
      throw new UnexpectedAnswer('the certificate of the enrollment is not one for its key')
    }
    const keyPem = key.export({ type: 'pkcs8', format: 'pem' }).toString()
    return {
      url: url.origin,
      ca: got['ca'],
      credential: { method: 'cert', cert: got['cert'], key: keyPem },
      identityId,
      validTo: leaf.validToDate,
    }
  } finally {
    wire.close()
  }
}

function readEnrollment(jwt: string) {
  const claims = attempt(() => decodeJwt(jwt)) ?? {}
  const { iss, sub, jti, exp } = claims
  if (!isText(iss) || !isText(sub) || !isText(jti) || typeof exp !== 'number') {
    throw new TypeError('this is not the JWT of an enrollment')
  }
  if (claims['em'] !== 'ott') throw new TypeError('this enrollment is not one by `ott`')
  return {
    url: parseOrigin(iss, 'the issuer of the enrollment'),
    token: jti,
    identityId: sub,
    expiresAt: exp * 1_000,
  }
}

/** The certificate of the server, in PEM, once the JWT has proven to be signed with its key. */
async function signerOf(
  jwt: string,
  url: URL,
  clock: Clock,
  timeoutMilliseconds: number,
): Promise<string> {
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
  return certificate.toString()
}

async function certificateAt(url: URL, timeoutMilliseconds: number): Promise<X509Certificate> {
  let socket: TLSSocket | undefined
  try {
    const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
    // Nothing is believed and nothing is sent on this connection.
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

function attempt<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}
