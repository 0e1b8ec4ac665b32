/** What the charts of the overview have in common: measures, scale, grid and labels. D-371. */
import { type Instant, toRfc3339 } from '../../../base/time/instant.ts'
import { html, type SafeHtml } from '../../login/html.ts'

export const CHART = { width: 720, height: 210, left: 64, right: 8, top: 16, bottom: 30 } as const
export const PLOT = {
  width: CHART.width - CHART.left - CHART.right,
  height: CHART.height - CHART.top - CHART.bottom,
} as const
const GRID_LINES = 4

/** `hours`: labels are times of the day. `days`: dates. In UTC. */
export type ChartedBy = 'hours' | 'days'

export function labelOf(from: Instant, by: ChartedBy): string {
  return by === 'hours' ? toRfc3339(from).slice(11, 16) : toRfc3339(from).slice(5, 10)
}

/** The time in the table behind a chart. */
export function exactLabelOf(from: Instant, by: ChartedBy): string {
  return toRfc3339(from)
    .slice(0, by === 'hours' ? 16 : 10)
    .replace('T', ' ')
}

export function rounded(value: number): number {
  return Math.round(value * 10) / 10
}

/** Where a value is, from the top of the picture. */
export function yOf(value: number, top: number): number {
  return CHART.top + PLOT.height * (1 - value / top)
}

export function grid(top: number): readonly SafeHtml[] {
  return Array.from({ length: GRID_LINES + 1 }, (_, i) => (top / GRID_LINES) * i).map((value) => {
    const y = yOf(value, top)
    return html`<line class="grid" x1="${CHART.left}" x2="${CHART.width - CHART.right}" y1="${rounded(y)}" y2="${rounded(y)}"/><text class="axis" x="${CHART.left - 6}" y="${rounded(y + 4)}" text-anchor="end">${short(value)}</text>\n`
  })
}

/** As wide as the left margin: 12500 is 12.5k. */
function short(value: number): string {
  if (value < 10_000) return String(value)
  return value < 1e6 ? `${value / 1e3}k` : `${value / 1e6}M`
}

export function xLabel(x: number, text: string): SafeHtml {
  return html`<text class="axis" x="${rounded(x)}" y="${CHART.height - 5}" text-anchor="middle">${text}</text>\n`
}

/** A round number at or above the highest value that the grid divides evenly. */
export function niceTop(highest: number): number {
  if (highest <= GRID_LINES) return GRID_LINES
  const power = 10 ** Math.floor(Math.log10(highest / GRID_LINES))
  const factor = [1, 2, 2.5, 5, 10].find((one) => {
    const line = one * power
    return Number.isInteger(line) && line * GRID_LINES >= highest
  })
  return (factor ?? 10) * power * GRID_LINES
}
