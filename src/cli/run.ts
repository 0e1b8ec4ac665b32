/**
 * The command line: finds the command, and turns failures into a sentence and an exit code. The commands are in
 * `table/commands.ts`.
 */
import { readBuildInfo } from '../app/build-info.ts'
import { type Command, ForeignOption } from './table/command.ts'
import { COMMANDS } from './table/commands.ts'
import { didYouMean, suggestedCommands, suggestedOptions } from './table/did-you-mean.ts'
import { findCommand, wordsOf } from './table/find-command.ts'
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
  given: readonly string[],
  io: Io,
  commands: readonly Command[],
): Promise<ExitCode> {
  // `latchkey`, `latchkey help` and `latchkey help login` are what people try first.
  const isHelp = given.length === 0 || given[0] === 'help'
  const args = given[0] === 'help' ? given.slice(1) : given
  const found = findCommand(args, commands)
  if (isHelp || args.includes('--help') || args.includes('-h')) {
    if (found === undefined && args.some((arg) => !arg.startsWith('-'))) {
      throw new Misuse(problemWithout(args, commands))
    }
    io.out(found === undefined ? wholeHelp(commands) : commandHelp(found.command))
    return EXIT.ok
  }
  if (args.includes('--version') || (args.length === 1 && args[0] === 'version')) {
    io.out((await readBuildInfo()).version)
    return EXIT.ok
  }
  if (found === undefined) throw new Misuse(problemWithout(args, commands))
  const { command, rest } = found
  try {
    return await command.run(rest, io)
  } catch (error) {
    if (!(error instanceof ForeignOption)) throw error
    const suggestion = didYouMean(suggestedOptions(error.option, command))
    const problem = isKnown(error.option, commands)
      ? `"${command.words}" takes no --${error.option}`
      : error.message
    throw new Misuse(`${problem}${suggestion}`)
  }
}

function problemWithout(args: readonly string[], commands: readonly Command[]): string {
  const typed = wordsOf(args, commands).map(({ word }) => word)
  const words = typed.join(' ')
  if (words !== '') {
    const longer = commands.filter((one) => one.words.startsWith(`${words} `))
    const problem = `there is no command "${words}"`
    if (longer.length > 0) {
      return `${problem}${longer.map((one) => `; there is "${one.words}"`).join('')}`
    }
    return `${problem}${didYouMean(suggestedCommands(typed, commands))}`
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
