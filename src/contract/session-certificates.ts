/** API session certificates: SPEC API Session Certificate; D-41. */
import { z } from 'zod'
import { detail, Links, list, Timestamp } from './envelope.ts'

/** The size of the request is judged with the rest of it (D-40). */
export const CreateSessionCertificate = z.object({ csr: z.string() })

export const CreatedSessionCertificate = z.object({
  id: z.string(),
  /** Leaf first, then intermediates, no root. PEM. */
  certificate: z.string(),
  /** The CA bundle, PEM. */
  cas: z.string(),
  _links: Links,
})
export type CreatedSessionCertificate = z.infer<typeof CreatedSessionCertificate>

export const SessionCertificateDetail = CreatedSessionCertificate.extend({
  subject: z.string(),
  /** SHA-256, lower-case hex. */
  fingerprint: z.string(),
  validFrom: Timestamp,
  validTo: Timestamp,
})
export type SessionCertificateDetail = z.infer<typeof SessionCertificateDetail>

export const CreatedSessionCertificateReply = detail(CreatedSessionCertificate)
export const SessionCertificateReply = detail(SessionCertificateDetail)
export const SessionCertificateListReply = list(SessionCertificateDetail)
