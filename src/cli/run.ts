/**
 * The command line: finds the command, reads its options, and turns what went wrong into a sentence and an exit code.
 */
import { parseArgs } from 'node:util'
import { readBuildInfo } from '../app/build-info.ts'
import { RefusedStart } from '../app/private-files.ts'
import { ConfigProblems } from '../config/problems.ts'
import { type HomeOptions, readHomeOptions } from './home-options.ts'
import { EXIT, type ExitCode, type Io, processIo } from './io.ts'

interface Command {
  readonly words: string
  readonly what: string
  /** Loaded when it is called: nobody waits for a command that he did not ask for. */
  readonly load: () => Promise<(options: HomeOptions, io: Io) => Promise<ExitCode>>
}

const COMMANDS: readonly Command[] = [
  {
    words: 'run',
    what: 'start the service; make a home for it first when there is none',
    load: async () => (await import('./commands/run.ts')).runService,
  },
  {
    words: 'init',
    what: 'make the home, the database and the administrator, and stop there',
    load: async () => (await import('./commands/init.ts')).initHome,
  },
  {
    words: 'config check',
    what: 'print every problem of the configuration and every value that is adjusted',
    load: async () => (await import('./commands/config-check.ts')).checkConfig,
  },
  {
    words: 'keys rotate',
    what: 'make the next signing key; it is published now and signs in ten minutes',
    load: async () => (await import('./commands/keys-rotate.ts')).rotateKeys,
  },
]

const HELP = `Usage: latchkey <command> [options]

Commands:
${COMMANDS.map(({ words, what }) => `  ${words.padEnd(14)}${what}`).join('\n')}

Options:
  --home DIR    the home folder (else LATCHKEY_HOME, else ./latchkey-data)
  --config FILE a configuration file other than controller.yml in the home
  --help        this text
  --version     the version

Examples:
  latchkey run
  latchkey run --home /srv/latchkey
  LATCHKEY_ADDRESS=auth.example.com:443 latchkey init --home /srv/latchkey
  latchkey config check --home /srv/latchkey`

export async function runCli(args: readonly string[], io: Io = processIo): Promise<ExitCode> {
  try {
    return await dispatch(args, io)
  } catch (error) {
    if (error instanceof ConfigProblems) {
      io.err(error.message)
      return EXIT.config
    }
    if (error instanceof RefusedStart) {
      io.err(`latchkey: ${error.message}`)
      return EXIT.failed
    }
    if (isSystemError(error)) {
      // It names the file or the address and what is wrong there; our stack would add nothing.
      io.err(`latchkey: ${error.message}`)
      return EXIT.failed
    }
    io.err(`latchkey: ${error instanceof Error ? error.stack : String(error)}`)
    return EXIT.failed
  }
}

function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error
}

async function dispatch(args: readonly string[], io: Io): Promise<ExitCode> {
  const read = readArguments(args)
  if ('problem' in read) return misused(read.problem, io)
  const { values, positionals } = read
  for (const name of ['home', 'config'] as const) {
    // An unset variable in a script, most likely; the current folder is certainly not meant.
    if (values[name] === '') return misused(`--${name} is empty`, io)
  }
  if (values.help) {
    io.out(HELP)
    return EXIT.ok
  }
  if (values.version) {
    io.out((await readBuildInfo()).version)
    return EXIT.ok
  }
  const words = positionals.join(' ')
  const command = COMMANDS.find((one) => one.words === words)
  if (command === undefined) {
    return misused(words === '' ? 'a command is missing' : unknownCommand(words), io)
  }
  const execute = await command.load()
  return execute(readHomeOptions(values), io)
}

function unknownCommand(words: string): string {
  const longer = COMMANDS.filter((one) => one.words.startsWith(`${words} `)).map((one) => one.words)
  return `there is no command "${words}"${longer.map((one) => `; there is "${one}"`).join('')}`
}

function readArguments(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        home: { type: 'string' },
        config: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
        version: { type: 'boolean' },
      },
    })
  } catch (error) {
    // "Unknown option '--x'. To specify a positional argument …": the first sentence says it.
    const [problem = ''] = (error as Error).message.split(/\. |\n/, 1)
    return { problem }
  }
}

function misused(problem: string, io: Io): ExitCode {
  io.err(`latchkey: ${problem}`)
  io.err('"latchkey --help" lists the commands.')
  return EXIT.usage
}
