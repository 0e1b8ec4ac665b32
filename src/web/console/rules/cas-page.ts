/** /console/cas: third-party CAs, added and verified step by step. API 4.6. */
import type { Instant } from '../../../base/time/instant.ts'
import { form } from '../../account/layout.ts'
import { html, type SafeHtml } from '../../login/html.ts'
import { type ConsoleFrame, confirmFirst, consoleLayout } from '../layout.ts'
import { CAS_PATH, caPath } from '../navigation.ts'
import { badge, dangerous, empty, facts, section, table, time } from '../parts.ts'
import { check } from './policy-form.ts'

export interface ShownCa {
  readonly id: string
  readonly name: string
  readonly fingerprint: string
  readonly isVerified: boolean
  readonly verificationToken: string
  readonly isAuthEnabled: boolean
  readonly isOttEnabled: boolean
  readonly isAutoEnabled: boolean
  readonly endsAt: Instant | undefined
}

export function casPage(frame: ConsoleFrame, cas: readonly ShownCa[]): SafeHtml {
  return consoleLayout(frame, {
    section: CAS_PATH,
    title: 'CAs',
    lead: html`<a class="button" href="${CAS_PATH}/new">Add a CA</a>`,
    content:
      cas.length === 0
        ? empty(
            'No third-party CAs yet',
            html`<a href="${CAS_PATH}/new">Add one</a>, and devices can sign in with the certificates that it has issued. Our own PKI needs no entry.`,
          )
        : table(
            'CAs',
            [
              {
                title: 'Name',
                look: 'wide',
                cell: ({ id, name }) => html`<a href="${caPath(id)}"><bdi>${name}</bdi></a>`,
              },
              { title: 'State', cell: stateOf },
              { title: 'Used for', cell: (ca) => usesOf(ca).join(', ') || '–' },
              { title: 'Expires', cell: ({ endsAt }) => time(endsAt) },
            ],
            cas,
          ),
  })
}

const stateOf = ({ isVerified }: ShownCa) =>
  isVerified ? badge('good', 'Verified') : badge('warn', 'Not verified')

function usesOf({ isAuthEnabled, isOttEnabled, isAutoEnabled }: ShownCa): string[] {
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
  return consoleLayout(frame, {
    section: CAS_PATH,
    title: 'Add a CA',
    error: page.error,
    content: html`${confirmFirst(frame)}${section(
      'Its certificate',
      form(
        frame.formToken,
        CAS_PATH,
        html`<div class="fields">
<div><label for="ca-name">Name</label><input id="ca-name" name="name" value="${page.name}" maxlength="255" required autocomplete="off"></div>
<div><label for="certPem">Certificate of the CA, in PEM</label><textarea id="certPem" name="certPem" required spellcheck="false" placeholder="-----BEGIN CERTIFICATE-----">${page.certPem}</textarea></div>
<div class="buttons"><button type="submit">Add CA</button></div>
<p class="hint">The next page shows how to prove that you have its key. Until then it is used for nothing.</p>
</div>`,
      ),
    )}`,
  })
}

export function caPage(
  frame: ConsoleFrame,
  { ca, error }: { readonly ca: ShownCa; readonly error?: string | undefined },
): SafeHtml {
  const path = caPath(ca.id)
  return consoleLayout(frame, {
    section: CAS_PATH,
    title: ca.name,
    lead: stateOf(ca),
    error,
    content: html`${confirmFirst(frame)}${ca.isVerified ? undefined : section('Prove that you have its key', steps(frame, ca, path))}
${section(
  'The certificate',
  facts([
    ['Expires', time(ca.endsAt)],
    ['SHA-256 fingerprint', html`<code>${ca.fingerprint}</code>`],
  ]),
)}
${section(
  'What its certificates may do',
  form(
    frame.formToken,
    path,
    html`<div class="fields">
<div><label for="name">Name</label><input id="name" name="name" value="${ca.name}" maxlength="255" required autocomplete="off"></div>
<div>${check('isAuthEnabled', 'Sign in', ca.isAuthEnabled)}
${check('isOttEnabled', 'Enroll with a token', ca.isOttEnabled)}
${check('isAutoEnabled', 'Enroll without a token, which creates identities', ca.isAutoEnabled)}</div>
<div class="buttons"><button type="submit">Save</button></div></div>`,
  ),
)}
${section('Delete it', html`<div class="actions">${dangerous(frame, { path: `${path}/delete`, label: 'Delete CA', consequence: 'Certificates of this CA can no longer sign in, and sessions that began with one are refused at the next call. This cannot be undone.' })}</div>`)}`,
  })
}

function steps(frame: ConsoleFrame, { verificationToken }: ShownCa, path: string): SafeHtml {
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
  html`<div class="fields"><div><label for="proof">The signed certificate, in PEM</label><textarea id="proof" name="proof" required spellcheck="false" placeholder="-----BEGIN CERTIFICATE-----"></textarea></div>
<div class="buttons"><button type="submit">Verify the CA</button></div></div>`,
)}</li>
</ol>`
}
