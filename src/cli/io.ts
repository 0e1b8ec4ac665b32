/** Where a command speaks to people. Passed in, so that commands run in tests without a process. */

export interface Io {
  /** One line of answer. */
  out(line: string): void
  /** One line of complaint. */
  err(line: string): void
  /** Somebody is looking: what is printed is seen, and not kept in a file (D-49). */
  readonly isTerminal: boolean
}

export const processIo: Io = {
  out: (line) => console.log(line),
  err: (line) => console.error(line),
  isTerminal: process.stdout.isTTY === true,
}

/** A call that the command line cannot make sense of; the sentence says what is wrong with it. */
export class Misuse extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'Misuse'
  }
}

/** `sysexits.h` where it has a word: D-43 for 78. */
export const EXIT = { ok: 0, failed: 1, usage: 64, config: 78 } as const
export type ExitCode = (typeof EXIT)[keyof typeof EXIT]
