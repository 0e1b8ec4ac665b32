/** GET /account/sessions: all sessions of this user, with buttons to end them. D-163. */
import type { Instant } from '../../base/time/instant.ts'
import { alert } from '../login/alert.ts'
import { html, type SafeHtml } from '../login/html.ts'
import { confirmFirst } from './confirm.ts'
import { accountLayout, type Frame, form, PAGE_PATHS } from './layout.ts'
import { programOf } from './program.ts'
import { SESSIONS } from './texts.ts'
import { momentOf, when } from './when.ts'

export const END_SESSION_PATH = `${PAGE_PATHS.sessions}/end`
export const END_OTHERS_PATH = `${PAGE_PATHS.sessions}/end-others`

export interface ShownSession {
  readonly id: string
  readonly isCurrent: boolean
  /** The User-Agent, which may be any text. */
  readonly userAgent: string | undefined
  readonly address: string
  readonly createdAt: Instant
  /** Only for a legacy session. */
  readonly lastActivityAt: Instant | undefined
  readonly expiresAt: Instant
}

export interface SessionsPage {
  readonly sessions: readonly ShownSession[]
  /** Including those that are not shown. */
  readonly total: number
  readonly isFresh: boolean
  /** Why the last attempt failed. */
  readonly error?: string
}

export function sessionsPage(frame: Frame, page: SessionsPage): SafeHtml {
  const { sessions, total, isFresh, error } = page
  const left = total - sessions.length
  return accountLayout(frame, {
    page: 'sessions',
    error,
    // The button for all sessions comes first, not at the end of a long list.
    content: html`<p>${SESSIONS.message}</p>
${alert(error, 'focused')}${total > 1 ? ending(frame, isFresh) : undefined}<ul class="entries">
${sessions.map((session) => entry(frame, session, isFresh))}</ul>
${total > 1 ? undefined : html`<p class="note">${SESSIONS.noOthers}</p>`}${left > 0 ? html`<p class="note">${SESSIONS.more(left)}</p>` : undefined}`,
  })
}

function ending({ formToken }: Frame, isFresh: boolean): SafeHtml {
  if (!isFresh) return confirmFirst('sessions')
  const button = html`<button class="quiet" type="submit">${SESSIONS.endOthers}</button>`
  return html`${form(formToken, END_OTHERS_PATH, button)}\n`
}

function entry({ formToken }: Frame, session: ShownSession, isFresh: boolean): SafeHtml {
  const { id, isCurrent, userAgent, address, createdAt, lastActivityAt, expiresAt } = session
  const program = programOf(userAgent)
  const label = SESSIONS.endLabel(program, address, momentOf(createdAt))
  const button = html`<input type="hidden" name="session" value="${id}">
<button class="quiet" type="submit" aria-label="${label}">${SESSIONS.end}</button>`
  const isTold = userAgent === undefined || userAgent === program
  return html`<li>
<h2>${isCurrent ? html`<span class="badge">${SESSIONS.current}</span> ` : undefined}<bdi>${program}</bdi></h2>
<dl class="facts">
<dt>${SESSIONS.address}</dt><dd>${address}</dd>
<dt>${SESSIONS.created}</dt><dd>${when(createdAt)}</dd>
${lastActivityAt === undefined ? undefined : html`<dt>${SESSIONS.lastActivity}</dt><dd>${when(lastActivityAt)}</dd>\n`}<dt>${SESSIONS.expires}</dt><dd>${when(expiresAt)}</dd>
${isTold ? undefined : html`<dt class="long">${SESSIONS.userAgent}</dt><dd class="long"><bdi>${userAgent}</bdi></dd>\n`}</dl>
${isCurrent || !isFresh ? undefined : form(formToken, END_SESSION_PATH, button)}
</li>
`
}
