/**
 * Runs a command to its end. The first run of each command in a test file is a process of its own; all others call
 * `runCli` in this process with streams, environment and working directory of their own, which takes a tenth of the
 * time. test/process/cli-every-command.test.ts holds that every command is run in some file.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { Readable, Writable } from 'node:stream'
import type { TestContext } from 'node:test'
import { systemClock } from '../../../src/base/time/clock.ts'
import { runCli } from '../../../src/cli/run.ts'
import { COMMANDS } from '../../../src/cli/table/commands.ts'
import { createInterrupts } from '../../../src/cli/terminal/interrupts.ts'
import { createStreamIo } from '../../../src/cli/terminal/stream-io.ts'
import { type Finished, PROGRAM } from './child-service.ts'

export interface Surroundings {
  readonly cwd: string
  readonly environment: NodeJS.ProcessEnv
  /** Standard input. */
  readonly input?: string
}

/** These serve until a signal comes, or write a log to the standard error of their process. */
const PROCESSES = new Set(['run', 'demo', 'gateway', 'init'])
const spawned = new Set<string>()

export function runCommand(
  t: TestContext,
  args: readonly string[],
  surroundings: Surroundings,
): Promise<Finished> {
  const words = wordsIn(args)
  const firstRun = `${t.filePath}: ${words}`
  if (!PROCESSES.has(words) && spawned.has(firstRun)) return runHere(args, surroundings)
  spawned.add(firstRun)
  return runProcess(t, args, surroundings)
}

/** The words of the command; empty for what is no command. */
function wordsIn(args: readonly string[]): string {
  const typed = `${args.join(' ')} `
  const matches = COMMANDS.map(({ words }) => words).filter((words) =>
    typed.startsWith(`${words} `),
  )
  return matches.sort((a, b) => b.length - a.length)[0] ?? ''
}

export async function runProcess(
  t: TestContext,
  args: readonly string[],
  { cwd, environment, input = '' }: Surroundings,
): Promise<Finished> {
  const child = spawn(process.execPath, [PROGRAM, ...args], { env: environment, cwd })
  t.after(() => void child.kill('SIGKILL'))
  const output = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      output[name] += text
    })
  }
  // A command that has ended before reads nothing.
  child.stdin.on('error', () => undefined).end(input)
  const [code, signal] = await once(child, 'close')
  return { code, signal, ...output }
}

async function runHere(
  args: readonly string[],
  { cwd, environment, input = '' }: Surroundings,
): Promise<Finished> {
  const output = { stdout: '', stderr: '' }
  const writer = (name: keyof typeof output) =>
    new Writable({
      write(chunk, _encoding, done) {
        output[name] += chunk
        done()
      },
    })
  const io = createStreamIo({
    stdin: Readable.from(input === '' ? [] : [Buffer.from(input)]),
    stdout: writer('stdout'),
    stderr: writer('stderr'),
    variables: environment,
    resolve: (path) => resolve(cwd, path),
    interrupts: createInterrupts(systemClock, () => undefined),
  })
  const code = await runCli(args, io)
  return { code, signal: null, ...output }
}
