/** /console/signers: external identity providers, from a discovery URL, with a dry run of a token. API 4.5, D-136, D-366. */
import type { Instant } from '../../../base/time/instant.ts'
import { html, type SafeHtml } from '../../login/html.ts'
import { type ConsoleFrame, confirmFirst, consoleLayout } from '../layout.ts'
import { SIGNERS_PATH, signerPath } from '../navigation.ts'
import { action, badge, dangerous, facts, section, table, time } from '../parts.ts'
import { changeForm, endings, entityForm, entityListPage } from './entity-pages.ts'
import { textArea, textField } from './form-parts.ts'
import { askedFirst, type FormState, fieldsOf } from './form-state.ts'
import { type SignerValues, signerFields } from './signer-form.ts'

export interface ShownSigner {
  readonly id: string
  readonly name: string
  readonly issuer: string
  readonly isEnabled: boolean
  /** Where its keys come from. */
  readonly keys: string
  readonly lastFetchedAt: Instant | undefined
  readonly lastError: string | undefined
  readonly keyCount: number
}

export function signersPage(frame: ConsoleFrame, signers: readonly ShownSigner[]): SafeHtml {
  return entityListPage(frame, {
    path: SIGNERS_PATH,
    title: 'Signers',
    add: 'Add a signer',
    nothing: {
      title: 'No external identity providers yet',
      advice: ' by its address, and its users can sign in with their accounts there.',
    },
    pathOf: signerPath,
    columns: [
      { title: 'State', cell: stateOf },
      { title: 'Issuer', look: 'wide', cell: ({ issuer }) => html`<code>${issuer}</code>` },
      { title: 'Keys fetched', cell: ({ lastFetchedAt }) => time(lastFetchedAt) },
    ],
    rows: signers,
  })
}

function stateOf({ isEnabled, lastError }: ShownSigner): SafeHtml {
  if (!isEnabled) return badge('quiet', 'Disabled')
  return lastError === undefined ? badge('good', 'Enabled') : badge('bad', 'Keys not available')
}

/** What discovery needs. */
export interface DiscoveredValues {
  readonly url: string
  readonly name: string
  readonly clientId: string
  readonly audience: string
}

export function newSignerPage(
  frame: ConsoleFrame,
  page:
    | { readonly discovered: FormState<DiscoveredValues> }
    | { readonly byHand: FormState<SignerValues> },
): SafeHtml {
  const form =
    'discovered' in page
      ? {
          title: 'From its address',
          path: SIGNERS_PATH,
          fields: discoveryFields(page.discovered),
          hint: html`A provider without discovery, or with a certificate: <a href="${SIGNERS_PATH}/new?by=hand">enter everything by hand</a>.`,
        }
      : {
          title: 'By hand',
          path: `${SIGNERS_PATH}/by-hand`,
          fields: signerFields(page.byHand),
          hint: html`A provider with a discovery document: <a href="${SIGNERS_PATH}/new">add it by its address</a>.`,
        }
  return consoleLayout(frame, {
    section: SIGNERS_PATH,
    title: 'Add a signer',
    error: ('byHand' in page ? page.byHand : page.discovered).refusal,
    content: html`${confirmFirst(frame)}${entityForm(frame, { ...form, button: 'Add signer' })}`,
  })
}

function discoveryFields(state: FormState<DiscoveredValues>): SafeHtml {
  const at = fieldsOf(state)
  return html`<p>The discovery document of the provider says where its keys and its sign-in page are.</p>
${textField({ ...at('url'), label: 'Issuer or discovery URL', longest: 2048, type: 'url', isRequired: true })}
${textField({ ...at('name'), label: 'Name', longest: 255, isRequired: true, hint: 'Users see it on the sign-in page.' })}
<div class="row">
${textField({ ...at('clientId'), label: 'Client ID at the provider', longest: 256, hint: 'With it, users are sent there to sign in.' })}
${textField({ ...at('audience'), label: 'Audience', longest: 512, hint: 'Needed without a client ID.' })}
</div>`
}

export interface CheckedToken {
  readonly passed: boolean
  readonly steps: readonly {
    readonly step: string
    readonly passed: boolean | null
    readonly expected: string | null
    readonly received: string | null
    readonly message: string
  }[]
}

export function signerPage(
  frame: ConsoleFrame,
  page: {
    readonly signer: ShownSigner
    readonly state: FormState<SignerValues>
    readonly checked?: CheckedToken | undefined
  },
): SafeHtml {
  const { signer, state, checked } = page
  const { refusal } = state
  const path = signerPath(signer.id)
  return consoleLayout(frame, {
    section: SIGNERS_PATH,
    title: signer.name,
    lead: stateOf(signer),
    error: refusal,
    content: html`${askedFirst(signer.name, state)}${section(
      'Its keys',
      facts([
        ['From', html`<code>${signer.keys}</code>`],
        ['Fetched', html`${time(signer.lastFetchedAt, 'not yet')} (${signer.keyCount})`],
        ['Last error', signer.lastError],
      ]),
    )}
${entityForm(frame, {
  title: 'Check a token',
  path: `${path}/check`,
  before: checked === undefined ? undefined : result(checked),
  fields: html`<p class="hint">A dry run of every step of a login. Nothing is stored, and no one is signed in.</p>
${textArea({ ...fieldsOf({ values: { jwt: '' }, refusal })('jwt'), label: 'JWT of this signer', isRequired: true, example: 'eyJ…' })}`,
  button: 'Check the token',
  look: 'quiet',
})}
${changeForm(frame, path, state, { before: confirmFirst(frame), fields: signerFields(state) })}
${endings(
  frame,
  'Stop using it',
  {
    path: `${path}/delete`,
    label: 'Delete signer',
    consequence:
      'Its users can no longer sign in. This cannot be undone. It is refused while a policy names the signer.',
  },
  signer.isEnabled
    ? dangerous(frame, {
        path: `${path}/disable`,
        label: 'Disable',
        consequence:
          'Its users can no longer sign in, and their sessions are refused at the next call.',
      })
    : action(frame, { path: `${path}/enable`, label: 'Enable' }),
)}`,
  })
}

function result({ passed, steps }: CheckedToken): SafeHtml {
  return html`<div class="verdict${passed ? '' : ' bad'}" role="status" tabindex="-1" autofocus><p><strong>${passed ? 'A login with this token would be accepted.' : 'A login with this token would be refused.'}</strong></p></div>
${table(
  'Steps of the check',
  [
    {
      title: 'Result',
      cell: ({ passed: isPassed }) => {
        if (isPassed === null) return badge('quiet', 'Not checked')
        return isPassed ? badge('good', 'Passed') : badge('bad', 'Failed')
      },
    },
    { title: 'Step', cell: ({ step }) => step },
    { title: 'What was found', look: 'wide', cell: ({ message }) => message },
    {
      title: 'Expected',
      cell: ({ expected, passed: ok }) =>
        ok === false && expected !== null ? html`<code>${expected}</code>` : '–',
    },
    {
      title: 'Received',
      cell: ({ received, passed: ok }) =>
        ok === false && received !== null ? html`<code>${received}</code>` : '–',
    },
  ],
  steps,
)}`
}
