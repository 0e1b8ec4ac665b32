/**
 * `latchkey completion`: what a shell needs to complete commands, options and file names, made of what the commands say
 * about themselves. Zsh runs the one of bash.
 */
import type { Command, Option } from '../command.ts'
import { EXIT, type ExitCode, type Io, Misuse } from '../io.ts'

const SHELLS = ['bash', 'zsh', 'fish'] as const

export async function printCompletion(
  commands: readonly Command[],
  shell: string,
  io: Io,
): Promise<ExitCode> {
  if (shell === 'bash') io.out(bash(commands))
  else if (shell === 'zsh') io.out(`autoload -Uz bashcompinit && bashcompinit\n${bash(commands)}`)
  else if (shell === 'fish') io.out(fish(commands))
  else throw new Misuse(`there is completion for ${SHELLS.join(', ')}`)
  return EXIT.ok
}

/** `context` → `list`, `use`, `remove`; the empty text → every first word. */
function nextWords(commands: readonly Command[]): ReadonlyMap<string, readonly string[]> {
  const next = new Map<string, Set<string>>()
  for (const { words } of commands) {
    const parts = words.split(' ')
    for (const [at, part] of parts.entries()) {
      const before = parts.slice(0, at).join(' ')
      next.set(before, (next.get(before) ?? new Set()).add(part))
    }
  }
  return new Map([...next].map(([before, words]) => [before, [...words].sort()]))
}

const namesFile = ({ value = '' }: Option) => /FILE|DIR/.test(value)

/** The longest words first: the first that fits is meant. */
function byLength(commands: readonly Command[]): readonly Command[] {
  return [...commands].sort((a, b) => b.words.length - a.words.length)
}

function bash(commands: readonly Command[]): string {
  const options = commands.flatMap((one) => Object.entries(one.options))
  const names = (isMeant: (option: Option) => boolean) =>
    [...new Set(options.filter(([, one]) => isMeant(one)).map(([name]) => `--${name}`))].sort()
  const files = names(namesFile)
  const others = names(
    (one) => one.value !== undefined && one.choices === undefined && !namesFile(one),
  )
  const choices = new Map(
    options.flatMap(([name, one]) => (one.choices === undefined ? [] : [[name, one.choices]])),
  )
  const cases = (lines: readonly string[]) => lines.map((line) => `    ${line}`).join('\n')
  return `_latchkey() {
  local current="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" words="" offers="" at
  COMPREPLY=()
  for ((at = 1; at < COMP_CWORD; at++)); do
    case "\${COMP_WORDS[at]}" in
    -*) break ;;
    *) words="\${words:+$words }\${COMP_WORDS[at]}" ;;
    esac
  done
  case "$before" in
${cases([
  ...(files.length === 0
    ? []
    : [`${files.join('|')}) COMPREPLY=($(compgen -f -- "$current")); return ;;`]),
  ...[...choices].map(
    ([name, list]) =>
      `--${name}) COMPREPLY=($(compgen -W "${list.join(' ')}" -- "$current")); return ;;`,
  ),
  ...(others.length === 0 ? [] : [`${others.join('|')}) return ;;`]),
])}
  esac
  case "$words" in
${cases([
  ...[...nextWords(commands)]
    .filter(([words]) => !commands.some((one) => one.words === words))
    .map(
      ([words, next]) =>
        `'${words}') offers="${next.join(' ')}${words === '' ? ' --help --version' : ''}" ;;`,
    ),
  ...byLength(commands).map(
    (one) => `'${one.words}'|'${one.words} '*) offers="${offersOf(one)}" ;;`,
  ),
])}
  esac
  case "$words:$current" in
${cases(
  commands
    .filter(({ operands = [] }) =>
      operands.some(({ name }) => namesFile({ value: name, what: '' })),
    )
    .map(({ words }) => `'${words}:'[!-]*|'${words}:') COMPREPLY=($(compgen -f -- "$current")) ;;`),
)}
  esac
  COMPREPLY+=($(compgen -W "$offers" -- "$current"))
}
complete -o filenames -F _latchkey latchkey`
}

/** Its options, the choices of its operands, and what longer commands begin with it. */
function offersOf({ options, operands = [] }: Command): string {
  const given = operands.flatMap(({ choices = [] }) => choices)
  return [...given, ...Object.keys(options).map((name) => `--${name}`), '--help'].join(' ')
}

function fish(commands: readonly Command[]): string {
  const quoted = (text: string) => `'${text.replace(/[\\']/g, '\\$&')}'`
  const at = (pattern: string) => quoted(`string match -qr -- "${pattern}" (__latchkey_words)`)
  const lines: string[] = []
  for (const [words, next] of nextWords(commands)) {
    for (const word of next) {
      const whole = words === '' ? word : `${words} ${word}`
      const what = commands.find((one) => one.words === whole)?.what
      const described = what === undefined ? '' : ` -d ${quoted(what)}`
      lines.push(`complete -c latchkey -n ${at(`^${words}$`)} -a ${word}${described}`)
    }
  }
  for (const { words, options, operands = [] } of commands) {
    const here = at(`^${words}( |$)`)
    for (const [name, one] of Object.entries(options)) {
      const value = one.value === undefined ? '' : namesFile(one) ? ' -r -F' : ' -x'
      const choices = one.choices === undefined ? '' : ` -a ${quoted(one.choices.join(' '))}`
      lines.push(
        `complete -c latchkey -n ${here} -l ${name}${value}${choices} -d ${quoted(one.what)}`,
      )
    }
    for (const { name, choices } of operands) {
      if (choices !== undefined)
        lines.push(`complete -c latchkey -n ${here} -a ${quoted(choices.join(' '))}`)
      else if (namesFile({ value: name, what: '' }))
        lines.push(`complete -c latchkey -n ${here} -F`)
    }
  }
  return `function __latchkey_words
  set -l words
  for word in (commandline -opc)[2..]
    string match -q -- '-*' $word; and break
    set -a words $word
  end
  echo "$words"
end
complete -c latchkey -f
complete -c latchkey -l help -d 'what there is to know'
${lines.join('\n')}`
}
