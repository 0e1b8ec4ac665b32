/**
 * The id of what one call ended: the numbers of its endings and when it ended them, with a proof that this installation
 * wrote it (D-382). Its holder can ask which routers and instances have confirmed it; nothing is stored for it.
 */
import { equalInConstantTime, type Vault } from '../../../base/secrets/vault.ts'
import { type Instant, instant } from '../../../base/time/instant.ts'
import type { NewEnding } from '../ending/tell-copies.ts'
import { fewRanges, type Range, rangesOf, readRanges, writeRanges } from './position.ts'

/** What is to be confirmed. */
export interface ConfirmedThing {
  readonly ranges: readonly Range[]
  /** When it ended, by the clock of the instance that ended it. */
  readonly at: Instant
}

/** Undefined if nothing new has ended. */
export function thingOf(endings: readonly NewEnding[]): ConfirmedThing | undefined {
  const numbers = endings.flatMap(({ sequence }) => (sequence === undefined ? [] : [sequence]))
  if (numbers.length === 0) return undefined
  const at = instant(endings.reduce((last, one) => Math.max(last, one.at), 0))
  return { ranges: fewRanges(rangesOf(numbers)), at }
}

export function writeEndingId(vault: Pick<Vault, 'hash'>, { ranges, at }: ConfirmedThing): string {
  const text = `${writeRanges(ranges)}.${at.toString(36)}`
  return `${text}.${proofOf(vault, text)}`
}

/** Undefined unless this installation wrote it, since its last restore. */
export function readEndingId(vault: Pick<Vault, 'hash'>, id: string): ConfirmedThing | undefined {
  const [, text = '', numbers = '', time = '', proof = ''] = FORM.exec(id) ?? []
  if (text === '' || !equalInConstantTime(proof, proofOf(vault, text))) return undefined
  const ranges = readRanges(numbers)
  return ranges === undefined ? undefined : { ranges, at: instant(Number.parseInt(time, 36)) }
}

const FORM = /^(([\d,-]{1,600})\.([\da-z]{1,10}))\.([\w-]{22})$/
/** 132 bits. */
const PROOF_LENGTH = 22

function proofOf(vault: Pick<Vault, 'hash'>, text: string): string {
  return vault.hash('ending', text).slice(0, PROOF_LENGTH)
}
