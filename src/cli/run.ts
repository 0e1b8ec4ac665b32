/**
 * The command line: finds the command, and turns failures into a sentence and an exit code. The commands are in
 * `table/commands.ts`.
 */
import { readBuildInfo } from '../app/build-info.ts'
import { type Command, ForeignOption } from './table/command.ts'
import { COMMANDS } from './table/commands.ts'
import {
  didYouMean,
  MOST_SUGGESTED,
  suggestedCommands,
  suggestedOptions,
} from './table/did-you-mean.ts'
import { commandsWith, findCommand, otherWords, wordsOf } from './table/find-command.ts'
import { commandHelp, groupHelp, wholeHelp } from './table/help.ts'
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
    if (!(error instanceof Misuse)) return reportFailure(error, io)
    io.err(`latchkey: ${error.message}`)
    io.err(nextStep(withoutHelp(args), commands))
    return EXIT.usage
  }
}

async function dispatch(
  given: readonly string[],
  io: Io,
  commands: readonly Command[],
): Promise<ExitCode> {
  // `latchkey`, `latchkey help` and `latchkey help login` are what people try first.
  const isHelp = given.length === 0 || given[0] === 'help'
  const args = withoutHelp(given)
  const found = findCommand(args, commands)
  if (isHelp || args.includes('--help') || args.includes('-h')) {
    io.out(found === undefined ? helpWithout(args, commands) : commandHelp(found.command))
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

function withoutHelp(args: readonly string[]): readonly string[] {
  return args[0] === 'help' ? args.slice(1) : args
}

/** Throws Misuse if there are words, and they are not the beginning of a command. */
function helpWithout(args: readonly string[], commands: readonly Command[]): string {
  if (args.every((arg) => arg.startsWith('-'))) return wholeHelp(commands)
  const typed = typedWords(args, commands)
  const group = commandsWith(typed, commands)
  if (typed.length !== 1 || group.length === 0) throw new Misuse(problemWithout(args, commands))
  return groupHelp(typed[0] ?? '', group)
}

function problemWithout(args: readonly string[], commands: readonly Command[]): string {
  const typed = typedWords(args, commands)
  const [first] = typed
  if (first !== undefined) {
    const group = commandsWith(typed, commands)
    if (typed.length === 1 && group.length > 0) {
      return `"${first}" needs another word: ${otherWords(first, group).join(', ')}`
    }
    const suggested = suggestedCommands(typed, commands)
    const fewer = suggested.length === 0 && group.length <= MOST_SUGGESTED ? group : []
    const suggestion = didYouMean([...suggested, ...fewer.map(({ words }) => words)])
    return `there is no command "${typed.join(' ')}"${suggestion}`
  }
  const [option = ''] = args[0]?.split('=') ?? []
  const isForeign = option.startsWith('-') && !isKnown(option.replace(/^--?/, ''), commands)
  return isForeign ? `unknown option ${option}` : 'a command is missing'
}

/** Points to the help of the command that was meant, so that its options need not be searched in the list of all. */
function nextStep(args: readonly string[], commands: readonly Command[]): string {
  const found = findCommand(args, commands)
  if (found !== undefined) return `See "latchkey ${found.command.words} --help".`
  const typed = typedWords(args, commands)
  const word = typed.find((one) => commandsWith([one], commands).length > 0)
  return word === undefined
    ? '"latchkey --help" lists the commands.'
    : `See "latchkey ${word} --help".`
}

function typedWords(args: readonly string[], commands: readonly Command[]): readonly string[] {
  return wordsOf(args, commands).map(({ word }) => word)
}

function isKnown(option: string, commands: readonly Command[]): boolean {
  return commands.some(({ options }) => Object.hasOwn(options, option))
}
