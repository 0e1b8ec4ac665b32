/** A moment for people: in UTC, since without a script nobody tells us where they are. */
import { type Instant, toRfc3339 } from '../../base/instant.ts'
import { html, type SafeHtml } from '../login/html.ts'

export function when(at: Instant): SafeHtml {
  const text = toRfc3339(at)
  return html`<time datetime="${text}">${text.slice(0, 10)} ${text.slice(11, 16)} UTC</time>`
}
