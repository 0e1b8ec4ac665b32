/** The fields of a CA as a form, and the values that travel in it. API 4.6. */
import { html, type SafeHtml } from '../../login/html.ts'
import { check, choice, tagsField, textArea, textField, wholeNumber } from './form-parts.ts'
import { type FormState, fieldsOf } from './form-state.ts'

/** By the names of the management API. */
export interface CaValues {
  readonly name: string
  readonly isAuthEnabled: boolean
  readonly isOttCaEnrollmentEnabled: boolean
  readonly isAutoCaEnrollmentEnabled: boolean
  /** One on each line. */
  readonly identityRoles: string
  readonly identityNameFormat: string
  /** Where the external ID is; empty if certificates have none. */
  readonly location: string
  readonly matcher: string
  readonly matcherCriteria: string
  readonly parser: string
  readonly parserCriteria: string
  readonly index: string
  readonly tags: string
}

export function caFields(state: FormState<CaValues>): SafeHtml {
  const at = fieldsOf(state)
  return html`${textField({ ...at('name'), label: 'Name', longest: 255, isRequired: true })}
<fieldset><legend>What its certificates may do</legend>
${check({ ...at('isAuthEnabled'), label: 'Sign in' })}
${check({ ...at('isOttCaEnrollmentEnabled'), label: 'Enroll with a token' })}
${check({ ...at('isAutoCaEnrollmentEnabled'), label: 'Enroll without a token, which creates identities' })}
</fieldset>
<fieldset><legend>Identities that enroll without a token</legend>
${textField({ ...at('identityNameFormat'), label: 'How they are named', longest: 256, isRequired: true, hint: html`<code>[caName]</code>, <code>[caId]</code>, <code>[commonName]</code> and <code>[identityId]</code> are filled in.` })}
${textArea({ ...at('identityRoles'), label: 'Roles', isShort: true, hint: 'One on each line.' })}
</fieldset>
<fieldset><legend>External ID in its certificates</legend>
${choice({
  ...at('location'),
  label: 'Where it is',
  choices: [
    ['', 'None'],
    ['COMMON_NAME', 'Common name'],
    ['SAN_URI', 'URI of the subject alternative name'],
    ['SAN_EMAIL', 'Email of the subject alternative name'],
  ],
  hint: 'With one, a certificate belongs to the identity with this external ID, without an enrollment.',
})}
<div class="row">
${choice({
  ...at('matcher'),
  label: 'Which values',
  choices: [
    ['ALL', 'Every value'],
    ['PREFIX', 'That begin with'],
    ['SUFFIX', 'That end with'],
    ['SCHEME', 'URIs with the scheme'],
  ],
})}
${textField({ ...at('matcherCriteria'), label: 'This text', longest: 256, hint: 'A prefix or suffix is not part of the external ID.' })}
</div>
<div class="row">
${choice({
  ...at('parser'),
  label: 'Which part',
  choices: [
    ['NONE', 'All of it'],
    ['SPLIT', 'A part between separators'],
  ],
})}
${textField({ ...at('parserCriteria'), label: 'Separator', longest: 256 })}
${wholeNumber({ ...at('index'), label: 'Which one, from 0', min: 0, max: 100 })}
</div>
</fieldset>
${tagsField(at('tags'))}`
}
