/** /console/cas: third-party CAs, added and verified step by step. API 4.6. */
import type { Instant } from '../../../base/time/instant.ts'
import { form } from '../../account/layout.ts'
import { html, type SafeHtml } from '../../login/html.ts'
import { type ConsoleFrame, confirmFirst, consoleLayout } from '../layout.ts'
import { CAS_PATH, caPath } from '../navigation.ts'
import { badge, facts, section, time } from '../parts.ts'
import { type CaValues, caFields } from './ca-form.ts'
import { endings, entityForm, entityListPage, newEntityPage } from './entity-pages.ts'
import { textArea, textField } from './form-parts.ts'

export interface ShownCa {
  readonly id: string
  readonly name: string
  readonly fingerprint: string
  readonly isVerified: boolean
  readonly verificationToken: string
  readonly endsAt: Instant | undefined
  readonly values: CaValues
}

export function casPage(frame: ConsoleFrame, cas: readonly ShownCa[]): SafeHtml {
  return entityListPage(frame, {
    path: CAS_PATH,
    title: 'CAs',
    add: 'Add a CA',
    nothing: {
      title: 'No third-party CAs yet',
      advice:
        ', and devices can sign in with the certificates that it has issued. Our own PKI needs no entry.',
    },
    pathOf: caPath,
    columns: [
      { title: 'State', cell: stateOf },
      { title: 'Used for', cell: ({ values }) => usesOf(values).join(', ') || '–' },
      { title: 'Expires', cell: ({ endsAt }) => time(endsAt) },
    ],
    rows: cas,
  })
}

const stateOf = ({ isVerified }: ShownCa) =>
  isVerified ? badge('good', 'Verified') : badge('warn', 'Not verified')

function usesOf({ isAuthEnabled, isOttEnabled, isAutoEnabled }: CaValues): string[] {
  return [
    ...(isAuthEnabled ? ['signing in'] : []),
    ...(isOttEnabled ? ['enrolling with a token'] : []),
    ...(isAutoEnabled ? ['enrolling without a token'] : []),
  ]
}

export function newCaPage(
  frame: ConsoleFrame,
  page: { readonly name: string; readonly certPem: string; readonly error?: string | undefined },
): SafeHtml {
  return newEntityPage(frame, {
    path: CAS_PATH,
    title: 'Add a CA',
    error: page.error,
    content: entityForm(frame, {
      title: 'Its certificate',
      path: CAS_PATH,
      fields: html`${textField({ name: 'name', label: 'Name', value: page.name, longest: 255, isRequired: true })}
${textArea({ name: 'certPem', label: 'Certificate of the CA, in PEM', value: page.certPem, isRequired: true, example: '-----BEGIN CERTIFICATE-----' })}`,
      button: 'Add CA',
      hint: 'The next page shows how to prove that you have its key. Until then it is used for nothing.',
    }),
  })
}

export function caPage(
  frame: ConsoleFrame,
  page: {
    readonly ca: ShownCa
    /** What the form shows; default: what is stored. */
    readonly values?: CaValues | undefined
    /** What was pasted to verify it. */
    readonly proof?: string
    readonly error?: string | undefined
  },
): SafeHtml {
  const { ca, values = ca.values, proof = '', error } = page
  const path = caPath(ca.id)
  return consoleLayout(frame, {
    section: CAS_PATH,
    title: ca.name,
    lead: stateOf(ca),
    error,
    content: html`${confirmFirst(frame)}${ca.isVerified ? undefined : section('Prove that you have its key', steps(frame, ca, path, proof))}
${section(
  'The certificate',
  facts([
    ['Expires', time(ca.endsAt)],
    ['SHA-256 fingerprint', html`<code>${ca.fingerprint}</code>`],
  ]),
)}
${entityForm(frame, { title: 'Change it', path, fields: caFields(values), button: 'Save' })}
${endings(frame, 'Delete it', { path: `${path}/delete`, label: 'Delete CA', consequence: 'Certificates of this CA can no longer sign in, and sessions that began with one are refused at the next call. This cannot be undone.' })}`,
  })
}

function steps(
  frame: ConsoleFrame,
  { verificationToken }: ShownCa,
  path: string,
  proof: string,
): SafeHtml {
  return html`<ol class="steps">
<li><h3>Create a request whose common name is the token</h3>
<pre tabindex="0" aria-label="Command: create a request">openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes \\
  -keyout proof.key -subj "/CN=${verificationToken}" -out proof.csr</pre></li>
<li><h3>Sign it with the key of the CA</h3>
<pre tabindex="0" aria-label="Command: sign the request">openssl x509 -req -in proof.csr -CA ca.pem -CAkey ca.key -days 1 -out proof.pem</pre></li>
<li><h3>Paste <code>proof.pem</code> here</h3>
${form(
  frame.formToken,
  `${path}/verify`,
  html`<div class="fields">${textArea({ name: 'proof', label: 'The signed certificate, in PEM', value: proof, isRequired: true, example: '-----BEGIN CERTIFICATE-----' })}
<div class="buttons"><button type="submit">Verify the CA</button></div></div>`,
)}</li>
</ol>`
}
