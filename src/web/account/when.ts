/** A time for users, in their language. */
import { type Instant, toRfc3339 } from '../../base/time/instant.ts'
import { html, type SafeHtml } from '../login/html.ts'
import type { Presentation } from '../login/presentation.ts'

export function when({ time }: Pick<Presentation, 'time'>, at: Instant): SafeHtml {
  return html`<time datetime="${toRfc3339(at)}">${time(at)}</time>`
}
