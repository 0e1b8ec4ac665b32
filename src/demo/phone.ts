/** Stands in for a user's authenticator app: a file that always has the current code (RFC 6238). */

import type { Log } from '../base/log.ts'
import type { Clock } from '../base/time/clock.ts'
import { totpCode, totpStep } from '../protocol/totp.ts'

/** A code that has just expired is still accepted (D-17). */
const LOOK_MILLISECONDS = 500

/** Resolves when the first code is written. */
export async function startPhone(
  secret: Uint8Array,
  deps: {
    readonly clock: Pick<Clock, 'now'>
    readonly write: (text: string) => Promise<void>
    readonly log: Pick<Log, 'error'>
  },
) {
  let shown: number | undefined
  async function show(): Promise<void> {
    const step = totpStep(deps.clock.now())
    if (step === shown) return
    await deps.write(`${totpCode(secret, step)}\n`)
    shown = step
  }
  await show()
  let showing: Promise<void> = Promise.resolve()
  const timer = setInterval(() => {
    showing = showing
      .then(show)
      .catch((error) => deps.log.error({ err: error }, 'the code was not written'))
  }, LOOK_MILLISECONDS)
  return {
    async stop() {
      clearInterval(timer)
      await showing
    },
  }
}
