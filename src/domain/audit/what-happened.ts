/** What an event means, in one plain sentence: for `latchkey explain` and for the console. API 4.8. */
import { EVENT_TYPES, type EventFacts } from './event-types.ts'

const FACTS = new Map<string, EventFacts>(Object.entries(EVENT_TYPES))

export interface Happened {
  readonly sentence: string
  /** The reason, if this version knows it. */
  readonly reason: string | undefined
}

/** Undefined for types of a newer version. */
export function whatHappened(
  type: string,
  reason: string | null | undefined,
): Happened | undefined {
  const facts = FACTS.get(type)
  if (facts === undefined) return undefined
  const { what, reasons = {} } = facts
  const known = reason && Object.hasOwn(reasons, reason) ? reason : undefined
  const sentence = (known && reasons[known]) ?? what
  return { sentence: plainText(sentence), reason: known }
}

/** The sentences are Markdown, and cite decisions. */
function plainText(sentence: string): string {
  return sentence.replaceAll('`', '').replaceAll(/ \(D-\d+\)/g, '')
}
