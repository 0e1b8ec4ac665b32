/**
 * `${VAR}` in the values of the file. Variables are substituted in parsed values, never in the text of the file, so
 * that nothing in the environment can add a key. `$${` stands for a plain `${`.
 */
import { formatPath } from './keys.ts'
import type { Problem } from './problems.ts'

const REFERENCE = /\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)\}|\$\{/g

/** Returns a copy of the tree with its variables substituted, and a problem for each value that names an unset one. */
export function fillIn(
  tree: unknown,
  variable: (name: string) => string | undefined,
): { readonly tree: unknown; readonly problems: readonly Problem[] } {
  const problems: Problem[] = []

  const fillText = (text: string, path: readonly PropertyKey[]): string =>
    text.replace(REFERENCE, (reference: string, name: string | undefined) => {
      if (reference === '$${') return '${'
      const value = name === undefined ? undefined : variable(name)
      if (value !== undefined) return value
      problems.push({
        path: formatPath(path),
        message:
          name === undefined
            ? `has a \${ that begins no \${VARIABLE}; write $\${ for a plain \${`
            : `needs the environment variable ${name}, which is not set`,
      })
      return reference
    })

  const fill = (value: unknown, path: readonly PropertyKey[]): unknown => {
    if (typeof value === 'string') return fillText(value, path)
    if (Array.isArray(value)) return value.map((entry, i) => fill(entry, [...path, i]))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value).map(([name, entry]) => [name, fill(entry, [...path, name])]),
    )
  }

  return { tree: fill(tree, []), problems }
}

/** Returns the variables that the values of a tree refer to. */
export function variablesIn(tree: unknown): readonly string[] {
  if (typeof tree === 'string') {
    return [...tree.matchAll(REFERENCE)].flatMap(([, name]) => name ?? [])
  }
  if (typeof tree !== 'object' || tree === null) return []
  return Object.values(tree).flatMap(variablesIn)
}
