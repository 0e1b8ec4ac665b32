/**
 * The command line: finds the command, reads its options, and turns what went wrong into a sentence and an exit code.
 */
import { parseArgs } from 'node:util'
import { readBuildInfo } from '../app/build-info.ts'
import { RefusedStart } from '../app/private-files.ts'
import { ConfigProblems } from '../config/problems.ts'
import { type HomeOptions, readHomeOptions } from './home-options.ts'
import { EXIT, type ExitCode, type Io, Misuse, processIo } from './io.ts'

/** Every option that takes a value. Which command takes which is said with the command. */
const OPTIONS = {
  home: ['DIR', 'the home folder (else LATCHKEY_HOME, else ./latchkey-data)'],
  config: ['FILE', 'a configuration file other than controller.yml in the home'],
  controller: ['URL', 'https://HOST:PORT of the controller that a gateway follows'],
  identity: ['FILE', "the gateway's own identity: JSON with id, cert, key and ca, in PEM"],
  listen: ['HOST:PORT', 'where a gateway takes connections'],
  upstream: ['URL', 'http://HOST:PORT of the service behind a gateway'],
} as const

type OptionName = keyof typeof OPTIONS
type OptionValues = Readonly<Partial<Record<OptionName, string>>>

interface Command {
  readonly words: string
  readonly what: string
  readonly takes: readonly OptionName[]
  /** Loaded when it is called: nobody waits for a command that he did not ask for. */
  readonly load: () => Promise<(values: OptionValues, io: Io) => Promise<ExitCode>>
}

const HOME: readonly OptionName[] = ['home', 'config']

const COMMANDS: readonly Command[] = [
  {
    words: 'run',
    what: 'start the service; make a home for it first when there is none',
    takes: HOME,
    load: async () => onHome((await import('./commands/run.ts')).runService),
  },
  {
    words: 'init',
    what: 'make the home, the database and the administrator, and stop there',
    takes: HOME,
    load: async () => onHome((await import('./commands/init.ts')).initHome),
  },
  {
    words: 'config check',
    what: 'print every problem of the configuration and every value that is adjusted',
    takes: HOME,
    load: async () => onHome((await import('./commands/config-check.ts')).checkConfig),
  },
  {
    words: 'keys rotate',
    what: 'make the next signing key; it is published now and signs in ten minutes',
    takes: HOME,
    load: async () => onHome((await import('./commands/keys-rotate.ts')).rotateKeys),
  },
  {
    words: 'gateway',
    what: 'let those with a session and its certificate through to a service behind it',
    takes: ['controller', 'identity', 'listen', 'upstream'],
    load: async () => (await import('./commands/gateway.ts')).runGateway,
  },
]

const HELP = `Usage: latchkey <command> [options]

Commands:
${COMMANDS.map(({ words, what }) => `  ${words.padEnd(14)}${what}`).join('\n')}

Options of the gateway:
${helpOf(['controller', 'identity', 'listen', 'upstream'])}

Options of the other commands:
${helpOf(HOME)}

Options:
  --help               this text
  --version            the version

Examples:
  latchkey run
  latchkey run --home /srv/latchkey
  LATCHKEY_ADDRESS=auth.example.com:443 latchkey init --home /srv/latchkey
  latchkey config check --home /srv/latchkey
  latchkey gateway --controller https://auth.example.com --identity router.json \\
    --listen 0.0.0.0:8443 --upstream http://127.0.0.1:8080`

export async function runCli(args: readonly string[], io: Io = processIo): Promise<ExitCode> {
  try {
    return await dispatch(args, io)
  } catch (error) {
    if (error instanceof Misuse) return misused(error.message, io)
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

function helpOf(names: readonly OptionName[]): string {
  return names
    .map((name) => `  ${`--${name} ${OPTIONS[name][0]}`.padEnd(21)}${OPTIONS[name][1]}`)
    .join('\n')
}

function onHome(
  execute: (options: HomeOptions, io: Io) => Promise<ExitCode>,
): (values: OptionValues, io: Io) => Promise<ExitCode> {
  return (values, io) => execute(readHomeOptions(values), io)
}

function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error
}

async function dispatch(args: readonly string[], io: Io): Promise<ExitCode> {
  const { values, positionals } = readArguments(args)
  const { help, version, ...given } = values
  for (const [name, value] of Object.entries(given)) {
    // An unset variable in a script, most likely; the current folder is certainly not meant.
    if (value === '') throw new Misuse(`--${name} is empty`)
  }
  if (help) {
    io.out(HELP)
    return EXIT.ok
  }
  if (version) {
    io.out((await readBuildInfo()).version)
    return EXIT.ok
  }
  const words = positionals.join(' ')
  const command = COMMANDS.find((one) => one.words === words)
  if (command === undefined) {
    throw new Misuse(words === '' ? 'a command is missing' : unknownCommand(words))
  }
  const foreign = Object.keys(given).find((name) => !command.takes.some((one) => one === name))
  if (foreign !== undefined) throw new Misuse(`"${words}" takes no --${foreign}`)
  const execute = await command.load()
  return execute(given, io)
}

function unknownCommand(words: string): string {
  const longer = COMMANDS.filter((one) => one.words.startsWith(`${words} `)).map((one) => one.words)
  return `there is no command "${words}"${longer.map((one) => `; there is "${one}"`).join('')}`
}

function readArguments(args: readonly string[]) {
  const text = { type: 'string' } as const
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        home: text,
        config: text,
        controller: text,
        identity: text,
        listen: text,
        upstream: text,
        help: { type: 'boolean', short: 'h' },
        version: { type: 'boolean' },
      },
    })
  } catch (error) {
    // "Unknown option '--x'. To specify a positional argument …": the first sentence says it.
    const [problem = ''] = (error as Error).message.split(/\. |\n/, 1)
    throw new Misuse(problem)
  }
}

function misused(problem: string, io: Io): ExitCode {
  io.err(`latchkey: ${problem}`)
  io.err('"latchkey --help" lists the commands.')
  return EXIT.usage
}
