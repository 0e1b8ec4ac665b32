/** What can be completed where on the command line, derived from the table of commands. */
import type { Command, Operand, Option } from '../table/command.ts'

/** How the value of an option, or an operand, is completed. */
export type Kind = 'file' | 'context' | 'choice' | 'name' | 'anything'

function kindOf(
  { names, choices }: Pick<Option, 'names' | 'choices'>,
  /** Its placeholder in the help. */
  placeholder: string,
): Kind {
  if (names === 'contexts') return 'context'
  if (choices !== undefined) return 'choice'
  if (names !== undefined) return 'name'
  return /FILE|DIR/.test(placeholder) ? 'file' : 'anything'
}

export const operandKind = (operand: Operand): Kind => kindOf(operand, operand.name)

/** The options of a command that take a value. */
export function valueOptions(
  command: Command,
): readonly { readonly name: string; readonly option: Option; readonly kind: Kind }[] {
  return Object.entries(command.options).flatMap(([name, option]) =>
    option.value === undefined ? [] : [{ name, option, kind: kindOf(option, option.value) }],
  )
}

/** `context` → `list`, `use`, `remove`; the empty string → every first word. */
export function nextWords(commands: readonly Command[]): ReadonlyMap<string, readonly string[]> {
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
