/**
 * The command as people run it: `node bin/latchkey.js …` in a process of its own, with a temporary home and an
 * environment that holds nothing of ours but what the test gives. No process outlives its test. For tests of the process
 * itself: others start the service in their own (service.ts, D-300).
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { type CallOptions, httpClient, type Reply } from '../http-client.ts'
import { programFor } from '../programs/shipped-program.ts'
import { ADMIN } from '../service.ts'
import { preparedHome } from './prepared-home.ts'
import {
  CHEAP_PROGRAM,
  childEnvironment,
  collect,
  type Finished,
  programArguments,
} from './program.ts'

/** Generous: a busy machine is no reason to fail. */
const PATIENCE_MILLISECONDS = 60_000

export interface ChildOptions {
  readonly cwd?: string
  /** Beside PATH and the like; undefined leaves one of the usual ones out. */
  readonly environment?: Readonly<Record<string, string | undefined>>
  /** Another Node than the one that runs the tests. */
  readonly node?: string
  /** Arguments of Node, before the program. */
  readonly nodeArguments?: readonly string[]
  readonly program?: string
  /** In a process group of its own, as a shell starts it: a terminal sends Ctrl-C to all processes of the group. */
  readonly hasOwnGroup?: boolean
}

export interface Child {
  readonly process: ChildProcess
  /** Everything so far. */
  readonly output: { readonly stdout: string; readonly stderr: string }
  readonly finished: Promise<Finished>
}

/** Starts the command. It is killed with the test when it is still running then. */
export function spawnLatchkey(
  t: TestContext,
  args: readonly string[],
  options: ChildOptions = {},
): Child {
  const { node = process.execPath, nodeArguments = [], program = programFor(t, args) } = options
  const child = spawn(node, [...nodeArguments, ...programArguments(program), ...args], {
    env: childEnvironment(options.environment),
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: options.hasOwnGroup === true,
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
  })
  const { output, finished } = collect(child)
  t.after(async () => {
    child.kill('SIGKILL')
    await finished
  })
  return { process: child, output, finished }
}

export interface ChildService extends Child {
  readonly home: string
  readonly baseUrl: string
  readonly port: number
  readonly caFile: string
  readonly ca: string
  /** The command that the service prints for people to try. */
  readonly curl: string
  call(path: string, options?: CallOptions): Promise<Reply>
  /** Every log line so far, parsed. */
  // biome-ignore lint/suspicious/noExplicitAny: log lines have any fields
  logLines(): any[]
  /** SIGTERM, and how it ended. */
  stop(): Promise<Finished>
}

export interface ChildServiceOptions extends ChildOptions {
  /** One to come back to, or one to make; without it a prepared one, removed with the test. */
  readonly home?: string
  readonly args?: readonly string[]
}

/** `latchkey run` on a free port, with the administrator of the other tests, once it says that it is ready. */
export async function startChild(
  t: TestContext,
  options: ChildServiceOptions = {},
): Promise<ChildService> {
  const { program = CHEAP_PROGRAM } = options
  const home = options.home ?? (await preparedHome(t))
  const child = spawnLatchkey(t, ['run', '--home', home, ...(options.args ?? [])], {
    ...options,
    program,
    environment: {
      // For an existing home it would replace the address of the file (D-337).
      LATCHKEY_ADDRESS: existsSync(join(home, 'controller.yml')) ? undefined : 'localhost:0',
      LATCHKEY_ADMIN_PASSWORD: ADMIN.password,
      ...options.environment,
    },
  })
  await waitFor(
    () => child.output.stdout.includes('  try it '),
    () => describe(child),
    child,
  )
  const { stdout } = child.output
  const told = (what: string) => new RegExp(`^ {2}${what} +(.*)$`, 'm').exec(stdout)?.[1] ?? ''
  const [baseUrl, caFile] = [told('base URL'), told('CA file')]
  const ca = caFile === '' ? '' : await readFile(caFile, 'utf8')
  const { call } = httpClient(ca)
  return {
    ...child,
    home,
    baseUrl,
    port: Number(new URL(baseUrl).port),
    caFile,
    ca,
    curl: told('try it'),
    call: (path, given) => call(`${baseUrl}${path}`, given),
    logLines: () =>
      child.output.stderr
        .split('\n')
        .filter((line) => line.startsWith('{'))
        .map((line) => JSON.parse(line)),
    stop() {
      child.process.kill('SIGTERM')
      return child.finished
    },
  }
}

/** Looks again and again until `isTrue`; fails when the child ends before that, or when nobody would wait longer. */
export async function waitFor(
  isTrue: () => boolean | Promise<boolean>,
  what: () => string,
  child?: Child,
): Promise<void> {
  let isOver = false
  void child?.finished.then(() => {
    isOver = true
  })
  const deadline = performance.now() + PATIENCE_MILLISECONDS
  while (!(await isTrue())) {
    if (isOver || performance.now() > deadline) throw new Error(`this never came: ${what()}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

function describe({ process, output }: Child): string {
  return `ready (pid ${process.pid})\n${output.stdout}\n${output.stderr}`
}
