/** /console/invite: a new identity with an invitation: POST /identities as a form. API 3.3, 4.3. */
import { NewIdentity } from '../../../contract/management/identities.ts'
import { createEnrollmentWithIdentity } from '../../../domain/management/manage-enrollments.ts'
import { DEFAULT_POLICY_ID } from '../../../domain/policies/auth-policy.ts'
import type { Failure } from '../../../errors/catalogue.ts'
import {
  type InvitePage,
  type InviteValues,
  invitePage,
} from '../../../web/console/identities/invite-page.ts'
import { INVITE_SCREEN_PATH } from '../../../web/console/navigation.ts'
import { readBody } from '../../edge-api/read-body.ts'
import { kindOfNew } from '../../management-api/enrollments.ts'
import { chosenOf } from '../../management-api/identities.ts'
import type { Fields } from '../../reading/fields.ts'
import type { ConsoleCall, ConsoleRoutes } from '../console-route.ts'
import { addNewForm } from '../new-form.ts'
import type { ConsolePorts } from '../ports.ts'
import { refusedField } from '../refusal-text.ts'
import { isChecked, textIn } from '../rules/form-fields.ts'
import { invitationAnswer } from './invitation-answer.ts'

export function addInvite(routes: ConsoleRoutes, ports: ConsolePorts): void {
  const show = async ({ frame }: ConsoleCall, state: InvitePage['state']) =>
    invitePage(frame, { policies: await ports.authPolicies.list(), state })

  routes.show(INVITE_SCREEN_PATH, (call) => show(call, { values: BLANK }))

  addNewForm(routes, {
    url: INVITE_SCREEN_PATH,
    page: INVITE_SCREEN_PATH,
    valuesIn,
    show,
    async create(call, values) {
      const { enrollment = {}, ...chosen } = readNew(values)
      const identity = chosenOf(chosen)
      const kind = kindOfNew(enrollment)
      const invitation = await createEnrollmentWithIdentity(ports, identity, kind, call.caller)
      const { identityId: id } = invitation.enrollment
      return invitationAnswer(call, { id, name: identity.name }, invitation)
    },
    fieldOf,
  })
}

/** The names of the management API, and those of the form. */
const FORM_FIELDS: Readonly<Record<string, string>> = {
  name: 'name',
  authPolicyId: 'policy',
  username: 'username',
  enrollment: 'username',
}

function fieldOf(failure: Failure): string | undefined {
  return FORM_FIELDS[refusedField(failure, Object.keys(FORM_FIELDS)) ?? '']
}

const BLANK: InviteValues = {
  isDevice: false,
  name: '',
  username: '',
  policy: DEFAULT_POLICY_ID,
  isAdmin: false,
}

function valuesIn(fields: Fields): InviteValues {
  return {
    isDevice: textIn(fields, 'method') === 'ott',
    name: textIn(fields, 'name').trim(),
    username: textIn(fields, 'username').trim(),
    policy: textIn(fields, 'policy'),
    isAdmin: isChecked(fields, 'isAdmin'),
  }
}

/** The fields of the form in the shape of the management API, which checks them. Throws COULD_NOT_VALIDATE. */
function readNew({ isDevice, name, username, policy, isAdmin }: InviteValues) {
  const value = {
    name,
    type: 'Default',
    isAdmin,
    authPolicyId: policy,
    enrollment: isDevice ? { ott: true } : { updb: username === '' ? name : username },
  }
  return readBody(NewIdentity, { kind: 'json', value })
}
