/** Audit events as a timeline: what happened, to whom, by whom, from where. */
import type { Instant } from '../../../base/time/instant.ts'
import { html, type SafeHtml } from '../../login/html.ts'
import { eventPath, explainPath } from '../navigation.ts'
import { badge, personLink, type ShownPerson, type Tone, time } from '../parts.ts'

export interface ShownEvent {
  readonly id: string
  readonly at: Instant
  readonly type: string
  /** What it means, in one sentence. */
  readonly sentence: string
  readonly reason: string | undefined
  readonly identity: ShownPerson | undefined
  readonly actor: ShownPerson | undefined
  readonly address: string | undefined
  readonly requestId: string | undefined
  readonly sessionId: string | undefined
  readonly userAgent: string | undefined
  readonly count: number
  /** Something was refused, or went wrong. */
  readonly tone: Tone
  readonly details: readonly (readonly [string, string])[]
}

/** The newest first. `about`: whose page it is on, whose name is not repeated. */
export function eventList(events: readonly ShownEvent[], about?: string): SafeHtml {
  return html`<ol class="events">
${events.map((event) => entry(event, about))}</ol>`
}

function entry(event: ShownEvent, about: string | undefined): SafeHtml {
  const { id, at, sentence, identity, actor, address, requestId, count, tone } = event
  const who = identity && identity.id !== about && personLink(identity)
  const isSelf = actor === undefined || actor.id === identity?.id
  const by = !isSelf && html` by ${actor.id === about ? 'them' : personLink(actor)}`
  const from = address !== undefined && html` from <code>${address}</code>`
  return html`<li class="${tone}">
<p class="what">${badge(tone, eventName(event))} ${who}${by}${count > 1 && html` <span class="hint">${count} times in that minute</span>`}</p>
<p>${sentence}</p>
<p class="hint">${time(at)}${from} &middot; <a href="${eventPath(id)}">Details</a>${requestId !== undefined && tone === 'bad' && html` &middot; <a href="${explainPath(requestId)}">Why?</a>`}</p>
</li>
`
}

export function eventName({ type, reason }: Pick<ShownEvent, 'type' | 'reason'>): string {
  return reason === undefined ? type : `${type}: ${reason}`
}
