/**
 * The operator's log: lines on standard error, as text on a terminal and as JSON elsewhere, unless the configuration
 * says otherwise (D-46 `log`, D-338). Standard output is reserved for the user.
 */
import { isatty } from 'node:tty'
import { type DestinationStream, pino } from 'pino'
import type { Log } from '../base/log.ts'
import { systemClock } from '../base/time/clock.ts'
import { toRfc3339 } from '../base/time/instant.ts'

export interface LogSettings {
  readonly level: string
  readonly format: 'auto' | 'json' | 'text'
}

const STANDARD_ERROR = 2

/** How much is buffered while standard error is blocked; beyond that, lines are lost. */
const MOST_WAITING_BYTES = 1024 * 1024

export function createLog(
  settings: LogSettings,
  destination?: DestinationStream,
  /** Part of every line. */
  fields: Readonly<Record<string, string | number>> | null = null,
): Log {
  const isTerminal = destination === undefined && isatty(STANDARD_ERROR)
  const stream = destination ?? (isTerminal ? standardError() : inBatches(standardError()))
  const isText = settings.format === 'auto' ? isTerminal : settings.format === 'text'
  return pino({ level: settings.level, base: fields, timestamp }, isText ? asText(stream) : stream)
}

/** As pino wants it: a member of the line, with the comma before it. */
function timestamp(): string {
  return `,"time":"${toRfc3339(systemClock.now())}"`
}

/** A closed terminal, a broken pipe or a full disk stops only the log: without this, writing would throw. */
function standardError(): DestinationStream {
  const stream = pino.destination({
    dest: STANDARD_ERROR,
    sync: true,
    maxLength: MOST_WAITING_BYTES,
  })
  stream.on('error', () => {})
  return stream
}

/** POSIX: a pipe takes this much as a whole, so the lines of two processes never mix (D-293). */
const LARGEST_WRITE_BYTES = 4096

/** Long enough for some requests of a busy process, too short for a person to notice. */
export const BATCH_MILLISECONDS = 10

/**
 * Collects the lines of a moment, so that a busy process writes once for several requests. Writes at once what reports
 * an error, and at the exit whatever is left (D-285).
 */
export function inBatches(stream: DestinationStream): DestinationStream {
  let lines: string[] = []
  let bytes = 0
  let isScheduled = false

  function flush(): void {
    if (lines.length === 0) return
    const text = lines.join('')
    lines = []
    bytes = 0
    stream.write(text)
  }
  process.once('exit', flush)

  return {
    write(line) {
      const size = Buffer.byteLength(line)
      if (bytes + size > LARGEST_WRITE_BYTES) flush()
      lines.push(line)
      bytes += size
      if (isUrgent(line)) flush()
      else if (!isScheduled) {
        isScheduled = true
        setTimeout(() => {
          isScheduled = false
          flush()
        }, BATCH_MILLISECONDS).unref()
      }
    },
  }
}

/** Of level `error` or `fatal`, in either format. */
function isUrgent(line: string): boolean {
  return /^(?:\{"level":[56]0|\S+ (?:error|fatal) )/.test(line)
}

const LEVELS: Readonly<Record<number, string>> = {
  10: 'trace',
  20: 'debug',
  30: 'info',
  40: 'warn',
  50: 'error',
  60: 'fatal',
}

/** `12:00:01.123 info  GET /version 200  1.2 ms`, or `12:00:01.123 warn  message  name=value …`. */
function asText(stream: DestinationStream): DestinationStream {
  return {
    write(line) {
      const { time, level, msg, err, ...fields } = JSON.parse(line)
      const [text, shown] = msg === 'request' ? requestText(fields) : [visible(msg), fields]
      const pairs = Object.entries(shown).map(([name, value]) => `${name}=${asWord(value)}`)
      const head = `${String(time).slice(11, 23)} ${(LEVELS[level] ?? '').padEnd(5)} ${text}`
      const stack = err?.stack?.split('\n').map((step: string) => `\n${visible(step)}`) ?? []
      stream.write(`${[head, ...pairs].join('  ')}${stack.join('')}\n`)
    },
  }
}

type Fields = Readonly<Record<string, unknown>>

/** A request at a glance. The ids are only of use for one that failed: `latchkey explain REQUEST`. */
function requestText(fields: Fields): [text: string, shown: Fields] {
  // A gateway has no routes, and logs the path.
  const { method, path, route = path, status, milliseconds, address, requestId, ...more } = fields
  const { worker: _, session, ...others } = more
  const words = [method, route, status].filter((word) => word !== undefined).map(asWord)
  const time = typeof milliseconds === 'number' ? `  ${milliseconds} ms` : ''
  const isShown = Number(status) >= 400 && requestId !== undefined
  const ids = isShown ? { ...(session ? { session } : {}), request: requestId } : {}
  const from = address === undefined ? {} : { from: address }
  return [`${words.join(' ')}${time}`, { ...from, ...others, ...ids }]
}

/** Quotes external text that is empty or could be mistaken for another field or line. */
function asWord(value: unknown): string {
  const isPlain = typeof value === 'string' && /^[^\s"=]+$/.test(value)
  return visible(isPlain ? value : JSON.stringify(value))
}

/** Escapes control characters, which a terminal would execute, and bidirectional marks, which reorder a line. */
function visible(text: string): string {
  return text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (one) => `\\u{${one.codePointAt(0)?.toString(16)}}`)
}
