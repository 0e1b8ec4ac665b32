/**
 * The `Io` of a process. Answers go to standard output, everything else to standard error, so that the output of a
 * command can go into a file while its questions are still seen.
 */
import { createInterface, type Interface } from 'node:readline'
import { Writable } from 'node:stream'
import { stripVTControlCharacters } from 'node:util'
import { systemClock } from '../../base/time/clock.ts'
import { readUserEnvironment } from '../../config/environment.ts'
import { createInterrupts } from './interrupts.ts'
import { CommandFailed, EXIT, type Io } from './io.ts'

const { stdin, stdout, stderr } = process
const isInteractive = stdin.isTTY === true && stderr.isTTY === true
const LONGEST_INPUT = 1024 * 1024
const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })

let isShowing = false
let isAsking = false
let lines: AsyncIterator<string> | undefined

const interrupts = createInterrupts(systemClock, () => {
  wipe()
  process.exit(EXIT.cancelled)
})
// Listen from the start, so that no interrupt comes before its handler (D-190). A service has its own handlers and its
// own way to stop.
process.on('SIGINT', () => {
  if (process.listenerCount('SIGINT') === 1) interrupts.interrupt()
})

/** Whether the user cancelled: then unfinished work is not awaited. */
export function wasInterrupted(): boolean {
  return interrupts.hasCome
}

export const processIo: Io = {
  out(line) {
    wipe()
    console.log(line)
  },
  err(line) {
    wipe()
    console.error(line)
  },
  isTerminal: stdout.isTTY === true,
  get columns() {
    return stdout.isTTY === true ? stdout.columns : undefined
  },
  hasColour: stdout.isTTY === true && readUserEnvironment().wantsColour,
  isInteractive,
  ask: (question) => (isInteractive ? askPerson(question, stderr) : nextLine(question)),
  askSecret: (question) => (isInteractive ? askPerson(question, nowhere) : nextLine(question)),
  progress(text) {
    wipe()
    if (text === undefined || isAsking || stderr.isTTY !== true) return
    stderr.write(stripVTControlCharacters(text).slice(0, (stderr.columns ?? 80) - 1))
    isShowing = true
  },
  onInterrupt: interrupts.on,
}

// `latchkey events --follow | head -3`: who read our output has gone, and there is nobody to tell anything. What serves
// others goes on; it listens for a signal to end.
for (const stream of [stdout, stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    if (process.listenerCount('SIGTERM') === 0) process.exit(EXIT.unread)
  })
}

function wipe(): void {
  if (isShowing) stderr.write('\r\x1b[K')
  isShowing = false
}

/** What is typed is shown by `echo`, never by the terminal itself: readline takes that over. */
async function askPerson(question: string, echo: Writable): Promise<string> {
  wipe()
  isAsking = true
  // Before the question: whoever is fast must not find the terminal with its own echo.
  const reader = createInterface({ input: stdin, output: echo, terminal: true, historySize: 0 })
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const giveUp = () => reject(new CommandFailed('given up', EXIT.cancelled))
  // In raw mode the terminal does not turn the key into a signal; another process may still send the signal.
  reader.once('SIGINT', giveUp)
  reader.once('close', giveUp)
  const stopListening = interrupts.on(giveUp)
  try {
    if (echo !== stderr) stderr.write(question)
    reader.question(echo === stderr ? question : '', resolve)
    return await promise
  } catch (error) {
    stderr.write('\n')
    throw error
  } finally {
    stopListening()
    if (echo !== stderr) stderr.write('\n')
    reader.close()
    isAsking = false
  }
}

async function nextLine(question: string): Promise<string> {
  lines ??= linesOf(createInterface({ input: stdin, terminal: false }))
  stdin.ref?.()
  const { done, value } = await lines.next()
  // A process that has all its answers does not wait for the end of its input.
  stdin.unref?.()
  if (done === true) {
    const what = question.replace(/[:?\s]+$/, '')
    throw new CommandFailed(
      `there is no terminal to ask on, and standard input has no line for "${what}"`,
      EXIT.usage,
    )
  }
  return value
}

async function* linesOf(reader: Interface): AsyncGenerator<string> {
  let length = 0
  for await (const line of reader) {
    length += line.length
    if (length > LONGEST_INPUT) throw new CommandFailed('standard input is too long', EXIT.usage)
    yield line
  }
}
