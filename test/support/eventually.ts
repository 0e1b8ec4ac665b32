/** What comes true by itself a little later: looked for again and again, and a failure when nobody would wait longer. */
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'

/** Far more than the second of D-34: a slow machine is no fault, a thing that never comes is one. */
const PATIENCE_MILLISECONDS = 60_000

export async function eventually<T>(
  look: () => T | undefined | Promise<T | undefined>,
  what: string,
): Promise<T> {
  const patience = AbortSignal.timeout(PATIENCE_MILLISECONDS)
  for (;;) {
    const found = await look()
    if (found !== undefined) return found
    assert.equal(patience.aborted, false, `this never came: ${what}`)
    await sleep(20)
  }
}
