/** GET /console/invite: a new person or device, and the link to hand over. */
import { form } from '../../account/layout.ts'
import { html, type SafeHtml } from '../../login/html.ts'
import { type ConsoleFrame, confirmFirst, consoleLayout } from '../layout.ts'
import { INVITE_SCREEN_PATH } from '../navigation.ts'
import { section } from '../parts.ts'

export interface InvitePage {
  readonly policies: readonly { readonly id: string; readonly name: string }[]
  /** The policy that new identities get. */
  readonly usual: string
}

export function invitePage(frame: ConsoleFrame, { policies, usual }: InvitePage): SafeHtml {
  const option = ({ id, name }: InvitePage['policies'][number]) =>
    html`<option value="${id}"${id === usual ? html` selected` : undefined}>${name}</option>`
  const fields = html`<div class="fields">
<fieldset><legend>Who is it for?</legend>
<p><label><input type="radio" name="method" value="updb" checked> A person, who chooses a password</label></p>
<p><label><input type="radio" name="method" value="ott"> A program or device, which gets a certificate</label></p>
</fieldset>
<p><label for="name">Name</label><input id="name" name="name" required maxlength="100" autocomplete="off"></p>
<p><label for="username">Username, if it differs from the name</label><input id="username" name="username" maxlength="100" autocomplete="off" autocapitalize="none" spellcheck="false"></p>
<p><label for="policy">Policy</label><select id="policy" name="policy">${policies.map(option)}</select></p>
<p><label><input type="checkbox" name="isAdmin" value="yes"> Administrator: may do everything that you may</label></p>
<p><button type="submit">Create invitation</button></p>
</div>`
  return consoleLayout(frame, {
    section: INVITE_SCREEN_PATH,
    title: 'Invite',
    content: html`${confirmFirst(frame)}${section(
      'New identity',
      html`<p class="lead">The next page shows a link and a QR code to hand over, once.</p>
${form(frame.formToken, INVITE_SCREEN_PATH, fields)}`,
    )}`,
  })
}
