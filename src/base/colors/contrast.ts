/** Colors as WCAG 2.2 measures them: relative luminance, contrast ratio, and mixing. Colors are `#rrggbb`. */

/** WCAG 1.4.3: the smallest ratio for text. */
export const LEAST_TEXT_CONTRAST = 4.5

/** The grounds of our pages that a color of the operator must be readable on, light and dark. */
export const GROUNDS = { light: '#ffffff', dark: '#181c22' } as const

export function isColor(text: string): boolean {
  return /^#[0-9a-f]{6}$/.test(text)
}

/** Returns 1 for equal colors, 21 for black on white. */
export function contrastOf(one: string, other: string): number {
  const [darker = 0, lighter = 0] = [one, other].map(luminance).sort((a, b) => a - b)
  return (lighter + 0.05) / (darker + 0.05)
}

/** `share` of the second color: 0 is the first, 1 the second. */
export function mix(first: string, second: string, share: number): string {
  const a = channels(first)
  const b = channels(second)
  const mixed = a.map((value, i) => Math.round(value + ((b[i] ?? 0) - value) * share))
  return `#${mixed.map((value) => value.toString(16).padStart(2, '0')).join('')}`
}

function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = channels(color).map((value) => {
    const channel = value / 255
    return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

function channels(color: string): readonly number[] {
  return [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16))
}
