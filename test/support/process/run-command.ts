/**
 * Runs a command to its end, in this process: `runCli` gets streams, environment and working directory of its own. A
 * process for each would take ten times as long. The first run of a command is a process (shipped-program.ts).
 */
import { spawn } from 'node:child_process'
import { join, resolve } from 'node:path'
import { Readable, Writable } from 'node:stream'
import type { TestContext } from 'node:test'
import { systemClock } from '../../../src/base/time/clock.ts'
import { runCli } from '../../../src/cli/run.ts'
import { createInterrupts } from '../../../src/cli/terminal/interrupts.ts'
import { createStreamIo } from '../../../src/cli/terminal/stream-io.ts'
import { isFirstRun, programFor, wordsIn } from '../programs/shipped-program.ts'
import { type ChildOptions, spawnLatchkey } from './child-service.ts'
import { childEnvironment, collect, type Finished, programArguments } from './program.ts'

export interface Surroundings {
  readonly cwd: string
  readonly environment: NodeJS.ProcessEnv
  /** Standard input. */
  readonly input?: string
}

/** These serve until a signal comes, or write a log to the standard error of their process. */
const PROCESSES = new Set(['run', 'demo', 'gateway', 'init'])

export function runCommand(
  t: TestContext,
  args: readonly string[],
  surroundings: Surroundings,
): Promise<Finished> {
  if (isFirstRun(t, args) || PROCESSES.has(wordsIn(args))) return runProcess(t, args, surroundings)
  return runWithText(args, surroundings)
}

/** Whether the command needs no process of its own. */
export function canRunHere(args: readonly string[], environment: NodeJS.ProcessEnv): boolean {
  return !PROCESSES.has(wordsIn(args)) && !Object.keys(environment).some(isForPostgres)
}

/**
 * Runs a command that must refuse to serve, such as a gateway without its identity, in this process: a refusal returns
 * like any other command. It may listen for signals before it refuses; that ends with it.
 */
export async function runRefused(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<Finished> {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  const before = new Map(signals.map((signal) => [signal, process.listeners(signal)]))
  try {
    return await runWithText(args, {
      cwd: process.cwd(),
      environment: childEnvironment(environment),
    })
  } finally {
    for (const signal of signals) {
      for (const listener of process.listeners(signal)) {
        if (!before.get(signal)?.includes(listener)) process.off(signal, listener)
      }
    }
  }
}

/** The same as runCommand without standard input, in the surroundings of a test. What changes Node or the program is a process. */
export function runLatchkey(
  t: TestContext,
  args: readonly string[],
  options: ChildOptions = {},
): Promise<Finished> {
  const { cwd = process.cwd(), environment, ...ofNode } = options
  return Object.keys(ofNode).length > 0 || Object.keys(environment ?? {}).some(isForPostgres)
    ? spawnLatchkey(t, args, options).finished
    : runCommand(t, args, { cwd, environment: childEnvironment(environment) })
}

/** The driver reads these from the process. */
const isForPostgres = (name: string) => name.startsWith('PG')

export async function runProcess(
  t: TestContext,
  args: readonly string[],
  { cwd, environment, input = '' }: Surroundings,
): Promise<Finished> {
  const child = spawn(process.execPath, [...programArguments(programFor(t, args)), ...args], {
    env: environment,
    cwd,
  })
  t.after(() => void child.kill('SIGKILL'))
  const { finished } = collect(child)
  // A command that has ended before reads nothing.
  child.stdin.on('error', () => undefined).end(input)
  return finished
}

async function runWithText(args: readonly string[], where: Surroundings): Promise<Finished> {
  const output = { stdout: '', stderr: '' }
  const writer = (name: keyof typeof output) =>
    new Writable({
      write(chunk, _encoding, done) {
        output[name] += chunk
        done()
      },
    })
  const { input = '' } = where
  const code = await runHere(args, where, {
    stdin: Readable.from(input === '' ? [] : [Buffer.from(input)]),
    stdout: writer('stdout'),
    stderr: writer('stderr'),
  })
  return { code, signal: null, ...output }
}

/** Runs the command in this process, with these streams, and returns its exit code. */
export function runHere(
  args: readonly string[],
  { cwd, environment }: Pick<Surroundings, 'cwd' | 'environment'>,
  streams: {
    readonly stdin: Readable
    readonly stdout: NodeJS.WritableStream
    readonly stderr: NodeJS.WritableStream
  },
): Promise<number> {
  // By default the folder of the user is that of the process, which is here the one who runs the tests.
  const { HOME: home = '' } = environment
  const io = createStreamIo({
    ...streams,
    variables: { XDG_CONFIG_HOME: join(home, '.config'), ...environment },
    resolve: (path) => resolve(cwd, path),
    interrupts: createInterrupts(systemClock, () => undefined),
  })
  return runCli(args, io)
}
