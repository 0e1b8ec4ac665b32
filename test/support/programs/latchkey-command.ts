/**
 * `latchkey` for the lines of a page: a shell script that lets this process run the command, because a process for each
 * would take thirty times as long. The command gets what the script got: arguments, variables, folder and streams, all
 * of which Linux shows in /proc. Elsewhere, and for commands that run until a signal comes, the script becomes the program.
 * D-286.
 */
import { once } from 'node:events'
import {
  constants,
  createReadStream,
  openSync,
  readFileSync,
  readlinkSync,
  statSync,
} from 'node:fs'
import { chmod, type FileHandle, open, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { Socket } from 'node:net'
import { Readable, Writable } from 'node:stream'
import type { TestContext } from 'node:test'
import { shellWord } from '../../../src/base/shell-word.ts'
import { CHEAP_PROGRAM, programArguments } from '../process/program.ts'
import { canRunHere, runHere } from '../process/run-command.ts'
import { wordsIn } from './shipped-program.ts'

/** These run until a signal comes, or may. */
const WAITING = new Set(['connect', 'events', 'fake-server'])
/** What the script reads instead of an exit code. */
const APART = 'apart'

/** Writes the command as `file`. It works as long as the test runs. */
export async function writeCommand(t: TestContext, file: string): Promise<void> {
  const words = [process.execPath, ...programArguments(CHEAP_PROGRAM)].map(shellWord).join(' ')
  const program = `exec ${words} "$@"`
  const script = process.platform === 'linux' ? await asking(t, `${file}.socket`, program) : program
  await writeFile(file, `#!/bin/sh\n${script}\n`)
  await chmod(file, 0o755)
}

/** A script that asks a server at this socket, and becomes the program where the server says so. */
async function asking(t: TestContext, socket: string, program: string): Promise<string> {
  const server = createServer(async (request, response) => {
    // A script that was killed meanwhile has no streams any more.
    const answer = await runFor(request.url?.slice(1) ?? '').catch(String)
    response.end(answer)
  })
  server.listen(socket)
  await once(server, 'listening')
  t.after(() => new Promise((resolve) => server.close(resolve)))
  return `answer=$(curl -sS --unix-socket '${socket}' "http://latchkey/$$")
if [ "$answer" = ${APART} ]; then ${program}; fi
exit "$answer"`
}

/** Runs the command that the process `pid` was started as, and returns its exit code once its output is written. */
async function runFor(pid: string): Promise<string> {
  const at = (name: string) => `/proc/${pid}/${name}`
  // The shell, the script, what was typed after it.
  const [, , ...args] = readFileSync(at('cmdline'), 'utf8').split('\0').slice(0, -1)
  const environment = variablesIn(readFileSync(at('environ'), 'utf8'))
  if (!canRunHere(args, environment) || WAITING.has(wordsIn(args))) return APART
  const stdin = Readable.from(inputAt(at('fd/0')))
  const output = await openOutput(at('fd/1'), at('fd/2'))
  const cwd = readlinkSync(at('cwd'))
  const code = await runHere(args, { cwd, environment }, { stdin, ...output })
  stdin.destroy()
  await output.close()
  return String(code)
}

function variablesIn(text: string): NodeJS.ProcessEnv {
  const pairs = text.split('\0').filter((pair) => pair !== '')
  return Object.fromEntries(
    pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
  )
}

/** Opened when the command reads it: what it leaves is for the next one. */
async function* inputAt(path: string): AsyncGenerator<Buffer> {
  if (!statSync(path).isFIFO()) yield* createReadStream(path)
  else {
    // A pipe without a writer would make an ordinary open wait.
    const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
    yield* new Socket({ fd, readable: true, writable: false })
  }
}

/** Both are written in the order in which the command writes them, since they may be the same file. */
async function openOutput(outPath: string, errPath: string) {
  // Appended, since a file has a position of its own here.
  const files = [await open(outPath, 'a'), await open(errPath, 'a')] as const
  let written: Promise<unknown> = Promise.resolve()
  const writer = (file: FileHandle) =>
    new Writable({
      write(chunk, _encoding, done) {
        // A reader that has gone is no failure.
        written = written.then(() => file.write(chunk)).catch(() => undefined)
        done()
      },
    })
  return {
    stdout: writer(files[0]),
    stderr: writer(files[1]),
    async close() {
      await written
      for (const file of files) await file.close()
    },
  }
}
