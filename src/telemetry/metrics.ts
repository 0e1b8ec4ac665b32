/**
 * Counters, gauges and histograms, and their text for Prometheus (text format 0.0.4). Every label value is from a list
 * that is known beforehand, or the number of series is limited: a label that callers can choose would fill the memory
 * of the service and of Prometheus (D-138).
 */

import { escapeHelp, type Family, type Over, renderFamilies } from './families.ts'

export const METRICS_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

type Labels = Readonly<Record<string, string>>
/** Every label with all its possible values. */
type LabelSets = Readonly<Record<string, readonly string[]>>
type LabelsOf<S extends LabelSets> = { readonly [Name in keyof S]: S[Name][number] }

export interface Reading {
  readonly labels?: Labels
  readonly value: number
}

export interface Metrics {
  /** Every series begins at 0, so that the first event shows as an increase. */
  counter<const S extends LabelSets>(
    about: About & { readonly labels: S },
  ): (labels: LabelsOf<S>) => void
  /** `buckets` are the upper limits, in ascending order. */
  histogram<Name extends string>(
    about: About & { readonly labels: readonly Name[]; readonly buckets: readonly number[] },
  ): (labels: Readonly<Record<Name, string>>, value: number) => void
  /** Read at every snapshot. A value that cannot be read is omitted, and all others are shown. */
  read(about: ReadAbout, readings: () => readonly Reading[] | Promise<readonly Reading[]>): void
  snapshot(): Promise<readonly Family[]>
  render(): Promise<string>
}

/** A gauge says what its values in several processes are together. */
export type ReadAbout = About &
  ({ readonly type: 'counter' } | { readonly type: 'gauge'; readonly over: Over })

export interface About {
  readonly name: string
  readonly help: string
}

/** The most series of a histogram, over all labels. Far more than routes, methods and status classes need. */
const MOST_SERIES = 2_000

export function createMetrics(): Metrics {
  const families: (() => Promise<Family>)[] = []

  const add = (
    about: Omit<Family, 'samples'>,
    samples: () => Family['samples'] | Promise<Family['samples']>,
  ) => families.push(async () => ({ ...about, samples: await samples() }))

  const snapshot = () => Promise.all(families.map((family) => family()))

  return {
    counter({ name, help, labels }) {
      const counts = new Map(combinations(labels).map((one) => [formatLabels(one), 0]))
      add({ name, help, type: 'counter', over: 'sum' }, () =>
        [...counts].map(([shown, count]) => [`${name}${shown}`, count]),
      )
      return (given) => {
        const key = formatLabels(Object.fromEntries(namesOf(labels).map((n) => [n, given[n]])))
        const count = counts.get(key)
        if (count !== undefined) counts.set(key, count + 1)
      }
    },

    histogram({ name, help, labels, buckets }) {
      const series = new Map<string, { labels: Labels; counts: number[]; sum: number }>()
      add({ name, help, type: 'histogram', over: 'sum' }, () =>
        [...series.values()].flatMap((one) => histogramLines(name, buckets, one)),
      )
      return (given, value) => {
        const key = JSON.stringify(labels.map((label) => given[label]))
        let one = series.get(key)
        if (one === undefined) {
          if (series.size >= MOST_SERIES) return
          one = { labels: given, counts: [...buckets, 0].map(() => 0), sum: 0 }
          series.set(key, one)
        }
        const found = buckets.findIndex((limit) => value <= limit)
        const at = found < 0 ? buckets.length : found
        one.counts[at] = (one.counts[at] ?? 0) + 1
        one.sum += value
      }
    },

    read(about, readings) {
      const { name, help, type } = about
      const over = about.type === 'gauge' ? about.over : 'sum'
      add({ name, help, type, over }, async () => {
        try {
          const found = await readings()
          return found.map(({ labels = {}, value }) => sample(name, labels, value))
        } catch {
          return []
        }
      })
    },

    snapshot,
    render: async () => renderFamilies(await snapshot()),
  }
}

function namesOf<S extends LabelSets>(labels: S): readonly (keyof S & string)[] {
  return Object.keys(labels)
}

function combinations(labels: LabelSets): readonly Labels[] {
  return Object.entries(labels).reduce<readonly Labels[]>(
    (made, [name, values]) =>
      made.flatMap((one) => values.map((value) => ({ ...one, [name]: value }))),
    [{}],
  )
}

/** Buckets are cumulative, and the last one counts everything. */
function histogramLines(
  name: string,
  buckets: readonly number[],
  one: { readonly labels: Labels; readonly counts: readonly number[]; readonly sum: number },
): Family['samples'] {
  let count = 0
  const lines = [...buckets.map(String), '+Inf'].map((le, i) => {
    count += one.counts[i] ?? 0
    return sample(`${name}_bucket`, { ...one.labels, le }, count)
  })
  return [
    ...lines,
    sample(`${name}_sum`, one.labels, one.sum),
    sample(`${name}_count`, one.labels, count),
  ]
}

function sample(name: string, labels: Labels, value: number): readonly [string, number] {
  return [`${name}${formatLabels(labels)}`, value]
}

function formatLabels(labels: Labels): string {
  const shown = Object.entries(labels).map(([name, value]) => `${name}="${escapeValue(value)}"`)
  return shown.length === 0 ? '' : `{${shown.join(',')}}`
}

function escapeValue(text: string): string {
  return escapeHelp(text).replaceAll('"', '\\"')
}
