/**
 * The problems of a configuration, all in one message (D-43). Values are shown only if the parser of the value allows
 * it: a file may contain passwords (R108).
 */
import type { z } from 'zod'
import { formatPath, KEYS, type Key, keyAt, suggestKey } from './keys.ts'

export interface Problem {
  /** `web[0].name`; `line 3` if there is no key yet; empty for the file as a whole. */
  readonly path: string
  readonly message: string
}

/** Thrown if a configuration cannot be used. The message names every problem. */
export class ConfigProblems extends Error {
  override readonly name = 'ConfigProblems'
  readonly problems: readonly Problem[]

  /** `source` is where the problems are: the path of a file, the name of a variable. */
  constructor(source: string, problems: readonly Problem[]) {
    const count = problems.length === 1 ? 'one problem' : `${problems.length} problems`
    super([`${source} has ${count}:`, ...problems.map(describeProblem)].join('\n  '))
    this.problems = problems
  }
}

function describeProblem({ path, message }: Problem): string {
  return path === '' ? message : `${path}: ${message}`
}

/** Returns all problems, group by group, and for each path only those of the first group that names it. */
export function mergeProblems(...groups: readonly (readonly Problem[])[]): readonly Problem[] {
  const named = new Set<string>()
  return groups.flatMap((group) => {
    const added = group.filter(({ path }) => !named.has(path))
    for (const { path } of added) named.add(path)
    return added
  })
}

/** Translates the findings of the schema into our words. `tree` is the parsed file. */
export function schemaProblems(
  issues: readonly z.core.$ZodIssue[],
  tree: unknown,
  keys: readonly Key[] = KEYS,
): readonly Problem[] {
  return issues.flatMap((issue) => {
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((name) => unknownKey([...issue.path, name], keys))
    }
    return { path: formatPath(issue.path), message: messageOf(issue, tree, keys) }
  })
}

function unknownKey(path: readonly PropertyKey[], keys: readonly Key[]): Problem {
  return { path: formatPath(path), message: `is not a known key; ${suggestKey(path, keys)}` }
}

function messageOf(issue: z.core.$ZodIssue, tree: unknown, keys: readonly Key[]): string {
  const { path } = issue
  if (path.length > 0 && valueAt(tree, path) === undefined) return 'is missing'
  // Parsers of text have their own messages; zod's sentences would talk about types.
  if (issue.code === 'custom' && issue.message !== 'Invalid input') return issue.message
  if (path.length === 0) return 'must be a map of keys'
  const key = keyAt(path, keys)
  // Entries of a list have no description of their own.
  const isEntry = typeof path.at(-1) === 'number'
  if (isEntry) return key?.children.length === 0 ? 'must be text' : 'must be a map of keys'
  return `must be ${key?.facts.type ?? 'another value'}`
}

function valueAt(tree: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, part) =>
      typeof value === 'object' && value !== null ? Reflect.get(value, part) : undefined,
    tree,
  )
}
