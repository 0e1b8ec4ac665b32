/** /console/signers: external identity providers, from a discovery URL, with a dry run of a token. API 4.5, D-136, D-366. */
import type { Instant } from '../../../base/time/instant.ts'
import { form } from '../../account/layout.ts'
import { html, type SafeHtml } from '../../login/html.ts'
import { type ConsoleFrame, confirmFirst, consoleLayout } from '../layout.ts'
import { SIGNERS_PATH, signerPath } from '../navigation.ts'
import { action, badge, dangerous, empty, facts, section, table, time } from '../parts.ts'
import { check } from './policy-form.ts'

export interface ShownSigner {
  readonly id: string
  readonly name: string
  readonly issuer: string
  readonly audience: string
  readonly isEnabled: boolean
  /** Where its keys come from. */
  readonly keys: string
  readonly claim: string
  readonly usesExternalId: boolean
  readonly clientId: string
  readonly authUrl: string
  readonly lastFetchedAt: Instant | undefined
  readonly lastError: string | undefined
  readonly keyCount: number
}

export function signersPage(frame: ConsoleFrame, signers: readonly ShownSigner[]): SafeHtml {
  return consoleLayout(frame, {
    section: SIGNERS_PATH,
    title: 'Signers',
    lead: html`<a class="button" href="${SIGNERS_PATH}/new">Add a signer</a>`,
    content:
      signers.length === 0
        ? empty(
            'No external identity providers yet',
            html`<a href="${SIGNERS_PATH}/new">Add one</a> by its address, and its users can sign in with their accounts there.`,
          )
        : table(
            'Signers',
            [
              {
                title: 'Name',
                look: 'wide',
                cell: ({ id, name }) => html`<a href="${signerPath(id)}"><bdi>${name}</bdi></a>`,
              },
              { title: 'State', cell: stateOf },
              { title: 'Issuer', look: 'wide', cell: ({ issuer }) => html`<code>${issuer}</code>` },
              { title: 'Keys fetched', cell: ({ lastFetchedAt }) => time(lastFetchedAt) },
            ],
            signers,
          ),
  })
}

function stateOf({ isEnabled, lastError }: ShownSigner): SafeHtml {
  if (!isEnabled) return badge('quiet', 'Disabled')
  return lastError === undefined ? badge('good', 'Enabled') : badge('bad', 'Keys not available')
}

export interface NewSignerValues {
  readonly url: string
  readonly name: string
  readonly clientId: string
  readonly audience: string
}

export function newSignerPage(
  frame: ConsoleFrame,
  { values, error }: { readonly values: NewSignerValues; readonly error?: string | undefined },
): SafeHtml {
  return consoleLayout(frame, {
    section: SIGNERS_PATH,
    title: 'Add a signer',
    error,
    content: html`${confirmFirst(frame)}${section(
      'From its address',
      form(
        frame.formToken,
        SIGNERS_PATH,
        html`<div class="fields">
<p>The discovery document of the provider says where its keys and its sign-in page are.</p>
<div><label for="url">Issuer or discovery URL</label><input id="url" name="url" type="url" value="${values.url}" maxlength="2048" required placeholder="https://idp.example.com" autocomplete="off"></div>
<div><label for="signer-name">Name</label><input id="signer-name" name="name" value="${values.name}" maxlength="255" required autocomplete="off"><p class="hint">Users see it on the sign-in page.</p></div>
<div class="row">
<div><label for="clientId">Client ID at the provider</label><input id="clientId" name="clientId" value="${values.clientId}" maxlength="256" autocomplete="off"><p class="hint">With it, users are sent there to sign in.</p></div>
<div><label for="audience">Audience</label><input id="audience" name="audience" value="${values.audience}" maxlength="512" autocomplete="off"><p class="hint">Needed without a client ID.</p></div>
</div>
<div class="buttons"><button type="submit">Add signer</button></div>
<p class="hint">A provider without discovery, or with a certificate: <code>latchkey create signer --help</code>.</p>
</div>`,
      ),
    )}`,
  })
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
    readonly checked?: CheckedToken | undefined
    readonly error?: string | undefined
  },
): SafeHtml {
  const { signer, checked, error } = page
  const path = signerPath(signer.id)
  return consoleLayout(frame, {
    section: SIGNERS_PATH,
    title: signer.name,
    lead: stateOf(signer),
    error,
    content: html`${section(
      'What is accepted',
      facts([
        ['Issuer', html`<code>${signer.issuer}</code>`],
        ['Audience', html`<code>${signer.audience}</code>`],
        ['Keys', html`<code>${signer.keys}</code>`],
        ['Keys fetched', html`${time(signer.lastFetchedAt, 'not yet')} (${signer.keyCount})`],
        ['Last error', signer.lastError],
        ['Claim that names the identity', html`<code>${signer.claim}</code>`],
        ['The claim is', signer.usesExternalId ? 'an external ID' : 'the ID of the identity'],
        ['Client ID', signer.clientId === '' ? '' : html`<code>${signer.clientId}</code>`],
        ['Users sign in at', signer.authUrl === '' ? '' : html`<code>${signer.authUrl}</code>`],
      ]),
    )}
${section(
  'Check a token',
  html`${checked === undefined ? undefined : result(checked)}${form(
    frame.formToken,
    `${path}/check`,
    html`<div class="fields"><p class="hint">A dry run of every step of a login. Nothing is stored, and no one is signed in.</p>
<div><label for="jwt">JWT of this signer</label><textarea id="jwt" name="jwt" required spellcheck="false" autocomplete="off" placeholder="eyJ…"></textarea></div>
<div class="buttons"><button class="quiet" type="submit">Check the token</button></div></div>`,
  )}`,
)}
${section(
  'Change it',
  html`${confirmFirst(frame)}${form(
    frame.formToken,
    path,
    html`<div class="fields">
<div><label for="name">Name</label><input id="name" name="name" value="${signer.name}" maxlength="255" required autocomplete="off"></div>
<div class="row">
<div><label for="audience">Audience</label><input id="audience" name="audience" value="${signer.audience}" maxlength="512" required autocomplete="off"></div>
<div><label for="claim">Claim that names the identity</label><input id="claim" name="claim" value="${signer.claim}" maxlength="256" required autocomplete="off"></div>
</div>
${check('usesExternalId', 'The claim holds an external ID, not the ID of the identity', signer.usesExternalId)}
<div class="buttons"><button type="submit">Save</button></div></div>`,
  )}`,
)}
${section(
  'Stop using it',
  html`<div class="actions">${signer.isEnabled ? dangerous(frame, { path: `${path}/disable`, label: 'Disable', consequence: 'Its users can no longer sign in, and their sessions are refused at the next call.' }) : action(frame, { path: `${path}/enable`, label: 'Enable' })}${dangerous(frame, { path: `${path}/delete`, label: 'Delete signer', consequence: 'Its users can no longer sign in. This cannot be undone. It is refused while a policy names the signer.' })}</div>`,
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
