/** The texts of `--help`, built from the descriptions of the commands. */
import { EXIT, EXIT_MEANINGS } from '../terminal/io.ts'
import type { Audience, Command, Options } from './command.ts'
import { otherWords } from './find-command.ts'
import { HOME_OPTIONS } from './service-commands.ts'

const PARTS: Readonly<Record<Audience, string>> = {
  person: 'For users:',
  administrator: 'For administrators:',
  service: 'For operators:',
}

const WHOLE_EXAMPLES = [
  'latchkey login --url https://auth.example.com',
  'latchkey whoami',
  'curl -H "Authorization: Bearer $(latchkey token)" https://auth.example.com/edge/client/v1/current-identity',
  'latchkey run --home /srv/latchkey',
]

export function wholeHelp(commands: readonly Command[]): string {
  const parts = Object.entries(PARTS).map(([audience, title]) => {
    const ours = commands.filter((one) => one.audience === audience)
    return ours.length === 0 ? undefined : section(title, linesFor(ours))
  })
  return [
    'Usage: latchkey <command> [options]',
    ...parts.filter((part) => part !== undefined),
    section('Options of most commands for operators:', optionLines(HOME_OPTIONS)),
    section('Options:', [
      ['--help', 'this text; after a command, help for that command'],
      ['--version', 'the version'],
    ]),
    section('Exit codes:', exitLines()),
    examples(WHOLE_EXAMPLES),
  ].join('\n\n')
}

/** One line for each command or family, at the position of its first member. */
function linesFor(commands: readonly Command[]): readonly (readonly [string, string])[] {
  const lines = new Map<string, string>()
  for (const { family, words, what } of commands) {
    if (family === undefined) lines.set(words, what)
    else lines.set(family.words, family.what)
  }
  return [...lines]
}

export function commandHelp(command: Command): string {
  const { what, options } = command
  const lines = optionLines(options)
  return [
    `Usage: latchkey ${synopsis(command)}`,
    `${what[0]?.toUpperCase()}${what.slice(1)}.`,
    ...(lines.length === 0 ? [] : [section('Options:', lines)]),
    examples(command.examples),
  ].join('\n\n')
}

/** For a word that is not a command by itself, such as `list` or `identity`: the commands that have it. */
export function groupHelp(word: string, commands: readonly Command[]): string {
  const [first] = commands
  return [
    `Usage: latchkey ${word} <${otherWords(word, commands).join('|')}> [options]`,
    section(
      'Commands:',
      commands.map(({ words, what }) => [words, what]),
    ),
    `"latchkey ${first?.words} --help" describes one of them, with its options and examples.`,
  ].join('\n\n')
}

/** `context use NAME`, `login [options]`. */
function synopsis({ words, operands = [], options }: Command): string {
  const named = operands.map(({ name, isOptional, isList }) => {
    const text = isList ? `${name}…` : name
    return isOptional ? `[${text}]` : text
  })
  return [words, ...named, ...(Object.keys(options).length === 0 ? [] : ['[options]'])].join(' ')
}

function optionLines(options: Options): readonly (readonly [string, string])[] {
  return Object.entries(options).map(([name, { value, what }]) => [
    value === undefined ? `--${name}` : `--${name} ${value}`,
    what,
  ])
}

function exitLines(): readonly (readonly [string, string])[] {
  return Object.entries(EXIT_MEANINGS).map(([name, what]) => [
    String(EXIT[name as keyof typeof EXIT]),
    what,
  ])
}

function section(title: string, lines: readonly (readonly [string, string])[]): string {
  const width = Math.max(13, ...lines.map(([left]) => left.length)) + 2
  return [title, ...lines.map(([left, right]) => `  ${left.padEnd(width)}${right}`)].join('\n')
}

function examples(lines: readonly string[]): string {
  return ['Examples:', ...lines.map((line) => `  ${line}`)].join('\n')
}
