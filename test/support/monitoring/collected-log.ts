/** A log that keeps its lines. */
import type { Log } from '../../../src/base/log.ts'

// biome-ignore lint/suspicious/noExplicitAny: log lines have any fields
export function collectedLog(): { readonly log: Log; readonly lines: any[] } {
  // biome-ignore lint/suspicious/noExplicitAny: log lines have any fields
  const lines: any[] = []
  const at = (level: string) => (fields: object, msg: string) =>
    void lines.push({ level, msg, ...fields })
  return {
    log: { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') },
    lines,
  }
}
