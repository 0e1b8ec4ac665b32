/**
 * Writes each event committed on this instance as one line of JSON to standard output or to the end of a file, for
 * other programs. D-134. Callers never wait for it: lines that cannot be written are buffered up to a limit, and the
 * log says so. The database has every event, even if its line is lost.
 */
import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import type { Writable } from 'node:stream'
import type { Log } from '../base/log.ts'
import type { Clock } from '../base/time/clock.ts'
import { type Duration, minutes, seconds } from '../base/time/duration.ts'
import { endsWithin } from '../base/time/within.ts'
import type { AuditOutput as OutputPlace } from '../config/config.ts'
import type { RecordedEvent } from '../domain/audit/recorded-event.ts'
import { eventLine } from '../http/management-api/events.ts'
import { writingFile } from './installation/file-faults.ts'
import { RefusedStart } from './installation/private-files.ts'

export interface AuditOutput {
  /** Writes the events of one commit. Never blocks and never throws. */
  write(events: readonly RecordedEvent[]): void
  /** Reopens the file after it was moved away: the next line goes to a new file. */
  reopen(): void
  /** Writes the buffered lines, for at most one second. */
  close(): Promise<void>
}

/** How much is buffered while the output is blocked; beyond that, lines are lost. */
const MOST_WAITING_BYTES = 8 * 1024 * 1024

const TRY_AGAIN: Duration = seconds(1)
const COMPLAIN_AGAIN: Duration = minutes(1)
const LAST_WAIT: Duration = seconds(1)

interface Surroundings {
  readonly log: Pick<Log, 'info' | 'error'>
  readonly clock: Pick<Clock, 'uptime'>
}

/** Throws RefusedStart if the file cannot be written at the start. */
export async function openAuditOutput(
  place: OutputPlace,
  use: Surroundings & { readonly stdout?: Writable },
): Promise<AuditOutput> {
  switch (place.kind) {
    case 'none':
      return { write() {}, reopen() {}, async close() {} }
    case 'stdout':
      return toStream(use.stdout ?? process.stdout, createTrouble('standard output', use))
    case 'file': {
      const { path } = place
      try {
        const file = await writingFile(path, () => openToAppend(path))
        return toFile(path, file, createTrouble(path, use))
      } catch (error) {
        const { message } = error as Error
        throw new RefusedStart(`events cannot be written (edge.audit.output): ${message}`, {
          cause: error,
        })
      }
    }
  }
}

function linesOf(events: readonly RecordedEvent[]): readonly string[] {
  return events.map((event) => `${JSON.stringify(eventLine(event))}\n`)
}

/**
 * Opens without blocking on a pipe that has no reader. Accepts only a regular file, because only that can be rotated.
 */
async function openToAppend(path: string): Promise<FileHandle> {
  const { O_WRONLY, O_APPEND, O_CREAT, O_NONBLOCK } = constants
  const file = await open(path, O_WRONLY | O_APPEND | O_CREAT | (O_NONBLOCK ?? 0), 0o600)
  if ((await file.stat()).isFile()) return file
  await file.close()
  throw new Error(`${path} is not a file`)
}

function toFile(path: string, opened: FileHandle, trouble: Trouble): AuditOutput {
  let file: FileHandle | undefined = opened
  let waiting: string[] = []
  /** The bytes being written, and how many of them are written. */
  let chunk: { readonly bytes: Buffer; written: number } | undefined
  let waitingBytes = 0
  let mustReopen = false
  let running: Promise<void> | undefined
  let again: NodeJS.Timeout | undefined

  function run(): void {
    if (running !== undefined || again !== undefined) return
    running = flush().finally(() => {
      running = undefined
      // Lines may have arrived just as the buffer became empty.
      if (waiting.length > 0 || mustReopen) run()
    })
  }

  async function flush(): Promise<void> {
    try {
      for (;;) {
        if (mustReopen) await letGo()
        // Even if no line waits: a program may wait for the new file, and trouble is over only if it can be opened.
        file ??= await openToAppend(path)
        if (chunk === undefined) {
          if (waiting.length === 0) break
          chunk = { bytes: Buffer.from(waiting.join('')), written: 0 }
          waiting = []
        }
        while (chunk.written < chunk.bytes.length) {
          const { bytesWritten } = await file.write(chunk.bytes, chunk.written)
          chunk.written += bytesWritten
        }
        waitingBytes -= chunk.bytes.length
        chunk = undefined
      }
      trouble.isOver()
    } catch (error) {
      trouble.tell(error)
      again = setTimeout(() => {
        again = undefined
        run()
      }, TRY_AGAIN)
      again.unref()
    }
  }

  async function letGo(): Promise<void> {
    mustReopen = false
    const old = file
    file = undefined
    // Never split a line between two files.
    if (chunk !== undefined && chunk.written > 0) {
      chunk.written = chunk.bytes.lastIndexOf('\n', chunk.written - 1) + 1
    }
    await old?.close()
  }

  async function untilIdle(): Promise<void> {
    while (running !== undefined) await running
  }

  return {
    write(events) {
      for (const line of linesOf(events)) {
        const bytes = Buffer.byteLength(line)
        if (waitingBytes + bytes > MOST_WAITING_BYTES) {
          trouble.lose()
          continue
        }
        waiting.push(line)
        waitingBytes += bytes
      }
      run()
    },

    reopen() {
      mustReopen = true
      clearTimeout(again)
      again = undefined
      run()
    },

    async close() {
      clearTimeout(again)
      again = undefined
      run()
      await endsWithin(LAST_WAIT, untilIdle())
      clearTimeout(again)
      await file?.close().catch(() => {})
    },
  }
}

function toStream(stream: Writable, trouble: Trouble): AuditOutput {
  // Without a listener, a closed pipe would crash the service.
  stream.on('error', (error) => trouble.tell(error))
  return {
    write(events) {
      for (const line of linesOf(events)) {
        if (stream.writable && stream.writableLength < MOST_WAITING_BYTES) {
          stream.write(line)
          continue
        }
        trouble.lose()
        trouble.tell(new Error(stream.writable ? 'its reader has closed it' : 'it is closed'))
      }
      if (stream.writable && stream.writableLength === 0) trouble.isOver()
    },

    reopen() {},

    async close() {
      if (!stream.writable || stream.writableLength === 0) return
      const written = new Promise<void>((resolve) => stream.write('', () => resolve()))
      await endsWithin(LAST_WAIT, written)
    },
  }
}

/** Logs when a problem begins, every minute while it lasts, and when it is over. */
interface Trouble {
  tell(error: unknown): void
  /** One line was dropped. */
  lose(): void
  isOver(): void
}

function createTrouble(place: string, { log, clock }: Surroundings): Trouble {
  let toldAt: Duration | undefined
  let lost = 0
  return {
    tell(error) {
      const now = clock.uptime()
      if (toldAt !== undefined && now - toldAt < COMPLAIN_AGAIN) return
      toldAt = now
      const { message } = error as Error
      log.error({ place, lost, reason: message }, 'events cannot be written to the audit output')
    },

    lose() {
      lost += 1
    },

    isOver() {
      if (toldAt === undefined) return
      toldAt = undefined
      log.info({ place, lost }, 'events are written to the audit output again')
      lost = 0
    },
  }
}
