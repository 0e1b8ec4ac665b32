/**
 * The signals of a running service: SIGTERM and SIGINT end it, SIGHUP makes it check for newer certificates. The
 * handlers are installed first, so that no signal is lost, or kills the process, while the service starts.
 */
import { isatty } from 'node:tty'
import type { Clock } from '../../base/time/clock.ts'
import { EXIT } from './io.ts'

export interface Signals {
  /** The signal that ends the service. A second one ends the process immediately. */
  readonly stop: Promise<NodeJS.Signals>
  /** Until this is called, a hangup does nothing: a service that is starting has just read its files. */
  onHangup(act: () => void): void
  /** Handles no signal any more: for a command that ends by itself. */
  release(): void
}

/** npm forwards a Ctrl-C that the terminal has already sent to every process: that is one key press, not two. */
export const SAME_KEY_MILLISECONDS = 500

const STANDARD_OUTPUT = 1

export function listenForSignals(clock: Pick<Clock, 'uptime'>): Signals {
  const stop = Promise.withResolvers<NodeJS.Signals>()
  let begun: { readonly signal: NodeJS.Signals; readonly at: number } | undefined
  const handlers: [NodeJS.Signals, () => void][] = []
  const on = (signal: NodeJS.Signals, handle: () => void) => {
    handlers.push([signal, handle])
    process.on(signal, handle)
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    on(signal, () => {
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
  on('SIGHUP', () => {
    // The other, older meaning: the terminal was closed, and the user can no longer stop the service from it.
    if (hadTerminal && !isatty(STANDARD_OUTPUT)) stop.resolve('SIGHUP')
    else act()
  })
  return {
    stop: stop.promise,
    onHangup(given) {
      act = given
    },
    release() {
      for (const [signal, handle] of handlers) process.off(signal, handle)
    },
  }
}
