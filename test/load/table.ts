/** The table that the bench prints and saves. */
import type { Spread } from './statistics.ts'

/** What one row of the table is about. */
export interface Row {
  readonly title: string
  readonly measured: Spread
  /** `npop` for ratios to one refresh at node-oidc-provider. */
  readonly unit: string
  readonly target: Target
  /** Server CPU per operation in microseconds, and what else is worth knowing. */
  readonly cpu?: Spread
  readonly note?: string
}

export type Target =
  | { readonly atMost: number }
  | { readonly atLeast: number }
  /** No number: it is shown to be compared with an earlier table. */
  | 'none'

export function isMet({ target, measured }: Pick<Row, 'target' | 'measured'>): boolean | undefined {
  if (target === 'none') return undefined
  return 'atMost' in target ? measured.median <= target.atMost : measured.median >= target.atLeast
}

const HEAD = ['Operation', 'Measured', 'Spread', 'Target', 'Met', 'Server CPU', 'Note']

/** For a terminal. */
export function textTable(rows: readonly Row[]): string {
  const lines = [HEAD, ...rows.map(cellsOf)].map((cells) =>
    cells.map((cell) => cell.replaceAll('`', '')),
  )
  const widths = HEAD.map((_, i) => Math.max(...lines.map((cells) => cells[i]?.length ?? 0)))
  return lines
    .map((cells) =>
      cells
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

export function markdownTable(rows: readonly Row[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(HEAD), line(HEAD.map(() => '---')), ...rows.map((row) => line(cellsOf(row)))].join(
    '\n',
  )
}

function cellsOf(row: Row): readonly string[] {
  const { title, measured, unit, target, cpu, note = '' } = row
  const met = isMet(row)
  return [
    title,
    `${short(measured.median)} ${unit}`,
    `${short(measured.least)}–${short(measured.most)}`,
    describeTarget(target),
    met === undefined ? '' : met ? 'yes' : '**no**',
    cpu === undefined ? '' : describeMicroseconds(cpu.median),
    note,
  ]
}

function describeMicroseconds(value: number): string {
  return value < 1e5 ? `${Math.round(value)} µs` : `${Math.round(value / 1e3)} ms`
}

function describeTarget(target: Target): string {
  if (target === 'none') return ''
  return 'atMost' in target ? `≤ ${target.atMost}` : `≥ ${target.atLeast}`
}

/** Three significant digits at most. */
export function short(value: number): string {
  if (Math.abs(value) >= 100) return String(Math.round(value))
  return String(Number(value.toPrecision(Math.abs(value) < 1 ? 2 : 3)))
}
