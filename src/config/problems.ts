/**
 * What is wrong with a configuration, all of it in one message (D-43). Values are shown only where
 * the reader of a value chose to: a file may hold passwords (R108).
 */
import type { z } from 'zod'
import { formatPath, keyAt, suggestKey } from './keys.ts'

export interface Problem {
  /** `web[0].name`; `line 3` where there is no key yet; empty for the file as a whole. */
  readonly path: string
  readonly message: string
}

/** Thrown when a configuration cannot be used. The message names every problem. */
export class ConfigProblems extends Error {
  override readonly name = 'ConfigProblems'
  readonly problems: readonly Problem[]

  /** `source` is what the problems are in: the path of a file, the name of a variable. */
  constructor(source: string, problems: readonly Problem[]) {
    const count = problems.length === 1 ? 'one problem' : `${problems.length} problems`
    super([`${source} has ${count}:`, ...problems.map(describeProblem)].join('\n  '))
    this.problems = problems
  }
}

export function describeProblem({ path, message }: Problem): string {
  return path === '' ? message : `${path}: ${message}`
}

/**
 * All problems, group by group. Of a path that an earlier group has named, the first word is the
 * reason for the rest.
 */
export function mergeProblems(...groups: readonly (readonly Problem[])[]): readonly Problem[] {
  const named = new Set<string>()
  return groups.flatMap((group) => {
    const added = group.filter(({ path }) => !named.has(path))
    for (const { path } of added) named.add(path)
    return added
  })
}

/** The findings of the schema, in our words. `tree` is what was read. */
export function schemaProblems(
  issues: readonly z.core.$ZodIssue[],
  tree: unknown,
): readonly Problem[] {
  return issues.flatMap((issue) => {
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((name) => unknownKey([...issue.path, name]))
    }
    return { path: formatPath(issue.path), message: messageOf(issue, tree) }
  })
}

function unknownKey(path: readonly PropertyKey[]): Problem {
  return { path: formatPath(path), message: `is not a known key; ${suggestKey(path)}` }
}

function messageOf(issue: z.core.$ZodIssue, tree: unknown): string {
  const { path } = issue
  if (path.length > 0 && valueAt(tree, path) === undefined) return 'is missing'
  // A reader of text says itself what is wrong; zod's own sentences would speak of types.
  if (issue.code === 'custom' && issue.message !== 'Invalid input') return issue.message
  if (path.length === 0) return 'must be a map of keys'
  const key = keyAt(path)
  // Entries of a list have no facts of their own.
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
