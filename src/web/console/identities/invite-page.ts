/** GET /console/invite: a new person or device, and the link to hand over. */
import { LONGEST_NAME } from '../../../protocol/limits.ts'
import { form } from '../../account/layout.ts'
import { html, type SafeHtml } from '../../login/html.ts'
import { type ConsoleFrame, confirmFirst, consoleLayout } from '../layout.ts'
import { INVITE_SCREEN_PATH } from '../navigation.ts'
import { section } from '../parts.ts'
import { check, choice, textField } from '../rules/form-parts.ts'
import { type FormState, fieldsOf } from '../rules/form-state.ts'

export interface InvitePage {
  readonly policies: readonly { readonly id: string; readonly name: string }[]
  readonly state: FormState<InviteValues>
}

/** What the form has in its fields. */
export interface InviteValues {
  readonly isDevice: boolean
  readonly name: string
  readonly username: string
  readonly policy: string
  readonly isAdmin: boolean
}

export function invitePage(frame: ConsoleFrame, page: InvitePage): SafeHtml {
  const { policies, state } = page
  const { values, refusal } = state
  const at = fieldsOf(state)
  const checked = (isChecked: boolean) => isChecked && html` checked`
  const fields = html`<div class="fields">
<fieldset><legend>Who is it for?</legend>
<div class="check"><input type="radio" id="person" name="method" value="updb"${checked(!values.isDevice)}><label for="person">A person, who chooses a password</label></div>
<div class="check"><input type="radio" id="device" name="method" value="ott"${checked(values.isDevice)}><label for="device">A program or device, which gets a certificate</label></div>
</fieldset>
${textField({ ...at('name'), label: 'Name', longest: LONGEST_NAME, isRequired: true })}
${textField({ ...at('username'), label: 'Username of the person, if it differs from the name', longest: LONGEST_NAME, isExact: true })}
${choice({ ...at('policy'), label: 'Policy', choices: policies.map(({ id, name }) => [id, name] as const) })}
${check({ ...at('isAdmin'), label: 'Administrator: may do everything that you may' })}
<p><button type="submit">Create invitation</button></p>
</div>`
  return consoleLayout(frame, {
    section: INVITE_SCREEN_PATH,
    title: 'Invite',
    error: refusal,
    content: html`${confirmFirst(frame)}${section(
      'New identity',
      html`<p class="lead">The next page shows a link and a QR code to hand over, once.</p>
${form(frame.formToken, INVITE_SCREEN_PATH, fields)}`,
    )}`,
  })
}
