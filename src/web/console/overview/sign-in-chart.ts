/**
 * Sign-ins and failures over time as bars, drawn on the server: no script, no style attribute, the same picture in every
 * browser (D-371). Beside it is the same as a table, for screen readers and for exact numbers.
 */
import { type Instant, toRfc3339 } from '../../../base/time/instant.ts'
import { html, type SafeHtml } from '../../login/html.ts'
import { plural, table } from '../parts.ts'

export interface ChartedInterval {
  readonly from: Instant
  readonly succeeded: number
  readonly failed: number
  readonly locked: number
}

export interface SignInChart {
  readonly id: string
  readonly title: string
  /** `hours`: labels are times of the day. `days`: dates. */
  readonly by: 'hours' | 'days'
  readonly intervals: readonly ChartedInterval[]
}

const WIDTH = 720
const HEIGHT = 200
const LEFT = 44
const RIGHT = 8
const TOP = 10
const BOTTOM = 24
const GRID_LINES = 4

export function signInChart({ id, title, by, intervals }: SignInChart): SafeHtml {
  const highest = Math.max(1, ...intervals.map(({ succeeded, failed }) => succeeded + failed))
  const top = niceTop(highest)
  const plotWidth = WIDTH - LEFT - RIGHT
  const plotHeight = HEIGHT - TOP - BOTTOM
  const step = plotWidth / Math.max(1, intervals.length)
  const y = (value: number) => TOP + plotHeight * (1 - value / top)
  const round = (value: number) => Math.round(value * 10) / 10
  const labelOf = ({ from }: ChartedInterval) =>
    by === 'hours' ? toRfc3339(from).slice(11, 16) : toRfc3339(from).slice(5, 10)
  const every = by === 'hours' ? 4 : 5

  const grid = Array.from({ length: GRID_LINES + 1 }, (_, i) => (top / GRID_LINES) * i).map(
    (value) =>
      html`<line class="grid" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${round(y(value))}" y2="${round(y(value))}"/><text class="axis" x="${LEFT - 6}" y="${round(y(value) + 4)}" text-anchor="end">${value}</text>\n`,
  )
  const bars = intervals.map((interval, i) => {
    const { succeeded, failed, locked } = interval
    const x = round(LEFT + step * i + step * 0.15)
    const width = round(step * 0.7)
    const good = round(plotHeight * (succeeded / top))
    const bad = round(plotHeight * (failed / top))
    const told = `${labelOf(interval)}: ${plural(succeeded, 'sign-in')}, ${plural(failed, 'failure')}${locked === 0 ? '' : `, ${plural(locked, 'lock')}`}`
    return html`<g><title>${told}</title><rect class="touch" x="${round(LEFT + step * i)}" y="${TOP}" width="${round(step)}" height="${plotHeight}"/>${succeeded === 0 ? undefined : html`<rect class="good" x="${x}" y="${round(y(succeeded))}" width="${width}" height="${good}" rx="1.5"/>`}${failed === 0 ? undefined : html`<rect class="bad" x="${x}" y="${round(y(succeeded + failed))}" width="${width}" height="${bad}" rx="1.5"/>`}</g>\n`
  })
  const labels = intervals.map((interval, i) =>
    i % every === 0
      ? html`<text class="axis" x="${round(LEFT + step * (i + 0.5))}" y="${HEIGHT - 6}" text-anchor="middle">${labelOf(interval)}</text>\n`
      : undefined,
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
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-labelledby="${id}-title"><title id="${id}-title">${summary}</title>
${grid}${bars}${labels}</svg>
<details><summary>Show the numbers</summary>
${table(
  title,
  [
    {
      title: by === 'hours' ? 'Hour (UTC)' : 'Day (UTC)',
      cell: ({ from }: ChartedInterval) =>
        toRfc3339(from)
          .slice(0, by === 'hours' ? 16 : 10)
          .replace('T', ' '),
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

/** A round number at or above the highest bar that the grid divides evenly. */
export function niceTop(highest: number): number {
  if (highest <= GRID_LINES) return GRID_LINES
  const power = 10 ** Math.floor(Math.log10(highest / GRID_LINES))
  const factor = [1, 2, 2.5, 5, 10].find((one) => {
    const line = one * power
    return Number.isInteger(line) && line * GRID_LINES >= highest
  })
  return (factor ?? 10) * power * GRID_LINES
}
