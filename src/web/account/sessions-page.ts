/** GET /account/sessions: all sessions of this user, with buttons to end them. D-163. */
import type { Instant } from '../../base/time/instant.ts'
import { alert } from '../login/alert.ts'
import { html, type SafeHtml } from '../login/html.ts'
import { confirmFirst } from './confirm.ts'
import { accountLayout, type Frame, form, PAGE_PATHS } from './layout.ts'
import { programOf } from './program.ts'
import { when } from './when.ts'

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
  readonly error?: string | undefined
}

export function sessionsPage(frame: Frame, page: SessionsPage): SafeHtml {
  const { sessions, total, isFresh, error } = page
  const { say, count } = frame.presentation
  const left = total - sessions.length
  return accountLayout(frame, {
    page: 'sessions',
    error,
    // The button for all sessions comes first, not at the end of a long list.
    content: html`<p>${say('sessions.message')}</p>
${alert(error, 'focused')}${total > 1 && ending(frame, isFresh)}<ul class="entries">
${sessions.map((session) => entry(frame, session, isFresh))}</ul>
${total <= 1 && html`<p class="note">${say('sessions.noOthers')}</p>`}${left > 0 && html`<p class="note">${count('sessions.more', left)}</p>`}`,
  })
}

function ending({ formToken, presentation }: Frame, isFresh: boolean): SafeHtml {
  const { say } = presentation
  if (!isFresh) return confirmFirst(presentation, 'sessions')
  const button = html`<button class="quiet" type="submit">${say('sessions.endOthers')}</button>`
  return html`${form(formToken, END_OTHERS_PATH, button)}\n`
}

function entry(
  { formToken, presentation }: Frame,
  session: ShownSession,
  isFresh: boolean,
): SafeHtml {
  const { say, time } = presentation
  const { id, isCurrent, userAgent, address, createdAt, lastActivityAt, expiresAt } = session
  const program = programOf(presentation, userAgent)
  const label = say('sessions.endLabel', { program, address, time: time(createdAt) })
  const button = html`<input type="hidden" name="session" value="${id}">
<button class="quiet" type="submit" aria-label="${label}">${say('sessions.end')}</button>`
  const isTold = userAgent === undefined || userAgent === program
  return html`<li>
<h2>${isCurrent && html`<span class="badge">${say('sessions.current')}</span> `}<bdi>${program}</bdi></h2>
<dl class="facts">
<dt>${say('sessions.address')}</dt><dd>${address}</dd>
<dt>${say('sessions.created')}</dt><dd>${when(presentation, createdAt)}</dd>
${lastActivityAt !== undefined && html`<dt>${say('sessions.lastActivity')}</dt><dd>${when(presentation, lastActivityAt)}</dd>\n`}<dt>${say('sessions.expires')}</dt><dd>${when(presentation, expiresAt)}</dd>
${!isTold && html`<dt class="long">${say('sessions.userAgent')}</dt><dd class="long"><bdi>${userAgent}</bdi></dd>\n`}</dl>
${!isCurrent && isFresh && form(formToken, END_SESSION_PATH, button)}
</li>
`
}
