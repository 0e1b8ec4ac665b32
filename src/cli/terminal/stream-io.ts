/**
 * An `Io` on three streams. Output goes to standard output, everything else to standard error, so that the output of a
 * command can go into a file while its prompts stay visible.
 */
import { createInterface, type Interface } from 'node:readline'
import { type Readable, Writable } from 'node:stream'
import { stripVTControlCharacters } from 'node:util'
import { readUserEnvironment } from '../../config/environment.ts'
import type { Interrupts } from './interrupts.ts'
import { CommandFailed, EXIT, InputEnded, type Io } from './io.ts'

/** The streams of a process, or of a test. */
export interface Surroundings {
  readonly stdin: Readable & {
    readonly isTTY?: boolean
    /** A pipe or a terminal keeps the process alive unless it is unreferenced; a file has neither method. */
    ref?(): unknown
    unref?(): unknown
  }
  readonly stdout: TerminalStream
  readonly stderr: TerminalStream
  readonly variables: Io['variables']
  readonly resolve: Io['resolve']
  readonly interrupts: Pick<Interrupts, 'on'>
}

interface TerminalStream extends NodeJS.WritableStream {
  readonly isTTY?: boolean
  readonly columns?: number
}

const LONGEST_INPUT = 1024 * 1024
const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })

/** `wipe` erases the progress line. */
export function createStreamIo(surroundings: Surroundings): Io & { wipe(): void } {
  const { stdin, stdout, stderr, variables, interrupts } = surroundings
  const isInteractive = stdin.isTTY === true && stderr.isTTY === true
  let isShowing = false
  let isAsking = false
  let lines: AsyncIterator<string> | undefined

  function wipe(): void {
    if (isShowing) stderr.write('\r\x1b[K')
    isShowing = false
  }

  /** `echo` shows typed characters, never the terminal itself: readline takes that over. */
  async function askPerson(question: string, echo: NodeJS.WritableStream): Promise<string> {
    wipe()
    isAsking = true
    // Before the prompt: a fast user must not type while the terminal still echoes.
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
    // A process that has all its input does not wait for the end of the stream.
    stdin.unref?.()
    if (done === true) throw new InputEnded(question)
    return value
  }

  return {
    out(line) {
      wipe()
      stdout.write(`${line}\n`)
    },
    err(line) {
      wipe()
      stderr.write(`${line}\n`)
    },
    isTerminal: stdout.isTTY === true,
    get columns() {
      return stdout.isTTY === true ? stdout.columns : undefined
    },
    hasColour: stdout.isTTY === true && readUserEnvironment(variables).wantsColour,
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
    variables,
    resolve: surroundings.resolve,
    get input() {
      return stdin.setEncoding('utf8')
    },
    errorStream: stderr,
    bytes: { input: stdin, output: stdout },
    wipe,
  }
}

async function* linesOf(reader: Interface): AsyncGenerator<string> {
  let length = 0
  for await (const line of reader) {
    length += line.length
    if (length > LONGEST_INPUT) throw new CommandFailed('standard input is too long', EXIT.usage)
    yield line
  }
}
