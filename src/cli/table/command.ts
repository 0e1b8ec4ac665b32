/**
 * How a command is declared: its words, operands, options and examples, once. Argument parsing, `--help` and shell
 * completion are derived from it.
 */
import { parseArgs } from 'node:util'
import { type ExitCode, type Io, Misuse } from '../terminal/io.ts'

export interface Option {
  /** The placeholder of its value in the help, such as `FILE`; without it, it is a switch. */
  readonly value?: string
  readonly what: string
  /** May be repeated; its value is a list. Only with `value`. */
  readonly isList?: true
  /** For completion: the only valid values. */
  readonly choices?: readonly string[]
  /** For completion: the kind of name. */
  readonly names?: 'contexts' | NamedEntity
}

/** Entities that the server can complete by name (D-354). */
export type NamedEntity =
  | 'identity'
  | 'authenticator'
  | 'policy'
  | 'signer'
  | 'ca'
  | 'enrollment'
  | 'session'

export type Options = Readonly<Record<string, Option>>

export interface Operand {
  readonly name: string
  readonly isOptional?: true
  /** Any number of values; only for the last operand. */
  readonly isList?: true
  readonly choices?: readonly string[]
  readonly names?: 'contexts' | NamedEntity
}

export type Values<O extends Options> = {
  readonly [Name in keyof O]?: O[Name] extends { readonly value: string }
    ? O[Name] extends { readonly isList: true }
      ? readonly string[]
      : string
    : boolean
}

/** Who runs it; the help has a section for each. */
export type Audience = 'service' | 'person' | 'administrator'

interface Described {
  /** `login`, `context use`. */
  readonly words: string
  /** One line, without a full stop. */
  readonly what: string
  readonly audience: Audience
  /** In the whole help, one line stands for all commands of a family, such as `list` of every entity. */
  readonly family?: { readonly words: string; readonly what: string }
  readonly operands?: readonly Operand[]
  readonly examples: readonly string[]
}

export interface Command extends Described {
  readonly options: Options
  /** Parses the arguments after the words, and runs it. Throws Misuse, and whatever the command throws. */
  run(args: readonly string[], io: Io): Promise<ExitCode>
}

export type Execute<O extends Options> = (
  values: Values<O>,
  io: Io,
  operands: readonly string[],
) => Promise<ExitCode>

export function command<const O extends Options>(
  given: Described & {
    readonly options: O
    /** Loaded only when it is called, so that no command waits for the modules of another. */
    readonly load: () => Promise<Execute<O>>
  },
): Command {
  const { load, ...described } = given
  return {
    ...described,
    async run(args, io) {
      const { values, operands } = readArguments(described, args)
      return (await load())(values as Values<O>, io, operands)
    },
  }
}

/** An option of another command, or an unknown one. */
export class ForeignOption extends Misuse {
  readonly option: string

  constructor(option: string) {
    super(`Unknown option '--${option}'`)
    this.option = option
  }
}

function readArguments(
  { words, options, operands = [] }: Omit<Command, 'run'>,
  args: readonly string[],
) {
  const { values, positionals } = parse(args, options)
  for (const [name, value] of Object.entries(values)) {
    // Probably an unset variable in a script; it certainly does not mean the current folder.
    if ([value].flat().includes('')) throw new Misuse(`--${name} is empty`)
  }
  // The same for an empty operand: it counts as missing.
  const empty = positionals.indexOf('')
  const missing = operands[empty < 0 ? positionals.length : empty]
  if (missing !== undefined && (missing.isOptional === undefined || empty >= 0)) {
    throw new Misuse(`"${words}" needs a ${missing.name}`)
  }
  if (positionals.length > operands.length && operands.at(-1)?.isList === undefined) {
    const [only, ...others] = operands
    if (only === undefined) {
      throw new Misuse(`there is no command "${[words, ...positionals].join(' ')}"`)
    }
    throw new Misuse(
      others.length === 0
        ? `"${words}" takes one ${only.name}`
        : `"${words}" takes no "${positionals[operands.length]}"`,
    )
  }
  return { values, operands: positionals }
}

function parse(args: readonly string[], options: Options) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: Object.fromEntries(
        Object.entries(options).map(([name, { value, isList }]) => [
          name,
          { type: value === undefined ? 'boolean' : 'string', multiple: isList === true } as const,
        ]),
      ),
    })
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException
    const [, unknown] = /^Unknown option '--([\w-]+)'/.exec(message) ?? []
    if (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION' && unknown !== undefined) {
      throw new ForeignOption(unknown)
    }
    // "Unknown option '-x'. To specify a positional argument …": the first sentence is enough.
    const [problem = ''] = message.split(/\. |\n/, 1)
    throw new Misuse(problem)
  }
}
