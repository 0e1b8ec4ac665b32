/** What the schema finds wrong with a file, in our words. Only those who read a file load this: it needs the schema. */
import type { z } from 'zod'
import { get } from '../checks.ts'
import { formatPath, KEYS, type Key, keyAt, suggestKey } from '../keys.ts'
import type { Problem } from '../problems.ts'

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
  if (path.length > 0 && get(tree, ...path) === undefined) return 'is missing'
  // Parsers of text have their own messages; zod's sentences would talk about types.
  if (issue.code === 'custom' && issue.message !== 'Invalid input') return issue.message
  if (path.length === 0) return 'must be a map of keys'
  const key = keyAt(path, keys)
  // Entries of a list have no description of their own.
  const isEntry = typeof path.at(-1) === 'number'
  if (isEntry) return key?.children.length === 0 ? 'must be text' : 'must be a map of keys'
  return `must be ${key?.facts.type ?? 'another value'}`
}
