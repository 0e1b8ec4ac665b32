/** A shell on a terminal of its own, as a person has it: line after line is pasted, and what comes out is read. */
import type { TestContext } from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import { spawn } from '@lydell/node-pty'
import { waitFor } from '../process/child-service.ts'
import { childEnvironment } from '../process/program.ts'

export interface Shell {
  /** Pastes, and waits until the shell has the word again: everything that was printed, and the exit code. */
  run(line: string): Promise<{ readonly output: string; readonly code: number }>
  /** The same for a line that asks: `talk` sees what is printed, types, and has seen the end of it when it is done. */
  talk(
    line: string,
    talk: (terminal: Talk) => Promise<void>,
  ): Promise<{ readonly output: string; readonly code: number }>
}

export interface Talk {
  /** Waits for the text, and answers everything that was printed since the line was pasted. */
  sees(text: string | RegExp): Promise<string>
  types(text: string): void
}

const ERASED = /[^\n]*\r\p{Cc}\[K/gu

/** Ends with the test. `home` stands for the home folder of the person. */
export async function openShell(t: TestContext, home: string): Promise<Shell> {
  const terminal = spawn('sh', [], {
    // Wide and high enough that nothing is cut, and no pager stops.
    cols: 2_000,
    rows: 2_000,
    cwd: home,
    // With a display, `latchkey login` expects a browser of this machine.
    env: {
      ...childEnvironment({ HOME: home, DISPLAY: ':99' }),
      TERM: 'xterm',
      PS1: '',
      PS2: '',
    } as Record<string, string>,
  })
  let raw = ''
  let isOver = false
  terminal.onData((text) => {
    raw += text
  })
  terminal.onExit(() => {
    isOver = true
  })
  t.after(() => {
    if (!isOver) terminal.kill('SIGKILL')
  })
  // The final view of the terminal: after a second a command prints a progress line, and erases it again.
  const output = (from: number) =>
    stripVTControlCharacters(raw.slice(from).replaceAll(ERASED, '')).replaceAll('\r', '')
  const until = async (isThere: () => boolean, what: string, from: number) =>
    waitFor(
      () => {
        if (isOver) throw new Error(`the shell has ended: ${output(0)}`)
        return isThere()
      },
      () => `${what}\n${output(from)}`,
    )

  let count = 0
  const talk: Shell['talk'] = async (line, speak) => {
    const from = raw.length
    count += 1
    // The shell reads it when the line before is done; what it prints then is nowhere in what is typed.
    const mark = `$((1000 + ${count}))-over-$?`
    terminal.write(`${line.replaceAll('\n', '\r')}\r`)
    await speak({
      async sees(text) {
        const isThere = () => {
          const seen = output(from)
          return typeof text === 'string' ? seen.includes(text) : text.test(seen)
        }
        await until(isThere, String(text), from)
        return output(from)
      },
      types: (text) => terminal.write(`${text}\r`),
    })
    // The echo of what is typed is off; a command that has asked for something turns it on again.
    terminal.write(`echo ${mark}; stty -echo\r`)
    const over = new RegExp(`${1000 + count}-over-(\\d+)\\n`)
    await until(() => over.test(output(from)), line, from)
    const seen = output(from)
    const [shown, code] = over.exec(seen) ?? ['', '']
    return { output: seen.slice(0, seen.indexOf(shown)), code: Number(code) }
  }

  const shell: Shell = { talk, run: (line) => talk(line, async () => undefined) }
  await shell.run('')
  return shell
}
