/**
 * The operator's log: structured lines on standard error. Standard output is reserved for the user (D-46 `log`). Lines
 * are written in batches: one write for each request would cost more than many requests do (D-285).
 */
import { type DestinationStream, pino, stdTimeFunctions } from 'pino'
import type { Log } from '../base/log.ts'

export interface LogSettings {
  readonly level: string
  readonly format: 'json' | 'text'
}

const STANDARD_ERROR = 2

/** How much is buffered while standard error is blocked; beyond that, lines are lost. */
const MOST_WAITING_BYTES = 1024 * 1024

/** How long a line waits for others, and how much waits at most. Warnings and errors do not wait. */
const BATCH_MILLISECONDS = 50
const BATCH_CHARACTERS = 16 * 1024

export function createLog(settings: LogSettings, destination?: DestinationStream): Log {
  const written = (stream: DestinationStream) =>
    settings.format === 'text' ? asText(stream) : stream
  const options = { level: settings.level, base: null, timestamp: stdTimeFunctions.isoTime }
  if (destination !== undefined) return pino(options, written(destination))
  const batch = inBatches(standardError())
  return pino(options, flushWarnings(written(batch), batch))
}

/** The number that pino gives to warnings. */
const WARNING = 40

export function flushWarnings(stream: DestinationStream, batch: Batch): DestinationStream {
  const leveled = {
    // Makes pino set `lastLevel` before each line.
    [Symbol.for('pino.metadata')]: true,
    lastLevel: 0,
    write(line: string) {
      stream.write(line)
      if (leveled.lastLevel >= WARNING) batch.flush()
    },
  }
  return leveled
}

export interface Batch extends DestinationStream {
  flush(): void
}

/** Nothing is lost when the process exits, whatever the reason; only a kill -9 can lose the last batch (D-285). */
export function inBatches(stream: DestinationStream): Batch {
  let waiting = ''
  let timer: NodeJS.Timeout | undefined
  function flush(): void {
    clearTimeout(timer)
    timer = undefined
    const text = waiting
    waiting = ''
    if (text !== '') stream.write(text)
  }
  process.on('exit', flush)
  return {
    flush,
    write(line) {
      waiting += line
      if (waiting.length >= BATCH_CHARACTERS) flush()
      else timer ??= setTimeout(flush, BATCH_MILLISECONDS).unref()
    },
  }
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

const LEVELS: Readonly<Record<number, string>> = {
  10: 'trace',
  20: 'debug',
  30: 'info',
  40: 'warn',
  50: 'error',
  60: 'fatal',
}

/** Terminal format: `12:00:01.123 info  request  method=GET route=/version …`. */
function asText(stream: DestinationStream): DestinationStream {
  return {
    write(line) {
      const { time, level, msg, err, ...fields } = JSON.parse(line)
      const shown = Object.entries(fields).map(([name, value]) => `${name}=${asWord(value)}`)
      const head = `${String(time).slice(11, 23)} ${(LEVELS[level] ?? '').padEnd(5)} ${visible(msg)}`
      const stack = err?.stack?.split('\n').map((step: string) => `\n${visible(step)}`) ?? []
      stream.write(`${[head, ...shown].join('  ')}${stack.join('')}\n`)
    },
  }
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
