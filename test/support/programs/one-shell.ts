/**
 * Runs commands in one shell that stays. A test process is large, and each fork of it takes longer than most commands do.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import type { Socket } from 'node:net'
import { shellWord } from '../../../src/base/shell-word.ts'

export type Command = readonly [program: string, ...args: string[]]

/** Between the output of one call and that of the next. Nothing that is run prints it. */
const END = 'end-of-the-commands'

let shell: ChildProcess | undefined
let last: Promise<unknown> = Promise.resolve()

/**
 * Runs one command after the other in this folder, with no input, and returns what they print. Rejects with what was
 * written to stderr when a command fails; those after it do not run. Calls wait for each other.
 */
export function runInShell(cwd: string, commands: readonly Command[]): Promise<string> {
  const outcome = last.then(() => runNow(cwd, commands))
  last = outcome.catch(() => undefined)
  return outcome
}

async function runNow(cwd: string, commands: readonly Command[]): Promise<string> {
  shell ??= startShell()
  const words = commands.map((command) => command.map(shellWord).join(' ')).join(' && ')
  // Held only while it works: a shell that waits must not keep the tests from ending.
  shell.ref()
  try {
    const errors = readUntilEnd(shell.stderr as Socket)
    const output = readUntilEnd(shell.stdout as Socket)
    shell.stdin?.write(
      `(cd ${shellWord(cwd)} && ${words}) </dev/null; status=$?\n` +
        `echo "$status ${END}"; echo "$status ${END}" >&2\n`,
    )
    const [printed, complaints] = await Promise.all([output, errors])
    if (printed.status !== 0) throw new Error(`${words}\n${complaints.text}`)
    return printed.text
  } finally {
    shell.unref()
  }
}

/** It ends with this process, which closes its input. */
function startShell(): ChildProcess {
  const started = spawn('sh', [], { stdio: ['pipe', 'pipe', 'pipe'] })
  for (const stream of [started.stdin, started.stdout, started.stderr]) {
    ;(stream as Socket).unref()
  }
  started.once('close', () => {
    shell = undefined
  })
  return started
}

function readUntilEnd(stream: Socket): Promise<{ readonly status: number; readonly text: string }> {
  return new Promise((resolve, reject) => {
    let text = ''
    const fail = () => reject(new Error(`the shell ended: ${text}`))
    const read = (chunk: Buffer) => {
      text += chunk.toString('latin1')
      const end = new RegExp(`(\\d+) ${END}\\n$`).exec(text)
      if (end === null) return
      stream.off('data', read).off('close', fail)
      const before = Buffer.from(text.slice(0, end.index), 'latin1')
      resolve({ status: Number(end[1]), text: before.toString('utf8') })
    }
    stream.on('data', read).on('close', fail)
  })
}
