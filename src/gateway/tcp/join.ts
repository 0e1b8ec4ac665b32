/**
 * Joins two connections byte for byte, with back pressure in both directions. An orderly end of one side ends the other
 * side's input and leaves its output open; anything else resets the other side, which must not take a cut for the end
 * of the data. D-421.
 */
import type { Duplex } from 'node:stream'
import type { Duration } from '../../base/time/duration.ts'

export interface Side {
  /** With `allowHalfOpen`. */
  readonly stream: Duplex
  /** Closes it in a way that the peer cannot mistake for an orderly end. */
  reset(): void
}

/** `idle`: how long no byte may move in either direction; undefined means no limit. */
export function join(one: Side, other: Side, idle: Duration | undefined): void {
  const timer = idle === undefined ? undefined : setTimeout(resetBoth, idle)

  function resetBoth(): void {
    one.reset()
    other.reset()
  }

  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    const { stream } = from
    stream.on('error', () => undefined)
    stream.once('close', () => {
      clearTimeout(timer)
      if (!stream.readableEnded || !stream.writableFinished) to.reset()
    })
    if (timer !== undefined) stream.on('data', () => timer.refresh())
    stream.pipe(to.stream)
  }
}
