/** /console/cas: third-party CAs, added and verified step by step. API 4.6. */
import type { Instant } from '../../../base/time/instant.ts'
import { form } from '../../account/layout.ts'
import { html, type SafeHtml } from '../../login/html.ts'
import { type ConsoleFrame, confirmFirst, consoleLayout } from '../layout.ts'
import { CAS_PATH, caPath } from '../navigation.ts'
import { badge, facts, section, time } from '../parts.ts'
import { type CaValues, caFields } from './ca-form.ts'
import { changeForm, endings, entityForm, entityListPage } from './entity-pages.ts'
import { textArea, textField } from './form-parts.ts'
import { askedFirst, type FieldsOf, type FormState, fieldsOf } from './form-state.ts'

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

function usesOf(values: CaValues): string[] {
  const { isAuthEnabled, isOttCaEnrollmentEnabled, isAutoCaEnrollmentEnabled } = values
  return [
    ...(isAuthEnabled ? ['signing in'] : []),
    ...(isOttCaEnrollmentEnabled ? ['enrolling with a token'] : []),
    ...(isAutoCaEnrollmentEnabled ? ['enrolling without a token'] : []),
  ]
}

export interface NewCaValues {
  readonly name: string
  readonly certPem: string
}

export function newCaPage(frame: ConsoleFrame, state: FormState<NewCaValues>): SafeHtml {
  const at = fieldsOf(state)
  return consoleLayout(frame, {
    section: CAS_PATH,
    title: 'Add a CA',
    error: state.refusal,
    content: html`${confirmFirst(frame)}${entityForm(frame, {
      title: 'Its certificate',
      path: CAS_PATH,
      fields: html`${textField({ ...at('name'), label: 'Name', longest: 255, isRequired: true })}
${textArea({ ...at('certPem'), label: 'Certificate of the CA, in PEM', isRequired: true, example: '-----BEGIN CERTIFICATE-----' })}`,
      button: 'Add CA',
      hint: 'The next page shows how to prove that you have its key. Until then it is used for nothing.',
    })}`,
  })
}

export function caPage(
  frame: ConsoleFrame,
  page: {
    readonly ca: ShownCa
    readonly state: FormState<CaValues>
    /** What was pasted to verify it. */
    readonly proof?: string | undefined
  },
): SafeHtml {
  const { ca, state, proof = '' } = page
  const { refusal } = state
  const steps = proofSteps(frame, ca, fieldsOf({ values: { proof }, refusal })('proof'))
  const path = caPath(ca.id)
  return consoleLayout(frame, {
    section: CAS_PATH,
    title: ca.name,
    lead: stateOf(ca),
    error: refusal,
    content: html`${confirmFirst(frame)}${askedFirst(ca.name, state)}${!ca.isVerified && section('Prove that you have its key', steps)}
${section(
  'The certificate',
  facts([
    ['Expires', time(ca.endsAt)],
    ['SHA-256 fingerprint', html`<code>${ca.fingerprint}</code>`],
  ]),
)}
${changeForm(frame, path, state, { fields: caFields(state) })}
${endings(frame, 'Delete it', { path: `${path}/delete`, label: 'Delete CA', consequence: 'Certificates of this CA can no longer sign in, and sessions that began with one are refused at the next call. This cannot be undone.' })}`,
  })
}

function proofSteps(
  frame: ConsoleFrame,
  { id, verificationToken }: ShownCa,
  proof: ReturnType<FieldsOf<{ readonly proof: string }>>,
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
  `${caPath(id)}/verify`,
  html`<div class="fields">${textArea({ ...proof, label: 'The signed certificate, in PEM', isRequired: true, example: '-----BEGIN CERTIFICATE-----' })}
<div class="buttons"><button type="submit">Verify the CA</button></div></div>`,
)}</li>
</ol>`
}
