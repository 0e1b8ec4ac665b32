/**
 * The values of metrics at one moment, as data: the text for Prometheus, and the sum over several processes. Counters
 * and histograms are added; each gauge says how its values of several processes become one (D-291).
 */

export interface Family {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly over: Over
  /** Each with its name and labels, as in the text. */
  readonly samples: readonly (readonly [sample: string, value: number])[]
}

/** How the values of several processes become one. */
export type Over = 'sum' | 'max' | 'min'

export function renderFamilies(families: readonly Family[]): string {
  return families
    .filter(({ samples }) => samples.length > 0)
    .map(({ name, help, type, samples }) =>
      [
        `# HELP ${name} ${escapeHelp(help)}`,
        `# TYPE ${name} ${type}`,
        ...samples.map(([sample, value]) => `${sample} ${value}`),
        '',
      ].join('\n'),
    )
    .join('')
}

/** Families and samples stay in the order in which they first occur. */
export function mergeFamilies(processes: readonly (readonly Family[])[]): readonly Family[] {
  const merged = new Map<
    string,
    { readonly about: Family; readonly samples: Map<string, number> }
  >()
  for (const family of processes.flat()) {
    let entry = merged.get(family.name)
    if (entry === undefined) {
      entry = { about: family, samples: new Map() }
      merged.set(family.name, entry)
    }
    for (const [sample, value] of family.samples) {
      const before = entry.samples.get(sample)
      entry.samples.set(sample, before === undefined ? value : JOIN[family.over](before, value))
    }
  }
  return [...merged.values()].map(({ about, samples }) => ({ ...about, samples: [...samples] }))
}

/**
 * What remains of a process that has ended. Without it, a sum over processes would fall, and Prometheus would take
 * that for a restart of everything.
 */
export function lastingFamilies(families: readonly Family[]): readonly Family[] {
  return families.filter(({ type }) => type !== 'gauge')
}

const JOIN: Readonly<Record<Over, (a: number, b: number) => number>> = {
  sum: (a, b) => a + b,
  max: Math.max,
  min: Math.min,
}

export function escapeHelp(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
}
