/** The fields of a signer as a form, and the values that travel in it. API 4.5. */
import { html, type SafeHtml } from '../../login/html.ts'
import { check, choice, tagsField, textArea, textField } from './form-parts.ts'
import { type FormState, fieldsOf } from './form-state.ts'

/** By the names of the management API. */
export interface SignerValues {
  readonly name: string
  readonly issuer: string
  readonly audience: string
  /** Either this or the certificate. */
  readonly jwksEndpoint: string
  readonly certPem: string
  readonly kid: string
  readonly claimsProperty: string
  readonly useExternalId: boolean
  readonly externalAuthUrl: string
  readonly clientId: string
  /** Separated by blanks. */
  readonly scopes: string
  readonly targetToken: string
  readonly tags: string
}

export const NEW_SIGNER: SignerValues = {
  name: '',
  issuer: '',
  audience: '',
  jwksEndpoint: '',
  certPem: '',
  kid: '',
  claimsProperty: '/sub',
  useExternalId: true,
  externalAuthUrl: '',
  clientId: '',
  scopes: '',
  targetToken: 'ACCESS',
  tags: '',
}

export function signerFields(state: FormState<SignerValues>): SafeHtml {
  const at = fieldsOf(state)
  return html`${textField({ ...at('name'), label: 'Name', longest: 255, isRequired: true, hint: 'Users see it on the sign-in page.' })}
<fieldset><legend>Which tokens count</legend>
<div class="row">
${textField({ ...at('issuer'), label: 'Issuer', longest: 512, isRequired: true, hint: html`Exactly as in <code>iss</code>.` })}
${textField({ ...at('audience'), label: 'Audience', longest: 512, isRequired: true, hint: html`One of the values of <code>aud</code>.` })}
</div>
<div class="row">
${textField({ ...at('claimsProperty'), label: 'Claim that names the identity', longest: 256, isRequired: true, hint: html`Its name, or a JSON pointer such as <code>/sub</code>.` })}
${choice({
  ...at('targetToken'),
  label: 'Token that is used',
  choices: [
    ['ACCESS', 'Access token'],
    ['ID', 'ID token'],
  ],
})}
</div>
${check({ ...at('useExternalId'), label: 'The claim holds an external ID, not the ID of the identity' })}
</fieldset>
<fieldset><legend>Its keys: a key set or a certificate</legend>
${textField({ ...at('jwksEndpoint'), label: 'URL of the key set', longest: 2048, type: 'url' })}
${textArea({ ...at('certPem'), label: 'Certificate of the key, in PEM', example: '-----BEGIN CERTIFICATE-----' })}
${textField({ ...at('kid'), label: 'ID of that key', longest: 256, hint: html`The <code>kid</code> in its tokens. Only with a certificate.` })}
</fieldset>
<fieldset><legend>Where users sign in</legend>
${textField({ ...at('externalAuthUrl'), label: 'Sign-in URL', longest: 2048, type: 'url', hint: 'The issuer, for a provider with discovery. Without it, users bring a token of their own.' })}
<div class="row">
${textField({ ...at('clientId'), label: 'Client ID at the provider', longest: 256 })}
${textField({ ...at('scopes'), label: 'Scopes', longest: 2048, hint: 'Separated by blanks.' })}
</div>
</fieldset>
${tagsField(at('tags'))}`
}
