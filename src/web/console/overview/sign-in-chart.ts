/**
 * Sign-ins and failures over time as bars, drawn on the server: no script, no style attribute, the same picture in every
 * browser (D-371). Beside it is the same as a table, for screen readers and for exact numbers.
 */
import type { Instant } from '../../../base/time/instant.ts'
import { html, type SafeHtml } from '../../login/html.ts'
import { plural, table } from '../parts.ts'
import {
  CHART,
  type ChartedBy,
  exactLabelOf,
  grid,
  labelOf,
  niceTop,
  PLOT,
  rounded,
  xLabel,
  yOf,
} from './chart-frame.ts'

export interface ChartedInterval {
  readonly from: Instant
  readonly succeeded: number
  readonly failed: number
  readonly locked: number
}

export interface SignInChart {
  readonly id: string
  readonly title: string
  readonly by: ChartedBy
  readonly intervals: readonly ChartedInterval[]
}

export function signInChart({ id, title, by, intervals }: SignInChart): SafeHtml {
  const highest = Math.max(1, ...intervals.map(({ succeeded, failed }) => succeeded + failed))
  const top = niceTop(highest)
  const step = PLOT.width / Math.max(1, intervals.length)
  const every = by === 'hours' ? 4 : 5

  const bars = intervals.map((interval, i) => {
    const { succeeded, failed, locked } = interval
    const x = rounded(CHART.left + step * i + step * 0.15)
    const width = rounded(step * 0.7)
    const good = rounded(PLOT.height * (succeeded / top))
    const bad = rounded(PLOT.height * (failed / top))
    const told = `${labelOf(interval.from, by)}: ${plural(succeeded, 'sign-in')}, ${plural(failed, 'failure')}${locked === 0 ? '' : `, ${plural(locked, 'lock')}`}`
    return html`<g><title>${told}</title><rect class="touch" x="${rounded(CHART.left + step * i)}" y="${CHART.top}" width="${rounded(step)}" height="${PLOT.height}"/>${succeeded !== 0 && html`<rect class="good" x="${x}" y="${rounded(yOf(succeeded, top))}" width="${width}" height="${good}" rx="1.5"/>`}${failed !== 0 && html`<rect class="bad" x="${x}" y="${rounded(yOf(succeeded + failed, top))}" width="${width}" height="${bad}" rx="1.5"/>`}</g>\n`
  })
  const labels = intervals.map(
    (interval, i) =>
      i % every === 0 && xLabel(CHART.left + step * (i + 0.5), labelOf(interval.from, by)),
  )
  const sum = (count: (interval: ChartedInterval) => number) =>
    intervals.reduce((total, interval) => total + count(interval), 0)
  const summary = `${title}: ${plural(
    sum(({ succeeded }) => succeeded),
    'sign-in',
  )}, ${plural(
    sum(({ failed }) => failed),
    'failure',
  )}.`
  return html`<figure class="chart">
<figcaption class="legend"><span class="key good"></span> Sign-ins <span class="key bad"></span> Failures <span class="hint">Times in UTC</span></figcaption>
<svg viewBox="0 0 ${CHART.width} ${CHART.height}" role="img" aria-labelledby="${id}-title"><title id="${id}-title">${summary}</title>
${grid(top)}${bars}${labels}</svg>
<details><summary>Show the numbers</summary>
${table(
  title,
  [
    {
      title: by === 'hours' ? 'Hour (UTC)' : 'Day (UTC)',
      cell: ({ from }: ChartedInterval) => exactLabelOf(from, by),
    },
    { title: 'Sign-ins', look: 'number', cell: ({ succeeded }: ChartedInterval) => succeeded },
    { title: 'Failures', look: 'number', cell: ({ failed }: ChartedInterval) => failed },
    { title: 'Locks', look: 'number', cell: ({ locked }: ChartedInterval) => locked },
  ],
  intervals.toReversed(),
)}
</details>
</figure>`
}
