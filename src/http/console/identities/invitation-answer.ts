/** The page with what to hand over. It is never the answer to a GET, so that it is not shown again (D-376). */
import { isReset } from '../../../domain/enrollments/enrollment.ts'
import type { Invitation } from '../../../domain/enrollments/invite.ts'
import type { Identity } from '../../../domain/identities/identity.ts'
import { invitationPage } from '../../../web/console/identities/invitation-page.ts'
import type { Answer } from '../../answer.ts'
import { type ConsoleCall, consolePage } from '../console-route.ts'

export function invitationAnswer(
  { frame }: ConsoleCall,
  { id, name }: Pick<Identity, 'id' | 'name'>,
  { enrollment, token, jwt, link }: Invitation,
): Answer {
  const html = invitationPage(frame, {
    identityId: id,
    name,
    isReset: isReset(enrollment),
    link: link?.reveal(),
    token: token.reveal(),
    jwt: jwt?.reveal(),
    expiresAt: enrollment.expiresAt,
  })
  return consolePage(200, html)
}
