/**
 * The command line: finds the command, and turns failures into a sentence and an exit code. The commands are in
 * `table/commands.ts`.
 */
import { parseArgs } from 'node:util'
import { readBuildInfo } from '../app/build-info.ts'
import { type Command, ForeignOption, type Options } from './table/command.ts'
import { COMMANDS } from './table/commands.ts'
import { commandHelp, wholeHelp } from './table/help.ts'
import { reportFailure } from './terminal/failures.ts'
import { EXIT, type ExitCode, type Io, Misuse } from './terminal/io.ts'
import { guarded } from './terminal/output.ts'
import { processIo } from './terminal/process-io.ts'

export async function runCli(
  args: readonly string[],
  rawIo: Io = processIo,
  commands: readonly Command[] = COMMANDS,
): Promise<ExitCode> {
  const io = guarded(rawIo)
  try {
    return await dispatch(args, io, commands)
  } catch (error) {
    return error instanceof Misuse ? misused(error.message, io) : reportFailure(error, io)
  }
}

async function dispatch(
  args: readonly string[],
  io: Io,
  commands: readonly Command[],
): Promise<ExitCode> {
  const found = findCommand(args, commands)
  if (args.includes('--help') || args.includes('-h')) {
    io.out(found === undefined ? wholeHelp(commands) : commandHelp(found.command))
    return EXIT.ok
  }
  if (args.includes('--version')) {
    io.out((await readBuildInfo()).version)
    return EXIT.ok
  }
  if (found === undefined) throw new Misuse(problemWithout(args, commands))
  const { command, rest } = found
  try {
    return await command.run(rest, io)
  } catch (error) {
    if (error instanceof ForeignOption && isKnown(error.option, commands)) {
      throw new Misuse(`"${command.words}" takes no --${error.option}`)
    }
    throw error
  }
}

interface Found {
  readonly command: Command
  /** The arguments without the words of the command. */
  readonly rest: readonly string[]
}

/** Returns the matching command with the most words. The words come first, or at least each before its operands. */
function findCommand(args: readonly string[], commands: readonly Command[]): Found | undefined {
  const leading = args.findIndex((arg) => arg.startsWith('-'))
  const first = args.slice(0, leading < 0 ? args.length : leading)
  return (
    matched(
      args,
      first.map((word, index) => ({ word, index })),
      commands,
    ) ?? matched(args, wordsOf(args, commands), commands)
  )
}

function matched(
  args: readonly string[],
  words: readonly { readonly word: string; readonly index: number }[],
  commands: readonly Command[],
): Found | undefined {
  for (let count = words.length; count > 0; count -= 1) {
    const ours = words.slice(0, count)
    const command = commands.find((one) => one.words === ours.map(({ word }) => word).join(' '))
    if (command === undefined) continue
    const taken = new Set(ours.map(({ index }) => index))
    return { command, rest: args.filter((_, index) => !taken.has(index)) }
  }
  return undefined
}

/**
 * Returns everything that is neither an option nor the value of one, as far as possible without knowing the command.
 */
function wordsOf(args: readonly string[], commands: readonly Command[]) {
  const all = Object.assign({}, ...commands.map(({ options }) => options)) as Options
  const options = Object.entries(all).map(([name, { value }]) => [
    name,
    { type: value === undefined ? 'boolean' : 'string' },
  ])
  const { tokens } = parseArgs({
    args: [...args],
    allowPositionals: true,
    strict: false,
    tokens: true,
    options: Object.fromEntries(options),
  })
  return tokens.flatMap((token) =>
    token.kind === 'positional' ? [{ word: token.value, index: token.index }] : [],
  )
}

function problemWithout(args: readonly string[], commands: readonly Command[]): string {
  const words = wordsOf(args, commands)
    .map(({ word }) => word)
    .join(' ')
  if (words !== '') {
    const longer = commands.filter((one) => one.words.startsWith(`${words} `))
    return `there is no command "${words}"${longer.map((one) => `; there is "${one.words}"`).join('')}`
  }
  const [option = ''] = args[0]?.split('=') ?? []
  const isForeign = option.startsWith('-') && !isKnown(option.replace(/^--?/, ''), commands)
  return isForeign ? `Unknown option '${option}'` : 'a command is missing'
}

function isKnown(option: string, commands: readonly Command[]): boolean {
  return commands.some(({ options }) => Object.hasOwn(options, option))
}

function misused(problem: string, io: Io): ExitCode {
  io.err(`latchkey: ${problem}`)
  io.err('"latchkey --help" lists the commands.')
  return EXIT.usage
}
