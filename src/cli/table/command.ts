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
export const NAMED_ENTITIES = [
  'identity',
  'authenticator',
  'policy',
  'signer',
  'ca',
  'enrollment',
  'session',
] as const
export type NamedEntity = (typeof NAMED_ENTITIES)[number]

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

/** What a command does, given the values of its options and its operands. */
export type Run<V> = (values: V, io: Io, operands: readonly string[]) => Promise<ExitCode>

/** Returns what declares a command for this audience. All of its commands end their options with the `common` ones. */
export function commandFor<const C extends Options = NoOptions>(audience: Audience, common?: C) {
  return <const O extends Options = NoOptions>(
    given: Omit<Described, 'audience'> & {
      readonly options?: O
      /** Loaded only when it is called, so that no command waits for the modules of another. */
      readonly load: () => Promise<Run<Values<NoInfer<O> & C>>>
    },
  ): Command => {
    const { load, ...rest } = given
    const described = { ...rest, audience, options: { ...given.options, ...common } }
    return {
      ...described,
      async run(args, io) {
        const { values, operands } = readArguments(described, args)
        return (await load())(values as Values<O & C>, io, operands)
      },
    }
  }
}

type NoOptions = Record<never, never>

/** An option of another command, or an unknown one. */
export class ForeignOption extends Misuse {
  readonly option: string

  constructor(option: string) {
    super(`unknown option --${option}`)
    this.option = option
  }
}

function readArguments(
  { words, options, operands = [] }: Pick<Command, 'words' | 'options' | 'operands'>,
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
    const article = /^[AEIO]/.test(missing.name) ? 'an' : 'a'
    throw new Misuse(`"${words}" needs ${article} ${missing.name}`)
  }
  if (positionals.length > operands.length && operands.at(-1)?.isList === undefined) {
    const [only, ...others] = operands
    throw new Misuse(
      only !== undefined && others.length === 0
        ? `"${words}" takes one ${only.name}`
        : `"${words}" takes no "${positionals[operands.length]}"`,
    )
  }
  return { values, operands: positionals }
}

function parse(args: readonly string[], options: Options) {
  try {
    const { values, positionals, tokens } = parseArgs({
      args: [...args],
      allowPositionals: true,
      tokens: true,
      options: parsedOptions(options),
    })
    checkRepeated(
      tokens.flatMap((token) => (token.kind === 'option' ? [token.name] : [])),
      options,
    )
    return { values, positionals }
  } catch (error) {
    if (error instanceof Misuse) throw error
    throw misuseOf(error as NodeJS.ErrnoException, options)
  }
}

/** The options as Node wants them described. */
export function parsedOptions(options: Options) {
  return Object.fromEntries(
    Object.entries(options).map(([name, { value, isList }]) => [
      name,
      { type: value === undefined ? 'boolean' : 'string', multiple: isList === true } as const,
    ]),
  )
}

/** D-476: of two values the first would be dropped without a word. A repeated switch says the same twice. */
function checkRepeated(names: readonly string[], options: Options): void {
  const twice = names.find((name, at) => {
    const { value, isList } = options[name] ?? {}
    return value !== undefined && isList === undefined && names.indexOf(name) !== at
  })
  if (twice !== undefined) throw new Misuse(`--${twice} can be given only once`)
}

/** What Node says of arguments that it cannot parse, in our words. */
function misuseOf({ message, code }: NodeJS.ErrnoException, options: Options): Misuse {
  const [, dashes = '', name = ''] = /^(?:Unknown option|Option) '(--?)([^' ]*)/.exec(message) ?? []
  if (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION') {
    return dashes === '--' ? new ForeignOption(name) : new Misuse(`unknown option ${dashes}${name}`)
  }
  const { value } = options[name] ?? {}
  if (value === undefined) return new Misuse(`--${name} takes no value`)
  const isAmbiguous = message.includes('ambiguous')
  const dashed = isAmbiguous ? `. For one that begins with a dash, write --${name}=${value}` : ''
  return new Misuse(`--${name} needs a value: --${name} ${value}${dashed}`)
}
