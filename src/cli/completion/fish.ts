/** Completion for fish: a line for each word, option and operand, with its description. */
import type { Command } from '../table/command.ts'
import { nextWords, operandKind, valueOptions } from './offers.ts'

export function fish(commands: readonly Command[]): string {
  return `function __latchkey_words
  set -l words
  for word in (commandline -opc)[2..]
    string match -q -- '-*' $word; and break
    set -a words $word
  end
  echo "$words"
end
function __latchkey_at
  set -l words (__latchkey_words)
  test "$words" = "$argv[1]"
end
function __latchkey_in
  set -l words (__latchkey_words)
  string match -q -- "$argv[1] *" "$words "
end
function __latchkey_contexts
  latchkey context list --json 2>/dev/null | string match -rg '^ *"name": "([A-Za-z0-9][A-Za-z0-9._-]*)",?$'
end
function __latchkey_names
  set -l given (commandline -opc)
  set -l more
  if set -l at (contains -i -- --context $given)
    set more --context $given[(math $at + 1)]
  end
  set -l word (commandline -ct | string unescape 2>/dev/null)
  test -n "$word"; and set -a more "--prefix=$word"
  latchkey completion names $argv[1] $more 2>/dev/null
end
complete -c latchkey -f
complete -c latchkey -l help -d 'what there is to know'
complete -c latchkey -n ${at('')} -l version -d 'the version'
${[...wordLines(commands), ...commands.flatMap(optionLines), ...commands.flatMap(operandLines)].join('\n')}`
}

function wordLines(commands: readonly Command[]): readonly string[] {
  return [...nextWords(commands)].flatMap(([words, next]) =>
    next.map((word) => {
      const whole = words === '' ? word : `${words} ${word}`
      const what = commands.find((one) => one.words === whole)?.what
      const described = what === undefined ? '' : ` -d ${quoted(what)}`
      return `complete -c latchkey -n ${at(words)} -a ${word}${described}`
    }),
  )
}

const VALUES = {
  file: () => ' -r -F',
  context: () => ` -x -a '(__latchkey_contexts)'`,
  name: (_: readonly string[], names = '') => ` -x -a '(__latchkey_names ${names})'`,
  choice: (choices: readonly string[]) => ` -x -a ${quoted(choices.join(' '))}`,
  anything: () => ' -x',
} as const

function optionLines(command: Command): readonly string[] {
  const here = within(command.words)
  const kinds = new Map(valueOptions(command).map(({ name, kind }) => [name, kind]))
  return Object.entries(command.options).map(([name, { what, choices = [], names }]) => {
    const kind = kinds.get(name)
    const value = kind === undefined ? '' : VALUES[kind](choices, names)
    return `complete -c latchkey -n ${here} -l ${name}${value} -d ${quoted(what)}`
  })
}

/** If there is none yet. */
function operandLines({ words, operands: [first] = [] }: Command): readonly string[] {
  if (first === undefined) return []
  const here = `complete -c latchkey -n ${at(words)}`
  switch (operandKind(first)) {
    case 'file':
      return [`${here} -F`]
    case 'context':
      return [`${here} -a '(__latchkey_contexts)'`]
    case 'name': {
      const place = first.isList === true ? within(words) : at(words)
      return [`complete -c latchkey -n ${place} -a '(__latchkey_names ${first.names})'`]
    }
    case 'choice':
      return [`${here} -a ${quoted((first.choices ?? []).join(' '))}`]
    case 'anything':
      return []
  }
}

/** If these are the words so far, and no others. */
const at = (words: string) => `'__latchkey_at "${words}"'`

/** The same, but operands may follow. */
const within = (words: string) => `'__latchkey_in "${words}"'`

function quoted(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`
}
