/**
 * Draws QR codes, so that a secret is sent to no other service. Black on white with the border of four modules that the
 * standard requires (ISO/IEC 18004), also in dark mode: cameras need it.
 */
import { createRequire } from 'node:module'
import type QrCode from 'qrcode'
import { html, type SafeHtml } from './html.ts'

const require = createRequire(import.meta.url)
/** Loaded when the first code is drawn, which most processes never do (D-263). */
const qrcode = (): typeof QrCode => require('qrcode')

const BORDER = 4

/** The lowest correction level: a screen is never damaged, and fewer modules are easier to scan. */
const LEVEL = { errorCorrectionLevel: 'L' } as const

/** The capacity of version 20 at that level. Larger versions are too fine for a camera in front of a screen. */
const MOST_BYTES = 858

/** Returns an SVG, standalone or for a page; undefined if the text is too long to be scanned. */
export function qrCodeSvg(text: string, label: string): SafeHtml | undefined {
  if (!fits(text)) return undefined
  const { modules } = qrcode().create(text, LEVEL)
  const side = modules.size + 2 * BORDER
  let path = ''
  for (let row = 0; row < modules.size; row += 1) {
    for (let column = 0; column < modules.size; ) {
      const start = column
      while (column < modules.size && modules.get(row, column)) column += 1
      const width = column - start
      if (width === 0) column += 1
      else path += `M${start + BORDER} ${row + BORDER}h${width}v1h-${width}z`
    }
  }
  return html`<svg xmlns="http://www.w3.org/2000/svg" class="qr" viewBox="0 0 ${side} ${side}" role="img" aria-label="${label}" shape-rendering="crispEdges"><path fill="#ffffff" d="M0 0h${side}v${side}H0z"/><path fill="#000000" d="${path}"/></svg>`
}

/** Returns a PNG, for clients that cannot show an SVG (API 3.1). */
export async function qrCodePng(text: string): Promise<Uint8Array | undefined> {
  if (!fits(text)) return undefined
  return qrcode().toBuffer(text, { ...LEVEL, type: 'png', margin: BORDER, scale: 8 })
}

/** For terminals: two rows of modules on a line, black on white whatever the colors of the terminal. */
export function qrCodeLines(text: string): readonly string[] | undefined {
  if (!fits(text)) return undefined
  const { modules } = qrcode().create(text, LEVEL)
  const isDark = (row: number, column: number) =>
    [row, column].every((at) => at >= 0 && at < modules.size) && modules.get(row, column) !== 0
  const lines: string[] = []
  for (let row = -BORDER; row < modules.size + BORDER; row += 2) {
    let line = ''
    for (let column = -BORDER; column < modules.size + BORDER; column += 1) {
      const halves = Number(isDark(row, column)) + 2 * Number(isDark(row + 1, column))
      line += HALVES[halves]
    }
    lines.push(`\u001b[30;107m${line}\u001b[0m`)
  }
  return lines
}

/** Neither, the upper one, the lower one, both. */
const HALVES = [' ', '\u2580', '\u2584', '\u2588']

function fits(text: string): boolean {
  return Buffer.byteLength(text) <= MOST_BYTES
}
