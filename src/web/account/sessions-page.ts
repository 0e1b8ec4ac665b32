/** GET /account/sessions: everything that is signed in as this person, and its end. D-163. */
import type { Instant } from '../../base/instant.ts'
import { html, type SafeHtml } from '../login/html.ts'
import { confirmFirst } from './confirm.ts'
import { accountLayout, type Frame, form, PAGE_PATHS } from './layout.ts'
import { SESSIONS } from './texts.ts'
import { when } from './when.ts'

export const END_SESSION_PATH = `${PAGE_PATHS.sessions}/end`
export const END_OTHERS_PATH = `${PAGE_PATHS.sessions}/end-others`

export interface ShownSession {
  readonly id: string
  readonly kind: 'oidc' | 'legacy'
  readonly isCurrent: boolean
  /** As the program named itself: anything. */
  readonly userAgent: string | undefined
  readonly address: string
  readonly createdAt: Instant
  /** Of a legacy session. */
  readonly lastActivityAt: Instant | undefined
  readonly expiresAt: Instant
}

export interface SessionsPage {
  readonly sessions: readonly ShownSession[]
  /** With those that are not shown. */
  readonly total: number
  readonly isFresh: boolean
}

export function sessionsPage(frame: Frame, { sessions, total, isFresh }: SessionsPage): SafeHtml {
  const left = total - sessions.length
  return accountLayout(frame, {
    page: 'sessions',
    // First, so that nobody has to look for the buttons at the end of a long list.
    content: html`<p>${SESSIONS.message}</p>
${total > 1 && !isFresh ? confirmFirst('sessions') : undefined}<ul class="entries">
${sessions.map((session) => entry(frame, session, isFresh))}</ul>
${left > 0 ? html`<p class="note">${SESSIONS.more(left)}</p>\n` : undefined}${ending(frame, total, isFresh)}`,
  })
}

function entry({ formToken }: Frame, session: ShownSession, isFresh: boolean): SafeHtml {
  const { id, kind, isCurrent, address, createdAt, lastActivityAt, expiresAt } = session
  const program = session.userAgent ?? SESSIONS.unknown
  const button = html`<input type="hidden" name="session" value="${id}">
<button class="quiet" type="submit" aria-label="${SESSIONS.endLabel(program, address)}">${SESSIONS.end}</button>`
  return html`<li>
<h2>${isCurrent ? html`<span class="badge">${SESSIONS.current}</span> ` : undefined}${program}</h2>
<dl class="facts">
<dt>${SESSIONS.kind}</dt><dd>${SESSIONS.kinds[kind]}</dd>
<dt>${SESSIONS.address}</dt><dd>${address}</dd>
<dt>${SESSIONS.created}</dt><dd>${when(createdAt)}</dd>
${lastActivityAt === undefined ? undefined : html`<dt>${SESSIONS.lastActivity}</dt><dd>${when(lastActivityAt)}</dd>\n`}<dt>${SESSIONS.expires}</dt><dd>${when(expiresAt)}</dd>
</dl>
${isCurrent || !isFresh ? undefined : form(formToken, END_SESSION_PATH, button)}
</li>
`
}

function ending({ formToken }: Frame, total: number, isFresh: boolean): SafeHtml | undefined {
  if (total <= 1) return html`<p class="note">${SESSIONS.noOthers}</p>`
  if (!isFresh) return undefined
  const button = html`<button type="submit">${SESSIONS.endOthers}</button>`
  return html`<section>
${form(formToken, END_OTHERS_PATH, button)}
</section>`
}
