/** GET /cas/{id}/jwt of the management API: API 3.3; D-132. */
import type { InviteByCa } from '../../domain/certificates/third-party/ca-invitation.ts'
import { text } from '../answer.ts'
import { idIn } from '../edge-api/answers.ts'
import type { Router } from '../route.ts'
import { READ } from './route-defaults.ts'

export function addCaJwt(
  router: Router,
  prefix: string,
  { inviteByCa }: { readonly inviteByCa: InviteByCa },
): void {
  router.add({ ...READ, url: `${prefix}/cas/:id/jwt` }, async ({ path }) => {
    const jwt = await inviteByCa(idIn(path))
    return text('application/jwt', jwt.reveal()) // RFC 7519 §10.3.1
  })
}
