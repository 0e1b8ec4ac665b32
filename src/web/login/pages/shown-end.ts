/** How far the end of a session has got, for the user who ended it: D-363. */
import type { Instant } from '../../../base/time/instant.ts'
import { type HtmlValue, html } from '../html.ts'
import type { Presentation } from '../presentation.ts'

export interface ShownEnd {
  readonly outcome: 'confirmed' | 'elapsed' | 'pending'
  /** How many routers and instances have confirmed it, and how many there are. */
  readonly confirmed: number
  readonly all: number
  /** By then access has ended everywhere, whether they confirm or not. */
  readonly certainAt: Instant
}

/** A sentence. Reloading the page looks again. */
export function endSentence({ say, time }: Presentation, end: ShownEnd): string {
  if (end.outcome !== 'pending') return say('end.everywhere')
  const { confirmed, all, certainAt } = end
  return say('end.pending', {
    confirmed: String(confirmed),
    all: String(all),
    time: time(certainAt),
  })
}

export function endNote(presentation: Presentation, end: ShownEnd | undefined): HtmlValue {
  return end && html`<p class="note">${endSentence(presentation, end)}</p>`
}
