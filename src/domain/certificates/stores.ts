import type { ApiSessionId, CaId, SessionCertificateId } from '../../base/ids.ts'
import type { Instant } from '../../base/time/instant.ts'
import type { Page, PageOf } from '../paging.ts'
import type { StoredAuthority } from './own/authority-record.ts'
import type { SessionCertificate } from './session/session-certificate.ts'
import type { Ca } from './third-party/ca.ts'

export interface Authorities {
  /** Every authority, root before issuing, oldest generation first. */
  list(): Promise<readonly StoredAuthority[]>
  /** Returns false if one of that role and generation exists: another instance was faster. */
  insert(authority: StoredAuthority): Promise<boolean>
}

export interface Cas {
  find(id: CaId): Promise<Ca | undefined>
  /** All of them, by name. There are few; every instance keeps a copy (D-34). */
  list(): Promise<readonly Ca[]>
  /** Returns the conflict if another CA has the name or the certificate. */
  insert(ca: Ca): Promise<'inserted' | 'name-in-use' | 'certificate-in-use'>
  /** Updates everything except its certificate and whether it is verified. */
  replace(ca: Ca): Promise<'replaced' | 'missing' | 'name-in-use'>
  /** Of two concurrent verifications, one returns true. */
  markVerified(id: CaId, at: Instant): Promise<boolean>
  remove(id: CaId): Promise<boolean>
}

export interface SessionCertificates {
  /** Finds a certificate of this session only (R100). */
  find(id: SessionCertificateId, sessionId: ApiSessionId): Promise<SessionCertificate | undefined>
  /** By the SHA-256 of the certificate, lower-case hex. */
  findByFingerprint(fingerprint: string): Promise<SessionCertificate | undefined>
  /** Oldest first. */
  list(sessionId: ApiSessionId, page: Page): Promise<PageOf<SessionCertificate>>
  /** Those of these sessions that are still valid, newest first. */
  listLive(
    sessionIds: readonly ApiSessionId[],
    now: Instant,
    limit: number,
  ): Promise<readonly SessionCertificate[]>
  countLive(sessionId: ApiSessionId, now: Instant): Promise<number>
  insert(certificate: SessionCertificate): Promise<void>
  remove(id: SessionCertificateId, sessionId: ApiSessionId): Promise<boolean>
  /** Deletes all certificates of a session that ends. */
  removeOf(sessionId: ApiSessionId): Promise<void>
  removeExpired(before: Instant, limit: number): Promise<number>
}
