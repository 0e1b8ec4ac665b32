/** A time for users: in UTC, because without a script the page does not know their time zone. */
import { type Instant, toRfc3339 } from '../../base/time/instant.ts'
import { html, type SafeHtml } from '../login/html.ts'

export function when(at: Instant): SafeHtml {
  return html`<time datetime="${toRfc3339(at)}">${momentOf(at)}</time>`
}

/** The same as plain text. */
export function momentOf(at: Instant): string {
  const text = toRfc3339(at)
  return `${text.slice(0, 10)} ${text.slice(11, 16)} UTC`
}
