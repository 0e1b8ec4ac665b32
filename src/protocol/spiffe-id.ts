/**
 * SPIFFE ids of identities and of API session certificates: what a certificate names, for whoever checks it against a
 * token. D-40, API 3.2.
 */
import type { ApiSessionId, IdentityId, SessionCertificateId } from '../base/ids.ts'

export interface IdentityName {
  readonly trustDomain: string
  readonly identityId: IdentityId
}

/** Of an enrolled certificate: it is the identity's, and no session's. */
export function identityUri({ trustDomain, identityId }: IdentityName): string {
  return `spiffe://${trustDomain}/identity/${identityId}`
}

export interface SessionCertificateName {
  readonly trustDomain: string
  readonly identityId: IdentityId
  readonly sessionId: ApiSessionId
  readonly certificateId: SessionCertificateId
}

export function sessionCertificateUri(name: SessionCertificateName): string {
  const { trustDomain, identityId, sessionId, certificateId } = name
  return `spiffe://${trustDomain}/identity/${identityId}/apiSession/${sessionId}/apiSessionCertificate/${certificateId}`
}

/** SPIFFE-ID §2: letters, digits, dots, dashes and underscores, and nothing that one reader sees and another does not. */
const SESSION_CERTIFICATE =
  /^spiffe:\/\/([\w.-]+)\/identity\/([\w.-]+)\/apiSession\/([\w.-]+)\/apiSessionCertificate\/([\w.-]+)$/

/** Undefined for any other text. */
export function parseSessionCertificateUri(text: string): SessionCertificateName | undefined {
  const [, trustDomain, identityId, sessionId, certificateId] = SESSION_CERTIFICATE.exec(text) ?? []
  if (trustDomain === undefined || identityId === undefined) return undefined
  if (sessionId === undefined || certificateId === undefined) return undefined
  return {
    trustDomain,
    identityId: identityId as IdentityId,
    sessionId: sessionId as ApiSessionId,
    certificateId: certificateId as SessionCertificateId,
  }
}
