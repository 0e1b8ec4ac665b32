/**
 * The token of an enrollment as a JWT that says where to enroll. API 3.2; D-126. It is signed with the key of the
 * certificate that the server presents at `iss`. A client that knows no CA yet fetches that certificate and verifies
 * the signature with it, and so knows that this server created the token.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { SignJWT } from 'jose'
import { base64url, sha256 } from '../../base/encoding.ts'
import type { CaId } from '../../base/ids.ts'
import { Secret } from '../../base/secrets/secret.ts'
import { epochSeconds } from '../../base/time/instant.ts'
import { algorithmsOf } from '../ext-jwt/verification-key.ts'
import type { Enrollment } from './enrollment.ts'

/** The external address of the client API, with the certificate that its listener presents now. */
export interface ClientApi {
  /** `https://<address>` of its bind point. */
  readonly address: string
  /** The leaf first. */
  readonly certificatePem: string
  readonly keyPem: Secret
}

export type EnrollmentInvitation =
  /** `sub` names the identity; `jti` is the token. */
  | (Pick<Enrollment, 'method' | 'identityId' | 'expiresAt'> & { readonly token: Secret })
  /** For holders of a certificate of this CA: no token, no expiry; `sub` names the CA. */
  | { readonly method: 'ca'; readonly caId: CaId }

export interface EnrollmentJwtPorts {
  /** Called for each signature, because certificates are renewed while the service runs. */
  readonly clientApi: () => ClientApi | undefined
}

/** Returns undefined if there is nothing to sign with, as on an instance without a client API (D-126). */
export async function signEnrollmentJwt(
  { clientApi }: EnrollmentJwtPorts,
  invitation: EnrollmentInvitation,
): Promise<Secret | undefined> {
  const api = clientApi()
  if (api === undefined) return undefined
  const key = createPrivateKey(api.keyPem.reveal())
  // None for the few kinds of key that TLS supports and JWTs do not.
  const [alg] = algorithmsOf(key)
  if (alg === undefined) return undefined
  const certificate = new X509Certificate(api.certificatePem)
  const header = {
    alg,
    typ: 'JWT',
    // RFC 7515 §4.1.8: identifies the certificate that verifies it.
    'x5t#S256': base64url(sha256(certificate.raw)),
  }
  const jwt = await new SignJWT({ iss: api.address, ...claimsOf(invitation) })
    .setProtectedHeader(header)
    .sign(key)
  return new Secret(jwt)
}

function claimsOf(invitation: EnrollmentInvitation) {
  const em = invitation.method
  if (invitation.method === 'ca') return { em, sub: invitation.caId }
  const { identityId, token, expiresAt } = invitation
  return { em, sub: identityId, jti: token.reveal(), exp: epochSeconds(expiresAt) }
}
