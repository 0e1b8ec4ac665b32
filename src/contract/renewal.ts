/** Renewal of an enrolled certificate: API 3.1, D-130. */
import { z } from 'zod'
import { detail } from './envelope.ts'

/** The size of the request is checked with the rest of it (D-40). */
export const ExtendAuthenticator = z.object({ clientCertCsr: z.string() })

export const ExtendedAuthenticatorReply = detail(
  z.object({
    clientCert: z.string().describe('PEM: the leaf, then intermediates, no root.'),
    ca: z.string().describe('PEM: the CA bundle.'),
  }),
)

/** With or without its chain. PEM. */
export const VerifyExtended = z.object({ clientCert: z.string() })
