/** The fields of a CA as a form, and the values that travel in it. API 4.6. */
import { html, type SafeHtml } from '../../login/html.ts'
import { check, choice, tagsField, textArea, textField, wholeNumber } from './form-parts.ts'

export interface CaValues {
  readonly name: string
  readonly isAuthEnabled: boolean
  readonly isOttEnabled: boolean
  readonly isAutoEnabled: boolean
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

export function caFields(values: CaValues): SafeHtml {
  return html`${textField({ name: 'name', label: 'Name', value: values.name, longest: 255, isRequired: true })}
<fieldset><legend>What its certificates may do</legend>
${check('isAuthEnabled', 'Sign in', values.isAuthEnabled)}
${check('isOttEnabled', 'Enroll with a token', values.isOttEnabled)}
${check('isAutoEnabled', 'Enroll without a token, which creates identities', values.isAutoEnabled)}
</fieldset>
<fieldset><legend>Identities that enroll without a token</legend>
${textField({ name: 'identityNameFormat', label: 'How they are named', value: values.identityNameFormat, longest: 256, isRequired: true, hint: html`<code>[caName]</code>, <code>[caId]</code>, <code>[commonName]</code> and <code>[identityId]</code> are filled in.` })}
${textArea({ name: 'identityRoles', label: 'Roles', value: values.identityRoles, isShort: true, hint: 'One on each line.' })}
</fieldset>
<fieldset><legend>External ID in its certificates</legend>
${choice({
  name: 'location',
  label: 'Where it is',
  value: values.location,
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
  name: 'matcher',
  label: 'Which values',
  value: values.matcher,
  choices: [
    ['ALL', 'Every value'],
    ['PREFIX', 'That begin with'],
    ['SUFFIX', 'That end with'],
    ['SCHEME', 'URIs with the scheme'],
  ],
})}
${textField({ name: 'matcherCriteria', label: 'This text', value: values.matcherCriteria, longest: 256, hint: 'A prefix or suffix is not part of the external ID.' })}
</div>
<div class="row">
${choice({
  name: 'parser',
  label: 'Which part',
  value: values.parser,
  choices: [
    ['NONE', 'All of it'],
    ['SPLIT', 'A part between separators'],
  ],
})}
${textField({ name: 'parserCriteria', label: 'Separator', value: values.parserCriteria, longest: 256 })}
${wholeNumber('index', 'Which one, from 0', values.index, 0, 100)}
</div>
</fieldset>
${tagsField(values.tags)}`
}
