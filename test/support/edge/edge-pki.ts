/**
 * The certificates and tokens of a small network for tests of routers: made by the `openssl` command and by jose, so
 * that none of our own code has a hand in them. Beside the good ones, whatever a test wants to be wrong.
 */
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { systemClock } from '../../../src/base/time/clock.ts'
import { epochSeconds } from '../../../src/base/time/instant.ts'
import {
  LEAF_EXTENSIONS,
  type MadeCertificate,
  type Openssl,
  openOpenssl,
  type Wanted,
} from '../certificates/openssl.ts'

export const TRUST_DOMAIN = 'latchkey'
export const BRAND = 'service'
export const ISSUER = 'https://controller.example/oidc'

export interface EdgePki {
  readonly openssl: Openssl
  readonly root: MadeCertificate
  readonly issuing: MadeCertificate
  /** Root and issuing CA, as the feed sends them. */
  readonly cas: string
  /** For the listeners of tests: localhost and 127.0.0.1. */
  readonly server: MadeCertificate
  /** The public keys, as the feed sends them. */
  readonly jwks: readonly object[]
  sessionCertificate(name: SessionName, wanted?: Wanted): Promise<MadeCertificate>
  enrolledCertificate(identityId: string, wanted?: Wanted): Promise<MadeCertificate>
  token(claims?: Changes, header?: Changes): Promise<string>
  close(): Promise<void>
}

type Changes = Readonly<Record<string, unknown>>

export interface SessionName {
  readonly identityId: string
  readonly sessionId: string
  readonly certificateId: string
}

/** Who calls in most tests. */
export const ALICE: SessionName = {
  identityId: 'alice',
  sessionId: 'session-of-alice',
  certificateId: 'certificate-of-alice',
}

export const sessionUri = ({ identityId, sessionId, certificateId }: SessionName): string =>
  `spiffe://${TRUST_DOMAIN}/identity/${identityId}/apiSession/${sessionId}/apiSessionCertificate/${certificateId}`

export async function openEdgePki(): Promise<EdgePki> {
  const openssl = await openOpenssl()
  const root = await openssl.makeCa({ subject: '/CN=Test Root CA' })
  const issuing = await openssl.makeCa({ subject: '/CN=Test Issuing CA', issuer: root })
  const server = await openssl.makeLeaf(issuing, {
    subject: '/CN=router',
    extensions: [
      ...LEAF_EXTENSIONS.filter((line) => !line.startsWith('extendedKeyUsage')),
      'extendedKeyUsage=serverAuth,clientAuth',
      'subjectAltName=DNS:localhost,IP:127.0.0.1',
    ],
  })
  const pair = await generateKeyPair('ES256', { extractable: true })
  const kid = 'key-1'
  let count = 0

  return {
    openssl,
    root,
    issuing,
    cas: `${root.pem}${issuing.pem}`,
    server,
    jwks: [{ ...(await exportJWK(pair.publicKey)), kid, alg: 'ES256', use: 'sig' }],
    sessionCertificate: (name, wanted) =>
      openssl.makeLeaf(issuing, {
        extensions: [...LEAF_EXTENSIONS, `subjectAltName=URI:${sessionUri(name)}`],
        ...wanted,
      }),
    enrolledCertificate: (identityId, wanted) =>
      openssl.makeLeaf(issuing, {
        extensions: [
          ...LEAF_EXTENSIONS,
          `subjectAltName=URI:spiffe://${TRUST_DOMAIN}/identity/${identityId}`,
        ],
        ...wanted,
      }),
    token(claims = {}, header = {}) {
      const iat = epochSeconds(systemClock.now())
      const all = {
        iss: ISSUER,
        sub: ALICE.identityId,
        aud: [BRAND],
        exp: iat + 1_800,
        iat,
        jti: `token-${++count}`,
        z_t: 'a',
        z_asid: ALICE.sessionId,
        ...claims,
      }
      return new SignJWT(Object.fromEntries(Object.entries(all).filter(([, v]) => v !== undefined)))
        .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid, ...header })
        .sign(pair.privateKey)
    },
    close: () => openssl.close(),
  }
}
