/** An audit event as the console shows it. */
import { clockSentence } from '../../../domain/audit/clock-sentence.ts'
import type { RecordedEvent } from '../../../domain/audit/recorded-event.ts'
import { whatHappened } from '../../../domain/audit/what-happened.ts'
import type { ShownEvent } from '../../../web/console/events/event-list.ts'
import type { ShownPerson, Tone } from '../../../web/console/parts.ts'

export function shownEvent(event: RecordedEvent): ShownEvent {
  const { identityId, identityName, actorId, actorName, details = {}, ...shown } = event
  return {
    ...shown,
    sentence: whatHappened(event.type, event.reason)?.sentence ?? '',
    identity: personOf(identityId, identityName),
    actor: personOf(actorId, actorName),
    tone: toneOf(event.type),
    details: Object.entries(details).map(([name, value]) => [name, textOf(name, value)]),
  }
}

function personOf(id: string | undefined, name: string | undefined): ShownPerson | undefined {
  return id === undefined ? undefined : { id, name }
}

function textOf(name: string, value: unknown): string {
  if (name === 'clock') return clockSentence(value) ?? JSON.stringify(value)
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** By what administrators look for: refusals and thefts first, then what ends or removes something. */
function toneOf(type: string): Tone {
  if (/[.](failed|refused|reused|revoked)$/.test(type)) return 'bad'
  if (/[.](locked|disabled|deleted|ended|removed|recovered|restored)$/.test(type)) return 'warn'
  return /[.](succeeded|issued|enrolled|enabled|used)$/.test(type) ? 'good' : 'quiet'
}
