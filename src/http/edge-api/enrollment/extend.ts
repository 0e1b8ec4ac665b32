/**
 * POST /current-identity/authenticators/{id}/extend and …/extend-verify, on both APIs: renews the certificate of the
 * connection. API 3.1; D-130.
 */
import {
  ExtendAuthenticator,
  ExtendedAuthenticatorReply,
  VerifyExtended,
} from '../../../contract/renewal.ts'
import type { EnrollmentPorts } from '../../../domain/enrollments/ports.ts'
import { confirmRenewal, extendCertificate } from '../../../domain/enrollments/renewal/renew.ts'
import { jsonBody } from '../../reading/declared-body.ts'
import { found, idIn } from '../answers.ts'
import type { Api } from '../api.ts'

const ONE = '/current-identity/authenticators/:id'

export function addExtend(api: Api, ports: EnrollmentPorts): void {
  api.add(
    {
      method: 'POST',
      path: `${ONE}/extend`,
      access: 'session',
      summary: 'Renew the certificate that is on the connection',
      description: 'Both certificates work until the new one is confirmed.',
      body: jsonBody(ExtendAuthenticator),
      answers: { 200: ExtendedAuthenticatorReply },
      codes: ['FORBIDDEN', 'COULD_NOT_PROCESS_CSR', 'CAN_NOT_RENEW_CERTIFICATE', 'RATE_LIMITED'],
    },
    async ({ session, path, input: { clientCertCsr: csr }, caller, certificateChain }) => {
      const asked = { csr, shown: certificateChain() }
      const { chainPem, caBundlePem } = await extendCertificate(
        ports,
        session,
        idIn(path),
        asked,
        caller,
      )
      return found({ clientCert: chainPem, ca: caBundlePem })
    },
  )

  api.act(
    {
      method: 'POST',
      path: `${ONE}/extend-verify`,
      access: 'session',
      summary: 'Confirm a renewed certificate',
      description: 'From then on the old one is refused.',
      body: jsonBody(VerifyExtended),
      codes: [
        'FORBIDDEN',
        'INVALID_CERT_PEM',
        'RENEWAL_NOT_PENDING',
        'CAN_NOT_RENEW_CERTIFICATE',
        'CERT_IN_USE',
      ],
    },
    ({ session, path, input: { clientCert: pem }, caller, certificateChain }) =>
      confirmRenewal(ports, session, idIn(path), { pem, shown: certificateChain() }, caller),
  )
}
