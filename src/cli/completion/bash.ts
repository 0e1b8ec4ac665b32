/**
 * Completion for bash, which zsh runs too: one case for each command, with its options and the kinds of their values.
 * The names of contexts come from `latchkey context list`, which only reads a file; those of entities from `latchkey
 * completion names` (D-354). They are never expanded by the shell: other users choose them.
 */
import type { Command, Operand } from '../table/command.ts'
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
_latchkey_names() {
  local word="\${2//\\\\/}" name
  case "$2" in [\\'\\"]*) return ;; esac
  while IFS= read -r name; do
    case "$name" in "$word"*) ;; *) continue ;; esac
    # Zsh quotes what it inserts.
    [ -n "\${ZSH_VERSION-}" ] || printf -v name %q "$name"
    COMPREPLY+=("$name")
  done < <("\${COMP_WORDS[0]}" completion names "$1" \${word:+"--prefix=$word"} \${context:+"--context=$context"} 2>/dev/null)
  compopt +o filenames 2>/dev/null
}
_latchkey() {
  local line="\${COMP_LINE-}" rest prefix="" option="" reply at count=0
  local -a typed replies
  # Bash splits words at ":", "=" and "@" too. What no space separates is one word.
  for ((at = 0; at <= COMP_CWORD; at++)); do
    rest="\${line#"\${line%%[![:space:]]*}"}"
    if [ -z "\${ZSH_VERSION-}" ] && [ "$at" -gt 0 ] && [ "$rest" = "$line" ]; then
      typed[count-1]="\${typed[count-1]}\${COMP_WORDS[at]}"
    else
      typed[count]="\${COMP_WORDS[at]}"
      count=$((count + 1))
    fi
    line="\${rest#"\${COMP_WORDS[at]}"}"
  done
  local current="\${typed[count-1]}" before="\${typed[count-2]}"
  case "$current" in --*=*) before="\${current%%=*}" current="\${current#*=}" option="$before=" ;; esac
  if [ -z "\${ZSH_VERSION-}" ]; then
    option=""
    # Bash replaces only "$2", what follows the last of these characters.
    case "$current" in [\\'\\"]*) ;; *"$2") prefix="\${current%"$2"}" ;; esac
  fi
  _latchkey_offers
  # Zsh replaces the whole word.
  [ -z "$option" ] || COMPREPLY=("\${COMPREPLY[@]/#/$option}")
  [ -n "$prefix" ] || return 0
  replies=("\${COMPREPLY[@]}")
  COMPREPLY=()
  for reply in "\${replies[@]}"; do
    case "$reply" in "$prefix"*) COMPREPLY+=("\${reply#"$prefix"}") ;; esac
  done
}
_latchkey_offers() {
  local words="" offers="" operand="" files="" contexts="" choices="" others="" names="" context="" list
  COMPREPLY=()
  for ((at = 1; at < count - 1; at++)); do
    case "\${typed[at]}" in
    -*) break ;;
    *) words="\${words:+$words }\${typed[at]}" ;;
    esac
  done
  for ((at = 1; at < count - 1; at++)); do
    case "\${typed[at]}" in
    --context) context="\${typed[at+1]}" ;;
    --context=*) context="\${typed[at]#*=}" ;;
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
  case "$names" in
  *" $before="*)
    list="\${names#*" $before="}"
    _latchkey_names "\${list%%" "*}" "$current"
    return
    ;;
  esac
  case "$operand:$current" in
  file:-*|context:-*|name-*:-*) ;;
  file:*) _latchkey_files "$current" ;;
  context:*) _latchkey_contexts "$current" ;;
  name-*) _latchkey_names "\${operand#name-}" "$current" ;;
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
  const entities = values.flatMap(({ name, kind, option }) =>
    kind === 'name' ? [`--${name}=${option.names}`] : [],
  )
  const [first] = operands
  const offers = [
    ...operands.flatMap((operand) => operand.choices ?? []),
    ...Object.keys(options).map((name) => `--${name}`),
    '--help',
  ]
  const parts = [
    `offers="${offers.join(' ')}"`,
    ...listed('files', named('file')),
    ...listed('contexts', named('context')),
    ...listed('others', named('anything')),
    ...(choices.length === 0 ? [] : [`choices="${choices.map((one) => ` ${one}`).join('')} "`]),
    ...(entities.length === 0 ? [] : [`names="${entities.map((one) => ` ${one}`).join('')} "`]),
  ]
  const whole = parts.join(' ')
  const operand = first === undefined ? '' : operandOf(first)
  // A list of names goes on; any other operand is completed only if there is none yet.
  if (operand === '' || first?.isList === true) {
    return `  '${words}'|'${words} '*) ${whole}${operand} ;;`
  }
  return `  '${words}') ${whole}${operand} ;;\n  '${words} '*) ${whole} ;;`
}

function operandOf(operand: Operand): string {
  const kind = operandKind(operand)
  if (kind === 'name') return ` operand="name-${operand.names}"`
  return kind === 'file' || kind === 'context' ? ` operand="${kind}"` : ''
}
