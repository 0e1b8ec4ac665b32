/** GET /console/identities/:id/edit: what an administrator can set of an identity. API 4.1, D-480. */
import { LONGEST_NAME } from '../../../protocol/limits.ts'
import { form } from '../../account/layout.ts'
import { html, type SafeHtml } from '../../login/html.ts'
import { type ConsoleFrame, confirmFirst, consoleLayout } from '../layout.ts'
import { IDENTITIES_PATH, identityEditPath, identityPath } from '../navigation.ts'
import { plural, section } from '../parts.ts'
import { check, choice, tagsField, textArea, textField } from '../rules/form-parts.ts'
import { askedFirst, type FormState, fieldsOf, seenField } from '../rules/form-state.ts'

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
  readonly state: FormState<IdentityValues>
  /** Saving waits for an answer. */
  readonly question?: EditQuestion | undefined
}

/** Changes that end sessions. */
export interface EditQuestion {
  readonly ending: readonly IdentityField[]
  readonly sessions: number
}

export function editPage(frame: ConsoleFrame, page: EditPage): SafeHtml {
  const { id, name, state, question } = page
  const asked = askedFirst(name, state, { more: question && ends(page, question) })
  return consoleLayout(frame, {
    section: IDENTITIES_PATH,
    title: `Edit ${name}`,
    error: state.refusal,
    content: html`${confirmFirst(frame)}${asked}${section(
      'Details',
      form(
        frame.formToken,
        identityEditPath(id),
        html`${seenField(state)}${question?.ending.map((field) => html`<input type="hidden" name="agreed" value="${field}">\n`)}<div class="fields">
${fieldsIn(page)}
<div class="buttons"><button${asked && html` class="bad"`} type="submit">${asked ? 'Save anyway' : 'Save'}</button><a class="button quiet" href="${identityPath(id)}">Cancel</a></div>
<p class="hint">Another policy, other rights or another external ID end its sessions; you are asked first.</p>
</div>`,
      ),
    )}`,
  })
}

function fieldsIn({ state, policies, isRouter }: EditPage): SafeHtml {
  const at = fieldsOf(state)
  return html`${textField({ ...at('name'), label: 'Name', longest: LONGEST_NAME, isRequired: true, hint: 'Usernames stay as they are.' })}
${choice({
  ...at('authPolicyId'),
  label: 'Policy',
  choices: policies.map((policy) => [policy.id, policy.name] as const),
  hint: 'How it may sign in.',
})}
${check({ ...at('isAdmin'), label: 'Administrator: may do everything that you may' })}
${textField({ ...at('externalId'), label: 'External ID', longest: LONGEST_NAME, isExact: true, hint: 'Its name at an identity provider, or in certificates of another CA.' })}
${textArea({ ...at('roleAttributes'), label: 'Roles', isShort: true, example: 'engineering', hint: 'One on each line.' })}
${
  isRouter &&
  textArea({
    ...at('hosts'),
    label: 'Hosts',
    isShort: true,
    example: 'gw1.example.com',
    hint: html`Where this router is reached, <code>HOST</code> or <code>HOST:PORT</code>, one on each line.`,
  })
}
${tagsField(at('tags'))}`
}

function ends(page: EditPage, { ending, sessions }: EditQuestion): SafeHtml {
  const { name, isSelf, state } = page
  const isLeaving = isSelf && ending.includes('isAdmin') && !state.values.isAdmin
  return html`<p>Saving ends ${plural(sessions, 'session')} of <bdi>${name}</bdi>${isSelf && ', which is you'}. ${isLeaving ? 'You will be signed out, and you will not get into the console again.' : isSelf ? 'You will have to sign in again.' : html`<bdi>${name}</bdi> will have to sign in again.`}</p>\n`
}
