/**
 * The identity of a router towards its controller: the certificate and key of an identity of type `Router`, and the CAs
 * that it trusts the controller by. All in PEM; the caller decides where they are stored. D-42. Also the calls that it
 * makes with it.
 */
import { createPrivateKey } from 'node:crypto'
import { type Agent, request } from 'node:https'
import type { SecureContextOptions } from 'node:tls'
import { readCertificate } from '../base/certificates.ts'
import { attempt } from '../base/node/attempt.ts'
import { onUpgrade } from '../base/node/on-upgrade.ts'
import type { Secret } from '../base/secrets/secret.ts'
import type { Duration } from '../base/time/duration.ts'

export interface RouterIdentity {
  readonly id: string
  /** The leaf, followed by any intermediates. */
  readonly cert: string
  readonly key: Secret
  readonly ca: string
}

/** Returns what is wrong with it, as the end of a sentence that begins with its name; undefined if it can be used. */
export function identityFault({ cert, key, ca }: RouterIdentity): string | undefined {
  const certificate = readCertificate(cert)
  if (certificate === undefined) return 'has a cert that is not a certificate in PEM'
  const privateKey = attempt(() => createPrivateKey(key.reveal()))
  if (privateKey === undefined) return 'has a key that is not a private key in PEM'
  if (!certificate.checkPrivateKey(privateKey)) return 'has a key that does not belong to its cert'
  if (readCertificate(ca) === undefined) return 'has a ca that is not a certificate in PEM'
  return undefined
}

/** The most that an answer of the controller may have. */
const LARGEST_ANSWER = 64 * 1024

/** Posts JSON to the controller. Returns the answer; throws unless it comes in time, with status 200. */
export function postToController(
  url: URL,
  body: string,
  by: { readonly identity: RouterIdentity; readonly agent: Agent; readonly patience: Duration },
): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      accept: 'application/json',
    }
    const signal = AbortSignal.timeout(by.patience)
    const call = request(
      url,
      { ...controllerTls(by.identity), method: 'POST', agent: by.agent, headers, signal },
      (response) => {
        const chunks: Uint8Array[] = []
        let length = 0
        response.on('error', reject)
        response.on('data', (chunk: Uint8Array) => {
          length += chunk.length
          if (length > LARGEST_ANSWER) response.destroy(new Error('the answer is too large'))
          else chunks.push(chunk)
        })
        response.on('end', () => {
          const { statusCode } = response
          if (statusCode === 200) resolve(Buffer.concat(chunks))
          else reject(new Error(`the controller answered with status ${statusCode}`))
        })
      },
    )
    call.on('error', reject)
    onUpgrade(call, () => reject(new Error('the controller switched protocols without a request')))
    call.end(body)
  })
}

/** For calls to the controller: presents our certificate, checks the controller's, and needs TLS 1.2 or newer. */
export function controllerTls({ cert, key, ca }: RouterIdentity): SecureContextOptions & {
  readonly rejectUnauthorized: true
} {
  return { cert, key: key.reveal(), ca, minVersion: 'TLSv1.2', rejectUnauthorized: true }
}
