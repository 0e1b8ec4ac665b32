/**
 * The command line as people use it: a process of its own with a fresh home folder, its input from a pipe or on a
 * terminal of its own. No process outlives its test.
 */
import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import { spawn } from '@lydell/node-pty'
import { programFor } from '../programs/shipped-program.ts'
import { type Service, temporaryFolder } from '../service.ts'
import { waitFor } from './child-service.ts'
import { childEnvironment, type Finished, programArguments } from './program.ts'
import { runCommand, runProcess } from './run-command.ts'

export interface Terminal {
  /** Everything that was on it, without colours. */
  output(): string
  /** Waits until the text is there, behind what was waited for before. */
  sees(text: string): Promise<void>
  /** With Enter. */
  types(text: string): void
  presses(key: string): void
  /** Its exit code. */
  ended(): Promise<number>
}

export interface Cli {
  /** Holds everything that the command line keeps. */
  readonly home: string
  readonly configFolder: string
  readonly environment: NodeJS.ProcessEnv
  /** Runs a command to its end, without a terminal. */
  run(args: readonly string[], input?: string): Promise<Finished>
  /** The same, and it must succeed; what it printed. */
  succeed(args: readonly string[], input?: string): Promise<string>
  /** The same in a process of its own, for tests of several processes at once. */
  succeedApart(args: readonly string[]): Promise<string>
  /** On a terminal. */
  open(args: readonly string[], options?: { readonly columns?: number }): Terminal
  credentials(context?: string): Promise<SavedCredentials>
  keepCredentials(credentials: SavedCredentials, context?: string): Promise<void>
}

export interface SavedCredentials {
  readonly session: {
    readonly accessToken: string
    readonly refreshToken: string
    readonly idToken: string
    readonly expiresAt: number
  }
  readonly certificate?: unknown
}

export async function freshCli(
  t: TestContext,
  changes: Readonly<Record<string, string>> = {},
): Promise<Cli> {
  const home = await temporaryFolder(t)
  const configFolder = join(home, 'config')
  const environment = childEnvironment({ HOME: home, XDG_CONFIG_HOME: configFolder, ...changes })
  const fileOf = (context: string) =>
    join(configFolder, 'latchkey', 'credentials', `${context}.json`)

  const run = (args: readonly string[], input = ''): Promise<Finished> =>
    runCommand(t, args, { cwd: home, environment, input })

  return {
    home,
    configFolder,
    environment,
    run,
    succeed: async (args, input) => succeeded(args, await run(args, input)),
    succeedApart: async (args) =>
      succeeded(args, await runProcess(t, args, { cwd: home, environment })),
    open: (args, { columns = 100 } = {}) =>
      openTerminal(t, [process.execPath, ...programArguments(programFor(t, args)), ...args], {
        columns,
        cwd: home,
        environment,
      }),
    credentials: async (context = 'default') =>
      JSON.parse(await readFile(fileOf(context), 'utf8')) as SavedCredentials,
    keepCredentials: (credentials, context = 'default') =>
      writeFile(fileOf(context), JSON.stringify(credentials)),
  }
}

function succeeded(args: readonly string[], { code, stdout, stderr }: Finished): string {
  assert.equal(code, 0, `${args.join(' ')}: ${stderr}`)
  return stdout
}

/** A program on a terminal of its own. */
export function openTerminal(
  t: TestContext,
  [program, ...args]: readonly [string, ...string[]],
  options: {
    readonly columns: number
    readonly cwd: string
    readonly environment: NodeJS.ProcessEnv
  },
): Terminal {
  const { columns, cwd, environment } = options
  const terminal = spawn(program, args, {
    cols: columns,
    rows: 50,
    cwd,
    env: { ...environment, TERM: 'xterm' } as Record<string, string>,
  })
  let isOver = false
  let raw = ''
  let seen = 0
  const output = () => stripVTControlCharacters(raw)
  terminal.onData((text) => {
    raw += text
  })
  const ended = new Promise<number>((resolve) => {
    terminal.onExit(({ exitCode }) => {
      isOver = true
      resolve(exitCode)
    })
  })
  t.after(() => {
    if (!isOver) terminal.kill('SIGKILL')
  })
  return {
    output,
    async sees(text) {
      await waitFor(
        () => {
          if (!output().includes(text, seen)) return assert.ok(!isOver, output()) ?? false
          seen = output().indexOf(text, seen) + text.length
          return true
        },
        () => `${text}\n${output()}`,
      )
    },
    types: (text) => terminal.write(`${text}\r`),
    presses: (key) => terminal.write(key),
    ended: () => ended,
  }
}

/** A command line on which nobody has logged in, with the CA of the service in `ca.pem`. */
export async function cliFor(
  t: TestContext,
  { ca }: Pick<Service, 'ca'>,
  changes?: Readonly<Record<string, string>>,
): Promise<Cli> {
  const cli = await freshCli(t, changes)
  await writeFile(join(cli.home, 'ca.pem'), ca)
  return cli
}

/** What a login there begins with. */
export const loginTo = ({ baseUrl }: Pick<Service, 'baseUrl'>) => [
  'login',
  '--url',
  baseUrl,
  '--ca',
  'ca.pem',
]

/** Who is logged in. */
export async function nameOf(cli: Cli, ...args: string[]): Promise<string> {
  return JSON.parse(await cli.succeed(['whoami', '--json', ...args])).identity.name
}
