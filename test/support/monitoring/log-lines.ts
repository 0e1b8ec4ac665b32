/**
 * The lines that the service logged. The line of a request is written when its answer has left, which the caller may
 * notice first: so they are waited for.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Service } from '../service.ts'

type Line = Service['log'][number]

/** Generous: a busy machine must not fail the test. */
const PATIENCE_MILLISECONDS = 60_000

/** The lines that fit, once there are `atLeast` of them; what there is when they do not come. */
export async function logLines(
  { log }: Pick<Service, 'log'>,
  fits: (line: Line) => boolean,
  atLeast = 1,
): Promise<readonly Line[]> {
  const patience = AbortSignal.timeout(PATIENCE_MILLISECONDS)
  for (;;) {
    const found = log.filter(fits)
    if (found.length >= atLeast || patience.aborted) return found
    await sleep(2)
  }
}
