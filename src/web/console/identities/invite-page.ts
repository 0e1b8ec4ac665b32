/** GET /console/invite: a new person or device, and the link to hand over. */
import { form } from '../../account/layout.ts'
import { html, type SafeHtml } from '../../login/html.ts'
import { type ConsoleFrame, confirmFirst, consoleLayout } from '../layout.ts'
import { INVITE_SCREEN_PATH } from '../navigation.ts'
import { section } from '../parts.ts'

export interface InvitePage {
  readonly policies: readonly { readonly id: string; readonly name: string }[]
  readonly values: InviteValues
  /** Why the last attempt was refused. */
  readonly error?: string
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
  const { policies, values, error } = page
  const option = ({ id, name }: InvitePage['policies'][number]) =>
    html`<option value="${id}"${id === values.policy ? html` selected` : undefined}>${name}</option>`
  const checked = (isChecked: boolean) => (isChecked ? html` checked` : undefined)
  const fields = html`<div class="fields">
<fieldset><legend>Who is it for?</legend>
<div class="check"><input type="radio" id="person" name="method" value="updb"${checked(!values.isDevice)}><label for="person">A person, who chooses a password</label></div>
<div class="check"><input type="radio" id="device" name="method" value="ott"${checked(values.isDevice)}><label for="device">A program or device, which gets a certificate</label></div>
</fieldset>
<p><label for="name">Name</label><input id="name" name="name" value="${values.name}" required maxlength="100" autocomplete="off"></p>
<p><label for="username">Username of the person, if it differs from the name</label><input id="username" name="username" value="${values.username}" maxlength="100" autocomplete="off" autocapitalize="none" spellcheck="false"></p>
<p><label for="policy">Policy</label><select id="policy" name="policy">${policies.map(option)}</select></p>
<div class="check"><input type="checkbox" id="isAdmin" name="isAdmin" value="yes"${checked(values.isAdmin)}><label for="isAdmin">Administrator: may do everything that you may</label></div>
<p><button type="submit">Create invitation</button></p>
</div>`
  return consoleLayout(frame, {
    section: INVITE_SCREEN_PATH,
    title: 'Invite',
    error,
    content: html`${confirmFirst(frame)}${section(
      'New identity',
      html`<p class="lead">The next page shows a link and a QR code to hand over, once.</p>
${form(frame.formToken, INVITE_SCREEN_PATH, fields)}`,
    )}`,
  })
}
