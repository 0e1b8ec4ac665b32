/** The fields of a signer as a form, and the values that travel in it. API 4.5. */
import { html, type SafeHtml } from '../../login/html.ts'
import { check, choice, tagsField, textArea, textField } from './form-parts.ts'

export interface SignerValues {
  readonly name: string
  readonly issuer: string
  readonly audience: string
  /** Either this or the certificate. */
  readonly jwksEndpoint: string
  readonly certPem: string
  readonly kid: string
  readonly claim: string
  readonly usesExternalId: boolean
  readonly authUrl: string
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
  claim: '/sub',
  usesExternalId: true,
  authUrl: '',
  clientId: '',
  scopes: '',
  targetToken: 'ACCESS',
  tags: '',
}

export function signerFields(values: SignerValues): SafeHtml {
  return html`${textField({ name: 'name', label: 'Name', value: values.name, longest: 255, isRequired: true, hint: 'Users see it on the sign-in page.' })}
<fieldset><legend>Which tokens count</legend>
<div class="row">
${textField({ name: 'issuer', label: 'Issuer', value: values.issuer, longest: 512, isRequired: true, hint: html`Exactly as in <code>iss</code>.` })}
${textField({ name: 'audience', label: 'Audience', value: values.audience, longest: 512, isRequired: true, hint: html`One of the values of <code>aud</code>.` })}
</div>
<div class="row">
${textField({ name: 'claim', label: 'Claim that names the identity', value: values.claim, longest: 256, isRequired: true, hint: html`Its name, or a JSON pointer such as <code>/sub</code>.` })}
${choice({
  name: 'targetToken',
  label: 'Token that is used',
  value: values.targetToken,
  choices: [
    ['ACCESS', 'Access token'],
    ['ID', 'ID token'],
  ],
})}
</div>
${check('usesExternalId', 'The claim holds an external ID, not the ID of the identity', values.usesExternalId)}
</fieldset>
<fieldset><legend>Its keys: a key set or a certificate</legend>
${textField({ name: 'jwksEndpoint', label: 'URL of the key set', value: values.jwksEndpoint, longest: 2048, type: 'url' })}
${textArea({ name: 'signerCert', label: 'Certificate of the key, in PEM', value: values.certPem, example: '-----BEGIN CERTIFICATE-----' })}
${textField({ name: 'kid', label: 'ID of that key', value: values.kid, longest: 256, hint: html`The <code>kid</code> in its tokens. Only with a certificate.` })}
</fieldset>
<fieldset><legend>Where users sign in</legend>
${textField({ name: 'authUrl', label: 'Sign-in URL', value: values.authUrl, longest: 2048, type: 'url', hint: 'The issuer, for a provider with discovery. Without it, users bring a token of their own.' })}
<div class="row">
${textField({ name: 'clientId', label: 'Client ID at the provider', value: values.clientId, longest: 256 })}
${textField({ name: 'scopes', label: 'Scopes', value: values.scopes, longest: 2048, hint: 'Separated by blanks.' })}
</div>
</fieldset>
${tagsField(values.tags)}`
}
