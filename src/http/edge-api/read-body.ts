/**
 * Parses the JSON body of a management write by its contract. An error names the field and the rule, in our words, and
 * never the value (D-45, R108).
 */
import { z } from 'zod'
import { Failure } from '../../errors/catalogue.ts'
import type { Body } from '../reading/body.ts'

/** D-11: a missing body counts as `{}`. D-309: null for an optional field means that the field is absent. */
export function readBody<T extends z.ZodType>(shape: T, body: Body): z.output<T> {
  let value = body.kind === 'json' ? body.value : {}
  for (;;) {
    const result = shape.safeParse(value)
    if (result.success) return result.data
    const { issues } = result.error
    const nulls = issues.flatMap(({ path }) => (isNullMember(value, path) ? [path] : []))
    if (nulls.length === 0) {
      // API 1: an unknown field is named. It is often the misspelled name of one that is missing.
      const issue = issues.find(({ code }) => code === 'unrecognized_keys') ?? issues[0]
      throw new Failure('COULD_NOT_VALIDATE', { field: faultOf(issue, value) })
    }
    // Each round removes a member, and a round names all that it finds, so there are few.
    for (const path of nulls) value = without(value, path)
  }
}

/** Whether a member that the shape refuses is null. An element of a list is never absent. */
function isNullMember(value: unknown, path: readonly PropertyKey[]): boolean {
  return typeof path.at(-1) === 'string' && valueAt(value, path) === null
}

/** Returns a copy without the member at this path. */
function without(value: unknown, [name, ...rest]: readonly PropertyKey[]): unknown {
  if (Array.isArray(value)) {
    return value.map((one, i) => (i === name ? without(one, rest) : one))
  }
  const entries = Object.entries(value as object).flatMap(([key, one]) => {
    if (key !== name) return [[key, one] as const]
    return rest.length === 0 ? [] : [[key, without(one, rest)] as const]
  })
  return Object.fromEntries(entries)
}

/** For actions without input. */
export const Nothing = z.strictObject({})

type Issue = z.core.$ZodIssue

function faultOf(issue: Issue | undefined, value: unknown) {
  if (issue === undefined) return { field: 'body', reason: 'is not valid' }
  if (issue.code === 'unrecognized_keys') {
    const [name = ''] = issue.keys
    return { field: fieldAt([...issue.path, name]), reason: 'is not known here' }
  }
  const isMissing = issue.path.length > 0 && valueAt(value, issue.path) === undefined
  return { field: fieldAt(issue.path), reason: isMissing ? 'is missing' : reasonOf(issue) }
}

/** Names come from the caller too: cut them to the length needed to recognize them. */
const LONGEST_NAME = 64

function fieldAt(path: readonly PropertyKey[]): string {
  if (path.length === 0) return 'body'
  return path.map((part) => String(part).slice(0, LONGEST_NAME).toWellFormed()).join('.')
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (at, part) => (typeof at === 'object' && at !== null ? Reflect.get(at, part) : undefined),
    value,
  )
}

function reasonOf(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${KINDS[issue.expected] ?? 'of another type'}`
    case 'too_small':
      return issue.origin === 'string' ? 'must not be empty' : `must be at least ${issue.minimum}`
    case 'too_big':
      return tooBig(issue.origin, issue.maximum)
    case 'invalid_value':
      return `must be ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.join(', ')}`
    case 'invalid_key':
      return 'has a name that is too long, empty or not one line of text'
    case 'invalid_union':
      return issue.discriminator === undefined
        ? 'must be text, a number, true, false or null'
        : issue.message
    // Rules with their own message.
    case 'custom':
    case 'invalid_format':
      return issue.message
    default:
      return 'is not valid'
  }
}

function tooBig(origin: string, maximum: number | bigint): string {
  if (origin === 'string') return `must have at most ${maximum} characters`
  if (origin === 'array') return `must have at most ${maximum} entries`
  return `must be at most ${maximum}`
}

const KINDS: Readonly<Record<string, string>> = {
  string: 'text',
  boolean: 'true or false',
  number: 'a number',
  int: 'a whole number',
  array: 'a list',
  object: 'an object',
  record: 'an object',
}
