/**
 * /console/identities/:id/edit: PATCH /identities/{id} as a form. API 4.1. Only what the administrator has changed is
 * written, and what another one has changed meanwhile is not overwritten unasked (D-480).
 */
import type { IdentityId } from '../../../base/ids.ts'
import { isJsonObject } from '../../../base/json.ts'
import { ChosenIdentity } from '../../../contract/management/identities.ts'
import type { Identity } from '../../../domain/identities/identity.ts'
import { listSessionsOf } from '../../../domain/management/manage-sessions.ts'
import { findIdentity } from '../../../domain/management/read-identities.ts'
import { updateIdentity } from '../../../domain/management/update-identity.ts'
import { IDENTITY } from '../../../entities/identity.ts'
import type { Failure } from '../../../errors/catalogue.ts'
import {
  type EditPage,
  type EditQuestion,
  editPage,
  type IdentityField,
  type IdentityValues,
} from '../../../web/console/identities/edit-page.ts'
import { IDENTITIES_PATH, identityPath } from '../../../web/console/navigation.ts'
import { patched } from '../../edge-api/changed-body.ts'
import { chosenFields } from '../../edge-api/described-body.ts'
import { readBody } from '../../edge-api/read-body.ts'
import { chosenOf } from '../../management-api/identities.ts'
import type { Fields } from '../../reading/fields.ts'
import { backTo, type ConsoleCall, type ConsoleRoutes, consolePage } from '../console-route.ts'
import type { ConsolePorts } from '../ports.ts'
import { refusedField } from '../refusal-text.ts'
import { linesIn, textsIn, valuesLike } from '../rules/form-fields.ts'
import { orAgain } from '../rules/or-again.ts'
import { readTags, writeTags } from '../rules/tags-text.ts'

const EDIT = `${IDENTITIES_PATH}/:id/edit`

const BLANK: IdentityValues = {
  name: '',
  isAdmin: false,
  authPolicyId: '',
  externalId: '',
  roleAttributes: '',
  hosts: '',
  tags: '',
}
const FIELDS = Object.keys(BLANK) as readonly IdentityField[]

/** D-122: if one of them changes, every session ends. */
const ENDING: readonly IdentityField[] = ['isAdmin', 'authPolicyId', 'externalId']

export function addIdentityEdit(routes: ConsoleRoutes, ports: ConsolePorts): void {
  const page = async (call: ConsoleCall, shown: Partial<EditPage> = {}) => {
    const { identity } = await findIdentity(ports, idOf(call))
    const { id, name, type } = identity
    const stored = valuesOf(identity)
    return editPage(call.frame, {
      id,
      name,
      isRouter: type === 'Router',
      isSelf: isSelf(call),
      policies: await ports.authPolicies.list(),
      values: stored,
      seen: stored,
      ...shown,
    })
  }

  routes.show(EDIT, (call) => page(call))

  routes.act(
    {
      url: EDIT,
      page: EDIT,
      needs: 'fresh-login',
      again: (call, fields) => page(call, inputOf(fields)),
    },
    async (call, fields) => {
      const input = inputOf(fields)
      const agreed = textsIn(fields, 'agreed')
      const sessions = await listSessionsOf(ports, idOf(call), { limit: 1, offset: 0 })
      return orAgain(
        async () => {
          let outcome: Planned | undefined
          const change = (current: Identity) => {
            outcome = plan(current, input, agreed, sessions.totalCount)
            return outcome.change
          }
          await updateIdentity(ports, idOf(call), change, call.caller)
          const { question, values, stored, isChange } = outcome as Planned
          if (question !== undefined) {
            return consolePage(200, await page(call, { values, seen: stored, question }))
          }
          const note = isChange ? 'identity-changed' : 'nothing-to-change'
          return backTo(identityPath(idOf(call)), note)
        },
        (message, failure) =>
          page(call, { ...input, refusal: { message, field: fieldOf(failure, input) } }),
      )
    },
  )
}

const idOf = ({ head }: ConsoleCall) => (head.path['id'] ?? '') as IdentityId
const isSelf = (call: ConsoleCall) => idOf(call) === call.session.identityId

interface Input {
  readonly values: IdentityValues
  /** What the form showed before it was filled in. */
  readonly seen: IdentityValues
}

interface Planned {
  readonly change: ReturnType<typeof chosenOf>
  readonly isChange: boolean
  /** The form as it is shown with a question. */
  readonly values: IdentityValues
  readonly stored: IdentityValues
  /** Undefined: there is nothing to ask, and the change is made. */
  readonly question: EditQuestion | undefined
}

/** Throws COULD_NOT_VALIDATE. */
function plan(
  current: Identity,
  { values: wanted, seen }: Input,
  agreed: readonly string[],
  sessions: number,
): Planned {
  const stored = valuesOf(current)
  const isMine = (field: IdentityField) => wanted[field] !== seen[field]
  const mine = FIELDS.filter((field) => isMine(field) && wanted[field] !== stored[field])
  const values = { ...stored, ...pick(wanted, mine) }
  const before = chosenFields(IDENTITY, current)
  const read = (body: object) =>
    readBody(ChosenIdentity, patched(before, { kind: 'json', value: body }))
  const next = chosenOf(read(bodyOf(values, mine)))
  const conflicts = mine.filter((field) => stored[field] !== seen[field])
  const ending = sessions === 0 ? [] : ENDING.filter((field) => mine.includes(field))
  const isAgreed = ending.every((field) => agreed.includes(field))
  const question = conflicts.length === 0 && isAgreed ? undefined : { conflicts, ending, sessions }
  const change = question === undefined ? next : chosenOf(read({}))
  return { change, isChange: mine.length > 0, values, stored, question }
}

/** The members of the API for these fields. */
function bodyOf(values: IdentityValues, fields: readonly IdentityField[]): object {
  const body = {
    name: values.name,
    isAdmin: values.isAdmin,
    authPolicyId: values.authPolicyId,
    externalId: values.externalId === '' ? null : values.externalId,
    roleAttributes: linesIn(values.roleAttributes),
    hosts: linesIn(values.hosts),
    // Only a change is read: what another program wrote need not be a form.
    tags: fields.includes('tags') ? readTags(values.tags) : {},
  }
  return pick(body, fields)
}

function valuesOf(identity: Identity): IdentityValues {
  const { name, isAdmin, authPolicyId, externalId = '', roleAttributes, hosts, tags } = identity
  return trimmed({
    name,
    isAdmin,
    authPolicyId,
    externalId,
    roleAttributes: roleAttributes.join('\n'),
    hosts: hosts.join('\n'),
    tags: writeTags(tags),
  })
}

function inputOf(fields: Fields): Input {
  const values = trimmed(valuesLike(BLANK, fields))
  return { values, seen: seenIn(fields) ?? values }
}

/** Undefined if our page did not write it. */
function seenIn(fields: Fields): IdentityValues | undefined {
  try {
    const seen: unknown = JSON.parse(textsIn(fields, 'seen')[0] ?? '')
    if (!isJsonObject(seen)) return undefined
    const isWhole = FIELDS.every((field) => typeof seen[field] === typeof BLANK[field])
    return isWhole ? (pick(seen, FIELDS) as unknown as IdentityValues) : undefined
  } catch {
    return undefined
  }
}

/** A form sends other line breaks than it was given, and blanks at the end of a line cannot be seen. */
function trimmed(values: IdentityValues): IdentityValues {
  const lines = (text: string) => linesIn(text).join('\n')
  return {
    ...values,
    name: values.name.trim(),
    externalId: values.externalId.trim(),
    roleAttributes: lines(values.roleAttributes),
    hosts: lines(values.hosts),
    tags: lines(values.tags),
  }
}

/** The last administrator is refused as a whole: the message stands beside what would have taken the rights away. */
function fieldOf(failure: Failure, { values, seen }: Input): IdentityField | undefined {
  if (failure.code === 'LAST_ADMINISTRATOR') {
    return ENDING.find((field) => values[field] !== seen[field])
  }
  return FIELDS.find((field) => field === refusedField(failure))
}

function pick<T extends object>(values: T, names: readonly string[]): Partial<T> {
  return Object.fromEntries(
    Object.entries(values).filter(([name]) => names.includes(name)),
  ) as Partial<T>
}
