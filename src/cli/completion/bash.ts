/**
 * Completion for bash, which zsh runs too: one case for each command, with its options and the kinds of their values.
 * The names of contexts come from `latchkey context list`, which only reads a file.
 */
import type { Command } from '../table/command.ts'
import { nextWords, operandKind, valueOptions } from './offers.ts'

export function bash(commands: readonly Command[]): string {
  return `_latchkey_files() {
  local IFS=$'\\n'
  COMPREPLY=($(compgen -f -- "$1"))
}
_latchkey_contexts() {
  COMPREPLY=($(compgen -W "$("\${COMP_WORDS[0]}" context list --json 2>/dev/null |
    sed -n 's/^ *"name": "\\([A-Za-z0-9][A-Za-z0-9._-]*\\)",*$/\\1/p')" -- "$1"))
}
_latchkey() {
  local current="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" at list
  local words="" offers="" operand="" files="" contexts="" choices="" others=""
  COMPREPLY=()
  for ((at = 1; at < COMP_CWORD; at++)); do
    case "\${COMP_WORDS[at]}" in
    -*) break ;;
    *) words="\${words:+$words }\${COMP_WORDS[at]}" ;;
    esac
  done
  case "$words" in
${[...unfinishedCases(commands), ...longestFirst(commands).map(commandCase)].join('\n')}
  esac
  case "$files " in *" $before "*) _latchkey_files "$current"; return ;; esac
  case "$contexts " in *" $before "*) _latchkey_contexts "$current"; return ;; esac
  case "$others " in *" $before "*) return ;; esac
  case "$choices" in
  *" $before="*)
    list="\${choices#*" $before="}"
    list="\${list%%" "*}"
    COMPREPLY=($(compgen -W "\${list//,/ }" -- "$current"))
    return
    ;;
  esac
  case "$operand:$current" in
  file:-*|context:-*) ;;
  file:*) _latchkey_files "$current" ;;
  context:*) _latchkey_contexts "$current" ;;
  esac
  COMPREPLY+=($(compgen -W "$offers" -- "$current"))
}
complete -o filenames -F _latchkey latchkey`
}

/** For words that are not a command by themselves: what can follow them. */
function unfinishedCases(commands: readonly Command[]): readonly string[] {
  return [...nextWords(commands)]
    .filter(([words]) => !commands.some((one) => one.words === words))
    .map(([words, next]) => {
      const offers = words === '' ? [...next, '--help', '--version'] : next
      return `  '${words}') offers="${offers.join(' ')}" ;;`
    })
}

/** The first match counts. */
function longestFirst(commands: readonly Command[]): readonly Command[] {
  return [...commands].sort((a, b) => b.words.length - a.words.length)
}

function commandCase(command: Command): string {
  const { words, operands = [], options } = command
  const values = valueOptions(command)
  const listed = (variable: string, names: readonly string[]) =>
    names.length === 0 ? [] : [`${variable}="${names.map((name) => ` ${name}`).join('')}"`]
  const named = (kind: string) =>
    values.filter((one) => one.kind === kind).map(({ name }) => `--${name}`)
  const choices = values.flatMap(({ name, option }) =>
    option.choices === undefined ? [] : [`--${name}=${option.choices.join(',')}`],
  )
  const [first] = operands
  const offers = [
    ...operands.flatMap((operand) => operand.choices ?? []),
    ...Object.keys(options).map((name) => `--${name}`),
    '--help',
  ]
  const operand = first === undefined ? 'anything' : operandKind(first)
  const parts = [
    `offers="${offers.join(' ')}"`,
    ...listed('files', named('file')),
    ...listed('contexts', named('context')),
    ...listed('others', named('anything')),
    ...(choices.length === 0 ? [] : [`choices="${choices.map((one) => ` ${one}`).join('')} "`]),
  ]
  // Complete an operand only if there is none yet.
  const only = operand === 'file' || operand === 'context' ? [` operand="${operand}"`] : []
  const whole = parts.join(' ')
  if (only.length === 0) return `  '${words}'|'${words} '*) ${whole} ;;`
  return `  '${words}') ${whole}${only.join('')} ;;\n  '${words} '*) ${whole} ;;`
}
