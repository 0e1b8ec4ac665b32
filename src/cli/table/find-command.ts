/**
 * Finds the command that the arguments mean. People say `list identities`, `identity list` and `get identities alice`:
 * two words mean the same in either order, in the singular and in the plural (D-336).
 */
import { parseArgs } from 'node:util'
import { type Command, type Options, parsedOptions } from './command.ts'

export interface Found {
  readonly command: Command
  /** The arguments without the words of the command. */
  readonly rest: readonly string[]
}

interface Word {
  readonly word: string
  readonly index: number
}

/** Returns the matching command with the most words. The words come first, or at least each before its operands. */
export function findCommand(
  args: readonly string[],
  commands: readonly Command[],
): Found | undefined {
  const leading = args.findIndex((arg) => arg.startsWith('-'))
  const first = args
    .slice(0, leading < 0 ? args.length : leading)
    .map((word, index) => ({ word, index }))
  return matched(args, first, commands) ?? matched(args, wordsOf(args, commands), commands)
}

function matched(
  args: readonly string[],
  words: readonly Word[],
  commands: readonly Command[],
): Found | undefined {
  for (let count = words.length; count > 0; count -= 1) {
    const ours = words.slice(0, count)
    const command = commandOf(
      ours.map(({ word }) => word),
      commands,
    )
    if (command === undefined) continue
    const taken = new Set(ours.map(({ index }) => index))
    return { command, rest: args.filter((_, index) => !taken.has(index)) }
  }
  return undefined
}

function commandOf(words: readonly string[], commands: readonly Command[]): Command | undefined {
  const exact = commands.find((one) => one.words === words.join(' '))
  if (exact !== undefined || words.length !== 2) return exact
  const meant = meaningOf(words)
  return commands.find((one) => meaningOf(one.words.split(' ')) === meant)
}

/**
 * Returns the commands of several words that have one of these words, in the singular or the plural: `list`, `keys`.
 * Those that begin with one come first.
 */
export function commandsWith(
  typed: readonly string[],
  commands: readonly Command[],
): readonly Command[] {
  const meant = typed.map(singular)
  const placed = commands.flatMap((command) => {
    const parts = command.words.split(' ').map(singular)
    const place = parts.findIndex((part) => meant.includes(part))
    return parts.length > 1 && place >= 0 ? [{ command, place }] : []
  })
  return placed.sort((one, other) => one.place - other.place).map(({ command }) => command)
}

/** Returns what completes `word` to one of these commands, each once: the words may come in either order (D-336). */
export function otherWords(word: string, commands: readonly Command[]): readonly string[] {
  const others = commands.flatMap(({ words }) =>
    words.split(' ').filter((part) => singular(part) !== singular(word)),
  )
  return [...new Set(others)]
}

/** The same for words that mean the same command. No two commands share it, which a test checks. */
export function meaningOf(words: readonly string[]): string {
  return words.map(singular).sort().join(' ')
}

function singular(word: string): string {
  if (word.endsWith('ies')) return `${word.slice(0, -3)}y`
  return word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word
}

/**
 * Returns everything that is neither an option nor the value of one, as far as possible without knowing the command.
 */
export function wordsOf(args: readonly string[], commands: readonly Command[]): readonly Word[] {
  const all = Object.assign({}, ...commands.map(({ options }) => options)) as Options
  const { tokens } = parseArgs({
    args: [...args],
    allowPositionals: true,
    strict: false,
    tokens: true,
    options: parsedOptions(all),
  })
  return tokens.flatMap((token) =>
    token.kind === 'positional' ? [{ word: token.value, index: token.index }] : [],
  )
}
