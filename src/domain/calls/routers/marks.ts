/**
 * The marks of the feed: what a router has received so far, with a proof for this program of this router (D-381). A
 * router confirms a mark that it got, so it can neither confirm what it was not sent nor speak for another one, and any
 * process of any instance can take the confirmation.
 */
import type { IdentityId } from '../../../base/ids.ts'
import type { Vault } from '../../../base/secrets/vault.ts'
import { type Position, readPosition, writePosition } from '../../sessions/confirming/position.ts'

/** The name that a program gave itself. */
export const RUN = /^[\w-]{8,32}$/

export interface MarkHolder {
  readonly routerId: IdentityId
  readonly run: string
}

export function writeMark(
  vault: Pick<Vault, 'hash'>,
  holder: MarkHolder,
  position: Position,
): string {
  const text = writePosition(position)
  return `${text}.${proofOf(vault, holder, text)}`
}

/** Undefined unless this program of this router got it from a feed of this installation, since its last restore. */
export function readMark(
  vault: Pick<Vault, 'hash'>,
  holder: MarkHolder,
  mark: string,
): Position | undefined {
  const at = mark.lastIndexOf('.')
  const text = mark.slice(0, Math.max(at, 0))
  if (at < 0 || mark.slice(at + 1) !== proofOf(vault, holder, text)) return undefined
  return readPosition(text)
}

/** 132 bits. */
const PROOF_LENGTH = 22

function proofOf(vault: Pick<Vault, 'hash'>, { routerId, run }: MarkHolder, text: string): string {
  return vault.hash('router-mark', `${routerId} ${run} ${text}`).slice(0, PROOF_LENGTH)
}
