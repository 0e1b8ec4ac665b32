/**
 * How a command prints to the user and prompts for input. Passed in, so that tests can run commands without a process.
 * The texts of `EXIT` are in `latchkey --help` and in docs/cli.md.
 */

import type { Readable } from 'node:stream'

export interface Io {
  /** Prints one line of output. */
  out(line: string): void
  /** Prints one line that is an error, or not part of the output. */
  err(line: string): void
  /** Output goes to a terminal, so it is seen and not stored in a file (D-49). */
  readonly isTerminal: boolean
  /** Characters in a line of that terminal. */
  readonly columns: number | undefined
  /** Only on a terminal, and if NO_COLOR is not set. */
  readonly hasColour: boolean
  /** Environment variables. */
  readonly variables: Readonly<Record<string, string | undefined>>
  /** Resolves a path of the command line against the working directory. */
  resolve(path: string): string
  /** Standard error, for output that is not a line. */
  readonly errorStream: { readonly isTTY?: boolean; write(text: string): unknown }
  /** Standard input, for commands that read all of it. */
  readonly input: AsyncIterable<string>
  /** Standard input and output, for a command that carries another protocol over them and prints nothing else. */
  readonly bytes: { readonly input: Readable; readonly output: NodeJS.WritableStream }
  /** Input is a terminal. Otherwise, `ask` and `askSecret` read the next line of the input. */
  readonly isInteractive: boolean
  /** Returns the line entered at the prompt, without its line end. Throws CommandFailed on Ctrl-C, and InputEnded. */
  ask(question: string): Promise<string>
  /** The same without an echo. */
  askSecret(question: string): Promise<string>
  /** Replaces the progress line; undefined erases it. Only on terminals. */
  progress(text: string | undefined): void
  /**
   * Calls `act` once when the user presses Ctrl-C, and returns a function that unregisters it. Register it before
   * printing anything that the user may react to (D-190).
   */
  onInterrupt(act: () => void): () => void
}

/** An invalid command line; the message says what is wrong with it. */
export class Misuse extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'Misuse'
  }
}

/** A command that failed: the message for the user, and the exit code. */
export class CommandFailed extends Error {
  readonly exit: ExitCode

  constructor(message: string, exit: ExitCode = EXIT.failed) {
    super(message)
    this.name = 'CommandFailed'
    this.exit = exit
  }
}

/** A question could not be asked: there is no terminal, and standard input has ended. */
export class InputEnded extends CommandFailed {
  constructor(question: string) {
    const what = question.replace(/[:?\s]+$/, '')
    super(
      `there is no terminal to ask on, and standard input has no line for "${what}"`,
      EXIT.usage,
    )
    this.name = 'InputEnded'
  }
}

/** Codes from `sysexits.h` where one fits: D-43 for 78. `again`: running it again is likely to succeed. */
export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 64,
  data: 65,
  missing: 66,
  unavailable: 69,
  conflict: 73,
  unconfirmed: 74,
  again: 75,
  protocol: 76,
  denied: 77,
  config: 78,
  cancelled: 130,
  unread: 141,
} as const
export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** For `--help` and for docs/cli.md. */
export const EXIT_MEANINGS: Readonly<Record<keyof typeof EXIT, string>> = {
  ok: 'success',
  failed: 'failure; the line on standard error gives the reason',
  usage: 'invalid command line',
  data: 'the server rejected the input',
  missing: 'not found: a name, a context or a file',
  unavailable: 'the server does not answer',
  conflict: 'conflict: a name in use, something that others need, the last administrator',
  unconfirmed: 'done, but not every router and instance has confirmed it (`--wait`)',
  again: 'temporary failure: wait, then try again',
  protocol: 'the server is not trusted, or is not Latchkey',
  denied: 'not logged in, the login was refused, or the action is not allowed',
  config: 'invalid configuration of the service',
  cancelled: 'interrupted with Ctrl-C',
  unread: 'the reader of the output closed the pipe, as head does',
}
