/**
 * Live sessions over time as a line, drawn on the server as the bars of sign-ins are (D-371). Where nothing was counted,
 * the line has a gap (D-361).
 */
import { days, hours } from '../../../base/time/duration.ts'
import { type Instant, instant } from '../../../base/time/instant.ts'
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

export interface SessionPoint {
  readonly from: Instant
  readonly sessions: number
}

export interface SessionChart {
  readonly id: string
  readonly title: string
  readonly by: ChartedBy
  /** The time between two points, in milliseconds; a longer one is a gap. */
  readonly step: number
  /** The time that the chart covers, in milliseconds. It ends with the newest point. */
  readonly length: number
  /** Oldest first, at least one. */
  readonly points: readonly SessionPoint[]
}

/** Labels are at whole hours, so that a gap does not move them. */
const LABEL_EVERY = { hours: hours(4), days: days(5) } as const

export function sessionChart({ id, title, by, step, length, points }: SessionChart): SafeHtml {
  const highest = Math.max(...points.map(({ sessions }) => sessions))
  const top = niceTop(highest)
  const latest = points.at(-1)
  const last = latest?.from ?? 0
  const span = Math.max(length, last - (points[0]?.from ?? 0))
  const first = last - span
  const x = (from: number) => CHART.left + (PLOT.width * (from - first)) / span
  const half = (PLOT.width * step) / span / 2
  const at = ({ from, sessions }: SessionPoint) =>
    `${rounded(x(from))} ${rounded(yOf(sessions, top))}`
  const bottom = CHART.top + PLOT.height

  const lines = withoutGaps(points, step).map((run) => {
    const [begin, end] = [run[0], run.at(-1)]
    if (begin === undefined || end === undefined) return undefined
    if (run.length === 1) {
      return html`<circle class="point" cx="${rounded(x(begin.from))}" cy="${rounded(yOf(begin.sessions, top))}" r="3"/>\n`
    }
    const path = `M${run.map(at).join('L')}`
    return html`<path class="area" d="${path}L${rounded(x(end.from))} ${bottom}L${rounded(x(begin.from))} ${bottom}Z"/><path class="line" d="${path}"/>\n`
  })
  const touched = points.map((point) => {
    const left = Math.max(CHART.left, x(point.from) - half)
    const right = Math.min(CHART.width - CHART.right, x(point.from) + half)
    return html`<g><title>${labelOf(point.from, by)}: ${plural(point.sessions, 'session')}</title><rect class="touch" x="${rounded(left)}" y="${CHART.top}" width="${rounded(Math.max(0, right - left))}" height="${PLOT.height}"/></g>\n`
  })
  const every = LABEL_EVERY[by]
  const begin = Math.ceil(first / every) * every
  const times = Array.from({ length: Math.floor((last - begin) / every) + 1 }, (_, i) =>
    instant(begin + i * every),
  )
  const labels = times
    .filter((time) => x(time) < CHART.width - CHART.right - 16)
    .map((time) => xLabel(Math.max(CHART.left + 14, x(time)), labelOf(time, by)))
  return html`<figure class="chart">
<figcaption class="legend"><span class="key live"></span> ${by === 'days' ? 'Highest of each day' : 'Live sessions'} <span class="hint">Times in UTC</span></figcaption>
<svg viewBox="0 0 ${CHART.width} ${CHART.height}" role="img" aria-labelledby="${id}-title"><title id="${id}-title">${title}: highest ${highest}, latest ${latest?.sessions ?? 0}.</title>
${grid(top)}${lines}${touched}${labels}</svg>
<details><summary>Show the numbers</summary>
${table(
  title,
  [
    {
      title: by === 'hours' ? 'Time (UTC)' : 'Day (UTC)',
      cell: ({ from }: SessionPoint) => exactLabelOf(from, by),
    },
    { title: 'Live sessions', look: 'number', cell: ({ sessions }: SessionPoint) => sessions },
  ],
  points.toReversed(),
)}
</details>
</figure>`
}

function withoutGaps(
  points: readonly SessionPoint[],
  step: number,
): readonly (readonly SessionPoint[])[] {
  const runs: SessionPoint[][] = []
  for (const [i, point] of points.entries()) {
    const before = points[i - 1]
    if (before === undefined || point.from - before.from > step) runs.push([])
    runs.at(-1)?.push(point)
  }
  return runs
}
