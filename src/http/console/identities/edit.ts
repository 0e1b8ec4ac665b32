/** /console/identities/:id/edit: PATCH /identities/{id} as a form. API 4.1, D-480. */
import type { IdentityId } from '../../../base/ids.ts'
import { ChosenIdentity } from '../../../contract/management/identities.ts'
import type { Identity } from '../../../domain/identities/identity.ts'
import { listSessionsOf } from '../../../domain/management/manage-sessions.ts'
import { findIdentity } from '../../../domain/management/read-identities.ts'
import { updateIdentity } from '../../../domain/management/update-identity.ts'
import { IDENTITY } from '../../../entities/identity.ts'
import {
  type EditQuestion,
  editPage,
  type IdentityField,
  type IdentityValues,
} from '../../../web/console/identities/edit-page.ts'
import { IDENTITIES_PATH, identityPath } from '../../../web/console/navigation.ts'
import type { FormState } from '../../../web/console/rules/form-state.ts'
import { patched } from '../../edge-api/changed-body.ts'
import { chosenFields } from '../../edge-api/described-body.ts'
import { readBody } from '../../edge-api/read-body.ts'
import { chosenOf } from '../../management-api/identities.ts'
import type { ConsoleCall, ConsoleRoutes } from '../console-route.ts'
import type { ConsolePorts } from '../ports.ts'
import { linesIn, textsIn } from '../rules/form-fields.ts'
import { readTags, writeTags } from '../rules/tags-text.ts'
import { AskFirst, backAfter, type Edited, pick, saveForm, storedForm } from '../stored-form.ts'

const EDIT = `${IDENTITIES_PATH}/:id/edit`

/** D-122: if one of them changes, every session ends. */
const ENDING: readonly IdentityField[] = ['isAdmin', 'authPolicyId', 'externalId']

const FORM = storedForm<Identity, IdentityValues>({
  blank: {
    name: '',
    isAdmin: false,
    authPolicyId: '',
    externalId: '',
    roleAttributes: '',
    hosts: '',
    tags: '',
  },
  valuesOf: ({ name, isAdmin, authPolicyId, externalId = '', roleAttributes, hosts, tags }) => ({
    name,
    isAdmin,
    authPolicyId,
    externalId,
    roleAttributes: roleAttributes.join('\n'),
    hosts: hosts.join('\n'),
    tags: writeTags(tags),
  }),
  // This failure names no field, so the message is shown beside the change that would have taken the rights away.
  fieldOf: ({ code }, changed) =>
    code === 'LAST_ADMINISTRATOR' ? ENDING.find((field) => changed.includes(field)) : undefined,
})

export function addIdentityEdit(routes: ConsoleRoutes, ports: ConsolePorts): void {
  const page = async (
    call: ConsoleCall,
    state?: FormState<IdentityValues>,
    question?: EditQuestion,
  ) => {
    const { identity } = await findIdentity(ports, idOf(call))
    const { id, name, type } = identity
    return editPage(call.frame, {
      id,
      name,
      isRouter: type === 'Router',
      isSelf: id === call.session.identityId,
      policies: await ports.authPolicies.list(),
      state: state ?? FORM.stateOf(identity),
      question,
    })
  }

  routes.show(EDIT, (call) => page(call))

  routes.act(
    {
      url: EDIT,
      page: EDIT,
      again: (call, fields) => page(call, FORM.stateIn(fields)),
    },
    async (call, fields) => {
      const agreed = textsIn(fields, 'agreed')
      const { totalCount } = await listSessionsOf(ports, idOf(call), { limit: 1, offset: 0 })
      let question: EditQuestion | undefined
      return saveForm(FORM, FORM.stateIn(fields), {
        next(current, edited) {
          const next = withChanges(current, edited)
          const ending =
            totalCount === 0 ? [] : ENDING.filter((one) => edited.changed.includes(one))
          const isAgreed = ending.every((field) => agreed.includes(field))
          const isAsked = !isAgreed || edited.state.theirs !== undefined
          question = isAsked && ending.length > 0 ? { ending, sessions: totalCount } : undefined
          if (isAsked) throw new AskFirst()
          return next
        },
        write: (change) => updateIdentity(ports, idOf(call), change, call.caller),
        again: (state) => page(call, state, question),
        done: (edited) => backAfter(edited, identityPath(idOf(call)), 'identity-changed'),
      })
    },
  )
}

const idOf = ({ head }: ConsoleCall) => (head.path['id'] ?? '') as IdentityId

/** Throws COULD_NOT_VALIDATE. */
function withChanges(current: Identity, { changed, state }: Edited<IdentityValues>) {
  const { values } = state
  const body = {
    name: values.name,
    isAdmin: values.isAdmin,
    authPolicyId: values.authPolicyId,
    externalId: values.externalId === '' ? null : values.externalId,
    roleAttributes: linesIn(values.roleAttributes),
    hosts: linesIn(values.hosts),
    // Only a change is read: what another program wrote need not be a form.
    tags: changed.includes('tags') ? readTags(values.tags) : {},
  }
  const before = chosenFields(IDENTITY, current)
  const value = pick(body, changed)
  return chosenOf(readBody(ChosenIdentity, patched(before, { kind: 'json', value })))
}
