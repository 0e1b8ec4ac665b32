/** POST /console/policies/{id}/preview: what a change would do, with the button that makes it. D-365. */
import type { Instant } from '../../../base/time/instant.ts'
import { form } from '../../account/layout.ts'
import { html, type SafeHtml } from '../../login/html.ts'
import { type ConsoleFrame, consoleLayout } from '../layout.ts'
import { POLICIES_PATH, policyPath } from '../navigation.ts'
import { badge, personLink, plural, section, table, time } from '../parts.ts'
import type { FormState } from './form-state.ts'
import { hiddenPolicy, type PolicyValues } from './policy-form.ts'

/** The button that leads back to the form, with what was typed. */
export const BACK_FIELD = 'back'

export interface PolicyPreviewPage {
  readonly id: string
  readonly name: string
  readonly state: FormState<PolicyValues>
  readonly changed: readonly string[]
  readonly isRefused: boolean
  readonly identities: { readonly total: number; readonly judged: number }
  readonly lockedOut: Affected<{ id: string; name: string; isAdmin: boolean; why: string }>
  readonly mustEnroll: Affected<{ id: string; name: string }>
  readonly ending: Affected<{
    id: string
    identity: { id: string; name: string }
    createdAt: Instant
    why: string
  }>
  readonly live: number
  readonly restricted: number
}

interface Affected<Row> {
  readonly count: number
  readonly rows: readonly Row[]
}

export function policyPreviewPage(frame: ConsoleFrame, page: PolicyPreviewPage): SafeHtml {
  const { id, name, state, changed, isRefused, identities, lockedOut, mustEnroll, ending } = page
  const path = policyPath(id)
  const isHarmless = lockedOut.count === 0 && ending.count === 0 && mustEnroll.count === 0
  return consoleLayout(frame, {
    section: POLICIES_PATH,
    title: `What would change: ${name}`,
    content: html`${verdict(page, isHarmless)}
${
  identities.judged < identities.total &&
  html`<p class="hint">Of ${identities.total} identities, the first ${identities.judged} were judged.</p>`
}
${lockedOut.count > 0 && section(`${plural(lockedOut.count, 'identity', 'identities')} could no longer sign in`, html`${people(lockedOut)}${more(lockedOut)}`)}
${mustEnroll.count > 0 && section(`${plural(mustEnroll.count, 'identity', 'identities')} would have to set up a second factor`, html`<p class="hint">At their next sign-in.</p>${table('Must set up a second factor', [{ title: 'Name', cell: personLink }], mustEnroll.rows)}${more(mustEnroll)}`)}
${ending.count > 0 && section(`${ending.count} of ${plural(page.live, 'session')} would end`, html`${sessions(ending)}${more(ending)}`)}
${page.restricted > 0 && html`<p>${plural(page.restricted, 'legacy session')} would be refused until a further factor is proven.</p>`}
<div class="buttons">${
      changed.length === 0 || isRefused
        ? undefined
        : form(
            frame.formToken,
            path,
            html`${hiddenPolicy(state)}<button${!isHarmless && html` class="bad"`} type="submit">Save the change</button>`,
          )
    }${form(frame.formToken, `${path}/preview`, html`${hiddenPolicy(state)}<button class="quiet" type="submit" name="${BACK_FIELD}" value="yes">Go back</button>`)}</div>`,
  })
}

function verdict(page: PolicyPreviewPage, isHarmless: boolean): SafeHtml {
  if (page.changed.length === 0) {
    return html`<div class="verdict"><p>This changes nothing.</p></div>`
  }
  if (page.isRefused) {
    return html`<div class="verdict bad" role="alert"><p><strong>This cannot be saved:</strong> no administrator could sign in afterwards. Give an administrator another policy first.</p></div>`
  }
  if (isHarmless) {
    return html`<div class="verdict"><p><strong>No one is locked out.</strong> ${plural(page.identities.judged, 'identity', 'identities')} and ${plural(page.live, 'session')} are not affected.</p></div>`
  }
  return html`<div class="verdict ${page.lockedOut.count > 0 ? 'bad' : 'warn'}"><p><strong>${plural(page.lockedOut.count, 'identity', 'identities')}</strong> could no longer sign in, <strong>${plural(page.ending.count, 'session')}</strong> would end, and <strong>${plural(page.mustEnroll.count, 'identity', 'identities')}</strong> would have to set up a second factor. Nothing is saved yet.</p></div>`
}

function people({ rows }: PolicyPreviewPage['lockedOut']): SafeHtml {
  return table(
    'Could no longer sign in',
    [
      {
        title: 'Name',
        look: 'wide',
        cell: (row) =>
          html`${personLink(row)}${row.isAdmin && html` ${badge('bad', 'Administrator')}`}`,
      },
      { title: 'Why', look: 'wide', cell: ({ why }) => why },
    ],
    rows,
  )
}

function sessions({ rows }: PolicyPreviewPage['ending']): SafeHtml {
  return table(
    'Sessions that would end',
    [
      { title: 'Identity', look: 'wide', cell: ({ identity }) => personLink(identity) },
      { title: 'Began', cell: ({ createdAt }) => time(createdAt) },
      { title: 'Why', look: 'wide', cell: ({ why }) => why },
    ],
    rows,
  )
}

function more({ count, rows }: Affected<unknown>): SafeHtml | undefined {
  return count > rows.length ? html`<p class="hint">and ${count - rows.length} more</p>` : undefined
}
