import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ACCOUNT_STYLESHEET } from '../account/styles.ts'
import { STYLESHEET } from './styles.ts'

type Palette = ReadonlyMap<string, string>

function palettes(): { light: Palette; dark: Palette } {
  const [light, dark] = [...STYLESHEET.toString().matchAll(/:root \{(.*?)\}/gs)].map(
    ([, body = '']) =>
      new Map(
        [...body.matchAll(/--([a-z-]+): (#[0-9a-f]{6});/g)].map(([, name = '', hex = '']) => [
          name,
          hex,
        ]),
      ),
  )
  assert.ok(light !== undefined && dark !== undefined)
  return { light, dark }
}

/** WCAG 2.2, relative luminance and contrast ratio. */
function contrast(palette: Palette, first: string, second: string): number {
  const [darker = 0, lighter = 0] = [first, second]
    .map((name) => {
      const hex = palette.get(name)
      assert.ok(hex !== undefined, name)
      const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
        const channel = Number.parseInt(hex.slice(at, at + 2), 16) / 255
        return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4
      })
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue
    })
    .sort((a, b) => a - b)
  return (lighter + 0.05) / (darker + 0.05)
}

test('text has a contrast of at least 4.5, light and dark (WCAG 1.4.3)', () => {
  const texts = [
    ['ink', 'card'],
    ['ink', 'field'],
    ['ink', 'ground'],
    ['quiet', 'card'],
    ['accent', 'card'],
    ['accent-strong', 'card'],
    ['on-accent', 'accent'],
    ['on-accent', 'accent-strong'],
    ['alert', 'alert-ground'],
    ['alert', 'card'],
  ] as const
  for (const [scheme, palette] of Object.entries(palettes())) {
    for (const [text, ground] of texts) {
      const ratio = contrast(palette, text, ground)
      assert.ok(ratio >= 4.5, `${scheme}: ${text} on ${ground} has ${ratio.toFixed(2)}`)
    }
  }
})

test('borders of fields, the button and the focus ring have at least 3 (WCAG 1.4.11)', () => {
  for (const [scheme, palette] of Object.entries(palettes())) {
    for (const part of ['line', 'accent', 'accent-strong']) {
      const ratio = contrast(palette, part, 'card')
      assert.ok(ratio >= 3, `${scheme}: ${part} on the card has ${ratio.toFixed(2)}`)
    }
  }
})

test('dark mode redefines every colour', () => {
  const { light, dark } = palettes()
  assert.deepEqual([...dark.keys()], [...light.keys()])
})

test('nothing moves, so users do not have to ask for less motion (WCAG 2.3.3)', () => {
  for (const sheet of [STYLESHEET, ACCOUNT_STYLESHEET]) {
    assert.doesNotMatch(sheet.toString(), /transition|animation|@keyframes|scroll-behavior/)
  }
})
