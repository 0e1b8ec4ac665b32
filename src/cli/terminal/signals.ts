/**
 * The signals of a running service: SIGTERM and SIGINT end it, SIGHUP makes it look for newer certificates. Listened
 * for from the first moment on, so that none is lost, or deadly, while the service starts.
 */
import { isatty } from 'node:tty'
import type { Clock } from '../../base/time/clock.ts'
import { EXIT } from './io.ts'

export interface Signals {
  /** The signal that ends the service. A second one ends the process at once. */
  readonly stop: Promise<NodeJS.Signals>
  /** Until this is called a hangup does nothing: what has just started has read its files. */
  onHangup(act: () => void): void
}

/** npm hands on a Ctrl-C that the terminal has sent to every process already: that is one key, not two. */
export const SAME_KEY_MILLISECONDS = 500

const STANDARD_OUTPUT = 1

export function listenForSignals(clock: Pick<Clock, 'uptime'>): Signals {
  const stop = Promise.withResolvers<NodeJS.Signals>()
  let begun: { readonly signal: NodeJS.Signals; readonly at: number } | undefined
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      const now = clock.uptime()
      if (begun === undefined) {
        begun = { signal, at: now }
        stop.resolve(signal)
        return
      }
      const isSameKey = signal === 'SIGINT' && begun.signal === signal
      if (isSameKey && now - begun.at < SAME_KEY_MILLISECONDS) return
      process.exit(EXIT.failed)
    })
  }
  const hadTerminal = isatty(STANDARD_OUTPUT)
  let act = (): void => {}
  process.on('SIGHUP', () => {
    // Its other meaning, and the older one: the terminal was closed, and nobody is left who could stop the service.
    if (hadTerminal && !isatty(STANDARD_OUTPUT)) stop.resolve('SIGHUP')
    else act()
  })
  return {
    stop: stop.promise,
    onHangup(given) {
      act = given
    },
  }
}
