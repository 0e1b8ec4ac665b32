/** API session certificates: SPEC API Session Certificate; D-41. */
import { z } from 'zod'
import { detail, Links, list, Timestamp } from './envelope.ts'

/** The size of the request is checked with the rest of it (D-40). */
export const CreateSessionCertificate = z.object({
  csr: z.string().describe('PEM: one PKCS #10 certificate request.'),
})

export const CreatedSessionCertificate = z.object({
  id: z.string(),
  certificate: z.string().describe('PEM: the leaf, then intermediates, no root.'),
  cas: z.string().describe('PEM: the CA bundle.'),
  _links: Links,
})
export type CreatedSessionCertificate = z.infer<typeof CreatedSessionCertificate>

export const SessionCertificateDetail = CreatedSessionCertificate.extend({
  subject: z.string(),
  fingerprint: z.string().describe('SHA-256, lower-case hex.'),
  validFrom: Timestamp,
  validTo: Timestamp,
})
export type SessionCertificateDetail = z.infer<typeof SessionCertificateDetail>

export const CreatedSessionCertificateReply = detail(CreatedSessionCertificate)
export const SessionCertificateReply = detail(SessionCertificateDetail)
export const SessionCertificateListReply = list(SessionCertificateDetail)
