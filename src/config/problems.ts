/**
 * The problems of a configuration, all in one message (D-43). Values are shown only if the parser of the value allows
 * it: a file may contain passwords (R108).
 */

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
