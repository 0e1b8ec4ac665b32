/** /console/invite: a new identity with an invitation: POST /identities as a form. API 3.3, 4.3. */
import { NewIdentity } from '../../../contract/management/identities.ts'
import { createEnrollmentWithIdentity } from '../../../domain/management/manage-enrollments.ts'
import { DEFAULT_POLICY_ID } from '../../../domain/policies/auth-policy.ts'
import { invitePage } from '../../../web/console/identities/invite-page.ts'
import { INVITE_SCREEN_PATH } from '../../../web/console/navigation.ts'
import { readBody } from '../../edge-api/read-body.ts'
import { kindOfNew } from '../../management-api/enrollments.ts'
import { chosenOf } from '../../management-api/identities.ts'
import { fieldOf } from '../../own-site/form-checks.ts'
import type { Fields } from '../../reading/fields.ts'
import type { ConsoleRoutes } from '../console-route.ts'
import type { ConsolePorts } from '../ports.ts'
import { invitationAnswer } from './invitation-answer.ts'

export function addInvite(routes: ConsoleRoutes, ports: ConsolePorts): void {
  routes.show(INVITE_SCREEN_PATH, async ({ frame }) =>
    invitePage(frame, { policies: await ports.authPolicies.list(), usual: DEFAULT_POLICY_ID }),
  )

  routes.act(
    { url: INVITE_SCREEN_PATH, page: INVITE_SCREEN_PATH, needs: 'fresh-login' },
    async (call, fields) => {
      const { enrollment = {}, ...chosen } = readNew(fields)
      const identity = chosenOf(chosen)
      const kind = kindOfNew(enrollment)
      const invitation = await createEnrollmentWithIdentity(ports, identity, kind, call.caller)
      const { identityId: id } = invitation.enrollment
      return invitationAnswer(call, { id, name: identity.name }, invitation)
    },
  )
}

/** The fields of the form in the shape of the management API, which checks them. Throws COULD_NOT_VALIDATE. */
function readNew(fields: Fields) {
  const name = fieldOf(fields, 'name').trim()
  const username = String(fields.get('username')?.[0] ?? '').trim()
  const isDevice = fieldOf(fields, 'method') === 'ott'
  const value = {
    name,
    type: 'Default',
    isAdmin: fields.has('isAdmin'),
    authPolicyId: fieldOf(fields, 'policy'),
    enrollment: isDevice ? { ott: true } : { updb: username === '' ? name : username },
  }
  return readBody(NewIdentity, { kind: 'json', value })
}
