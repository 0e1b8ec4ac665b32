/** POST /invite/certificate: the script of the page sends its request and gets what its identity file needs (D-377). */
import { enrollByCsr } from '../../domain/enrollments/enroll.ts'
import { identityFileOf } from '../../domain/enrollments/links/identity-file.ts'
import { LONGEST_PEM } from '../../protocol/limits.ts'
import { INVITE_PATHS } from '../../web/invite/layout.ts'
import { json } from '../answer.ts'
import { refuseForeign } from '../own-site/form-checks.ts'
import { SITE_ROUTE } from '../own-site/site.ts'
import { bodyFields } from '../reading/body.ts'
import { textField } from '../reading/fields.ts'
import type { Router } from '../router.ts'
import { type InviteListener, type InvitePorts, tokenOf } from './form-route.ts'

export function addInvitedCertificate(
  router: Router,
  ports: InvitePorts,
  listener: InviteListener,
): void {
  const { addresses, serverCasPem, counters } = listener
  router.add(
    {
      ...SITE_ROUTE,
      face: { json: 'api', pages: false },
      method: 'POST',
      url: INVITE_PATHS.certificate,
      reads: ['json'],
      replies: [200, 403, 409, 429],
    },
    async (call) => {
      refuseForeign(call, listener)
      const fields = bodyFields(call.body)
      const token = tokenOf(fields)
      const clientCsr = textField(fields, 'clientCsr', LONGEST_PEM)
      const enrolled = enrollByCsr(ports, { token, clientCsr }, call.caller)
      const certificate = await counters.countEnrolled(enrolled)
      const server = { baseUrl: addresses().baseUrlOf(call), serverCasPem: serverCasPem() }
      return json(200, { data: identityFileOf(ports, certificate, server), meta: {} })
    },
  )
}
