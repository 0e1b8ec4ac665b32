/**
 * POST /current-identity/authenticators/{id}/extend and …/extend-verify, on both APIs: the renewal of the certificate
 * that is on the connection. API 3.1; D-130.
 */
import {
  ExtendAuthenticator,
  type ExtendedAuthenticator,
  VerifyExtended,
} from '../../../contract/renewal.ts'
import type { RenewCertificate } from '../../../domain/certificates/enrolled/renew.ts'
import { presentedChain } from '../../reading/peer-certificate.ts'
import type { Route, Router } from '../../route.ts'
import { done, found, idIn } from '../answers.ts'
import { readBody } from '../read-body.ts'
import { API_ROUTE } from '../route-defaults.ts'

const RENEW = {
  ...API_ROUTE,
  method: 'POST',
  reads: ['json'],
  replies: [200, 401, 403, 404, 409],
} as const satisfies Partial<Route>

export function addExtend(
  router: Router,
  prefix: string,
  use: { readonly renewCertificate: RenewCertificate },
): void {
  const { renewCertificate: renew } = use
  const one = `${prefix}/current-identity/authenticators/:id`

  router.add(
    { ...RENEW, url: `${one}/extend`, replies: [...RENEW.replies, 429] },
    async ({ request, session, path, body, caller }) => {
      const { clientCertCsr: csr } = readBody(ExtendAuthenticator, body)
      const asked = { csr, shown: presentedChain(request) }
      const { chainPem, caBundlePem } = await renew.extend(session, idIn(path), asked, caller)
      const data: ExtendedAuthenticator = { clientCert: chainPem, ca: caBundlePem }
      return found(data)
    },
  )

  router.add(
    { ...RENEW, url: `${one}/extend-verify` },
    async ({ request, session, path, body, caller }) => {
      const { clientCert: pem } = readBody(VerifyExtended, body)
      await renew.verify(session, idIn(path), { pem, shown: presentedChain(request) }, caller)
      return done()
    },
  )
}
