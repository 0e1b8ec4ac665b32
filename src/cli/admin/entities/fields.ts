/**
 * The fields of an entity as command-line options: which options a field has, and what they put into the body of a
 * request. The API validates the values; this code only converts them from shell arguments.
 */
import type { NamedEntity, Option, Options } from '../../table/command.ts'
import { Misuse } from '../../terminal/io.ts'

export type Field = {
  /** Without dashes. */
  readonly option: string
  /** The path in the body, separated by dots. */
  readonly path: string
  readonly what: string
} /** `clear` is a flag that takes a whole part away. */ & (
  | { readonly kind: 'flag' | 'clear' }
  | { readonly kind: 'text' | 'number' | 'texts'; readonly value: string }
  | { readonly kind: 'choice'; readonly choices: readonly string[] }
  /** NAME=TEXT, or NAME:=JSON for a number, true, false or null. */
  | { readonly kind: 'pairs' }
  /** The content of the file, or its first line; `-` is standard input. */
  | { readonly kind: 'file' | 'first-line'; readonly value: string }
  | { readonly kind: 'reference' | 'references'; readonly to: NamedEntity }
) & {
    /** `--no-…` clears it. Flags always have theirs. */
    readonly canClear?: true
  }

export type OptionValues = Readonly<
  Record<string, string | boolean | readonly string[] | undefined>
>
export type Body = Record<string, unknown>

export interface FieldReaders {
  /** Throws CommandFailed. */
  readFile(path: string): Promise<string>
  /** The first line; `-` prompts for it if there is a terminal. */
  readSecret(path: string): Promise<string>
  /** Returns the id of the entity with this name. */
  idOf(resource: NamedEntity, name: string): Promise<string>
}

export function optionsOf(fields: readonly Field[]): Options {
  return Object.fromEntries(
    fields.flatMap((field): [string, Option][] => {
      const given: [string, Option] = [field.option, optionOf(field)]
      if (!hasNegative(field)) return [given]
      const what = field.kind === 'flag' ? 'the opposite' : 'remove it'
      return [given, [`no-${field.option}`, { what }]]
    }),
  )
}

/** Returns only the members that the options name. */
export async function bodyOf(
  fields: readonly Field[],
  values: OptionValues,
  readers: FieldReaders,
): Promise<Body> {
  const body: Body = {}
  for (const field of fields) {
    const { option } = field
    const given = values[option]
    const isCleared = hasNegative(field) && values[`no-${option}`] === true
    if (given !== undefined && isCleared) {
      throw new Misuse(`--${option} and --no-${option} cannot be combined`)
    }
    if (isCleared) put(body, field.path, nothingOf(field))
    else if (given !== undefined) put(body, field.path, await valueIn(field, given, readers))
  }
  return body
}

/** Returns the option that a member of the body came from, for error messages. */
export function optionFor(fields: readonly Field[], path: string): string | undefined {
  const field = fields.find((one) => path === one.path || path.startsWith(`${one.path}.`))
  if (field !== undefined) return `--${field.option}`
  // `primary` of a policy: the fault is that none of its methods is allowed.
  const allowing = fields.filter(
    (one) => one.path.startsWith(`${path}.`) && one.path.endsWith('.allowed'),
  )
  return allowing.length === 0 ? undefined : allowing.map((one) => `--${one.option}`).join(', ')
}

function hasNegative(field: Field): boolean {
  return field.kind === 'flag' || field.canClear === true
}

function optionOf(field: Field): Option {
  const { what } = field
  const value = placeholderOf(field)
  if (value === undefined) return { what }
  const isList = ['texts', 'pairs', 'references'].includes(field.kind)
  return {
    value,
    what,
    ...(isList ? { isList: true as const } : {}),
    ...(field.kind === 'choice' ? { choices: field.choices } : {}),
    ...('to' in field ? { names: field.to } : {}),
  }
}

function placeholderOf(field: Field): string | undefined {
  switch (field.kind) {
    case 'flag':
    case 'clear':
      return undefined
    case 'choice':
      return field.choices.join('|')
    case 'pairs':
      return 'KEY=VALUE'
    case 'reference':
    case 'references':
      return 'NAME'
    default:
      return field.value
  }
}

function nothingOf({ kind }: Field): unknown {
  if (kind === 'flag') return false
  if (kind === 'texts' || kind === 'references') return []
  return kind === 'pairs' ? {} : null
}

async function valueIn(
  field: Field,
  given: string | boolean | readonly string[],
  readers: FieldReaders,
): Promise<unknown> {
  const texts = typeof given === 'boolean' ? [] : [given].flat()
  const text = texts.at(-1) ?? ''
  switch (field.kind) {
    case 'flag':
      return given
    case 'clear':
      return null
    case 'text':
      return text
    case 'choice':
      return choiceOf(field, text)
    case 'number':
      return numberOf(field.option, text)
    case 'texts':
      return texts
    case 'pairs':
      return Object.fromEntries(texts.map((pair) => pairOf(field.option, pair)))
    case 'file':
      return readers.readFile(text)
    case 'first-line':
      return readers.readSecret(text)
    case 'reference':
      return readers.idOf(field.to, text)
    case 'references':
      return Promise.all(texts.map((name) => readers.idOf(field.to, name)))
  }
}

function choiceOf(
  { option, choices }: Extract<Field, { readonly kind: 'choice' }>,
  text: string,
): string {
  const found = choices.find((choice) => choice.toLowerCase() === text.toLowerCase())
  if (found === undefined) throw new Misuse(`--${option} must be one of ${choices.join(', ')}`)
  return found
}

/** JavaScript accepts `--minutes 1e3`, `0x10` and ` 5` as numbers; we treat them as typing errors. */
export function numberOf(option: string, text: string): number {
  if (!/^[0-9]{1,9}$/.test(text)) throw new Misuse(`--${option} must be a whole number`)
  return Number(text)
}

function pairOf(option: string, text: string): readonly [string, unknown] {
  const [, name = '', mark, value = ''] = /^(.+?)(:?=)(.*)$/s.exec(text) ?? []
  if (name === '') throw new Misuse(`--${option} must be KEY=TEXT or KEY:=JSON`)
  return [name, mark === '=' ? value : scalarOf(option, value)]
}

function scalarOf(option: string, text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value !== 'object' || value === null) return value
  } catch {
    // The message below covers both cases.
  }
  throw new Misuse(`--${option} KEY:=… takes a number, true, false, null or "text"`)
}

function put(body: Body, path: string, value: unknown): void {
  const names = path.split('.')
  const last = names.pop() ?? ''
  let at = body
  for (const name of names) {
    const next = (at[name] ?? {}) as Body
    at[name] = next
    at = next
  }
  at[last] = value
}
