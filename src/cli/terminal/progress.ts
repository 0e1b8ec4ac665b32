/**
 * Progress of a slow command, on standard error: on a terminal one line that is rewritten, starting a second after the
 * first step; elsewhere a line every ten seconds.
 */
import type { Clock } from '../../base/time/clock.ts'
import type { Io } from './io.ts'

const TERMINAL_SILENT_MILLISECONDS = 1_000
const TERMINAL_MILLISECONDS = 100
const LINE_MILLISECONDS = 10_000

export function createProgress(what: string, clock: Pick<Clock, 'uptime'>, out: Io['errorStream']) {
  const pause = out.isTTY === true ? TERMINAL_MILLISECONDS : LINE_MILLISECONDS
  const silent = out.isTTY === true ? TERMINAL_SILENT_MILLISECONDS : LINE_MILLISECONDS
  let next: number | undefined
  let isShown = false
  return {
    tell(done: number, total: number): void {
      const now = clock.uptime()
      next ??= now + silent
      if (now < next) return
      next = now + pause
      const percent = total === 0 ? 100 : Math.floor((100 * done) / total)
      const text = `${what}: ${percent} % (${done} of ${total} rows)`
      isShown = true
      out.write(out.isTTY === true ? `\r${text}` : `${text}\n`)
    },
    end(): void {
      // Erases the line.
      if (isShown && out.isTTY === true) out.write('\r\u001b[K')
      isShown = false
    },
  }
}
