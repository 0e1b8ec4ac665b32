/**
 * SPIFFE ids of identities and of API session certificates, for checks of a certificate against a token. D-40, API 3.2.
 */
import type { ApiSessionId, IdentityId, SessionCertificateId } from '../base/ids.ts'

export interface IdentityName {
  readonly trustDomain: string
  readonly identityId: IdentityId
}

/** The id in an enrolled certificate, which belongs to the identity and to no session. */
export function identityUri({ trustDomain, identityId }: IdentityName): string {
  return `spiffe://${trustDomain}/identity/${identityId}`
}

export interface SessionCertificateName extends IdentityName {
  readonly sessionId: ApiSessionId
  readonly certificateId: SessionCertificateId
}

export function sessionCertificateUri(name: SessionCertificateName): string {
  const { trustDomain, identityId, sessionId, certificateId } = name
  return `spiffe://${trustDomain}/identity/${identityId}/apiSession/${sessionId}/apiSessionCertificate/${certificateId}`
}

/** SPIFFE-ID §2: letters, digits, dots, dashes and underscores; nothing that two parsers could read differently. */
const SESSION_CERTIFICATE =
  /^spiffe:\/\/([\w.-]+)\/identity\/([\w.-]+)\/apiSession\/([\w.-]+)\/apiSessionCertificate\/([\w.-]+)$/

/** Parses an id; undefined for any other text. */
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
