/** GET /console/identities/:id/edit: what an administrator can set of an identity. API 4.1, D-480. */
import { LONGEST_NAME } from '../../../protocol/limits.ts'
import { form } from '../../account/layout.ts'
import { html, type SafeHtml } from '../../login/html.ts'
import { type ConsoleFrame, confirmFirst, consoleLayout, type Refusal } from '../layout.ts'
import { IDENTITIES_PATH, identityEditPath, identityPath } from '../navigation.ts'
import { plural, section } from '../parts.ts'
import { check, choice, tagsField, textArea, textField } from '../rules/form-parts.ts'

/** What the form has in its fields, by the names of the management API. */
export interface IdentityValues {
  readonly name: string
  readonly isAdmin: boolean
  readonly authPolicyId: string
  readonly externalId: string
  /** One on each line. */
  readonly roleAttributes: string
  readonly hosts: string
  readonly tags: string
}

export type IdentityField = keyof IdentityValues

export interface EditPage {
  readonly id: string
  /** As it is stored. */
  readonly name: string
  readonly isRouter: boolean
  /** Whether it is the administrator who looks at the page. */
  readonly isSelf: boolean
  readonly policies: readonly { readonly id: string; readonly name: string }[]
  readonly values: IdentityValues
  /** What the administrator has seen of it: the form sends it back, so that a change of another one is noticed. */
  readonly seen: IdentityValues
  readonly refusal?: Refusal | undefined
  /** Saving waits for an answer. */
  readonly question?: EditQuestion | undefined
}

export interface EditQuestion {
  /** Changed by both, this administrator and another one. */
  readonly conflicts: readonly IdentityField[]
  /** Changes that end sessions. */
  readonly ending: readonly IdentityField[]
  readonly sessions: number
}

export function editPage(frame: ConsoleFrame, page: EditPage): SafeHtml {
  const { id, name, refusal, question, seen } = page
  const label = question === undefined ? 'Save' : 'Save anyway'
  return consoleLayout(frame, {
    section: IDENTITIES_PATH,
    title: `Edit ${name}`,
    error: refusal,
    content: html`${confirmFirst(frame)}${question === undefined ? undefined : asked(page, question)}${section(
      'Details',
      form(
        frame.formToken,
        identityEditPath(id),
        html`<input type="hidden" name="seen" value="${JSON.stringify(seen)}">
${question?.ending.map((field) => html`<input type="hidden" name="agreed" value="${field}">\n`)}<div class="fields">
${fieldsOf(page)}
<div class="buttons"><button${question === undefined ? undefined : html` class="bad"`} type="submit">${label}</button><a class="button quiet" href="${identityPath(id)}">Cancel</a></div>
<p class="hint">Another policy, other rights or another external ID end its sessions; you are asked first.</p>
</div>`,
      ),
    )}`,
  })
}

function fieldsOf(page: EditPage): SafeHtml {
  const { values, policies, isRouter } = page
  const fault = (field: IdentityField) => faultAt(page, field)
  return html`${textField({ name: 'name', label: 'Name', value: values.name, longest: LONGEST_NAME, isRequired: true, fault: fault('name'), hint: 'Usernames stay as they are.' })}
${choice({
  name: 'authPolicyId',
  label: 'Policy',
  value: values.authPolicyId,
  choices: policies.map((policy) => [policy.id, policy.name] as const),
  fault: fault('authPolicyId'),
  hint: 'How it may sign in.',
})}
${check('isAdmin', 'Administrator: may do everything that you may', values.isAdmin, { fault: fault('isAdmin') })}
${textField({ name: 'externalId', label: 'External ID', value: values.externalId, longest: LONGEST_NAME, isExact: true, fault: fault('externalId'), hint: 'Its name at an identity provider, or in certificates of another CA.' })}
${textArea({ name: 'roleAttributes', label: 'Roles', value: values.roleAttributes, isShort: true, example: 'engineering', fault: fault('roleAttributes'), hint: 'One on each line.' })}
${
  isRouter
    ? textArea({
        name: 'hosts',
        label: 'Hosts',
        value: values.hosts,
        isShort: true,
        example: 'gw1.example.com',
        fault: fault('hosts'),
        hint: html`Where this router is reached, <code>HOST</code> or <code>HOST:PORT</code>, one on each line.`,
      })
    : undefined
}
${tagsField(values.tags, fault('tags'))}`
}

/** The reason of a refusal, or what another administrator has entered in the same field. */
function faultAt(page: EditPage, field: IdentityField): string | undefined {
  const { refusal, question, seen, policies } = page
  if (refusal?.field === field) return refusal.message
  if (question?.conflicts.includes(field) !== true) return undefined
  const theirs =
    field === 'authPolicyId' ? policies.find(({ id }) => id === seen[field])?.name : seen[field]
  const shown = typeof theirs === 'boolean' ? (theirs ? 'selected' : 'not selected') : `“${theirs}”`
  return `Another administrator has changed this meanwhile: it is ${theirs === '' ? 'empty' : shown} now.`
}

function asked(page: EditPage, { conflicts, ending, sessions }: EditQuestion): SafeHtml {
  const { name, isSelf, values } = page
  const isLeaving = isSelf && ending.includes('isAdmin') && !values.isAdmin
  return html`<div class="verdict warn" role="alert" tabindex="-1" autofocus><p><strong>Nothing is saved yet.</strong></p>
${conflicts.length === 0 ? undefined : html`<p>Another administrator has changed <bdi>${name}</bdi> since you opened this page. Saving replaces what is marked below.</p>\n`}${
  ending.length === 0
    ? undefined
    : html`<p>Saving ends ${plural(sessions, 'session')} of <bdi>${name}</bdi>${isSelf ? ', which is you' : undefined}. ${isLeaving ? 'You will be signed out, and you will not get into the console again.' : isSelf ? 'You will have to sign in again.' : html`<bdi>${name}</bdi> will have to sign in again.`}</p>\n`
}</div>\n`
}
