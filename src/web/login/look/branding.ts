/**
 * What the operator puts on the pages: a name, a logo, colors and a link to help. The stylesheets are made once at the
 * start, with their hashes for the content security policy. D-343.
 */
import { contrastOf, GROUNDS, LEAST_TEXT_CONTRAST, mix } from '../../../base/colors/contrast.ts'
import { html, type SafeHtml } from '../html.ts'
import { STYLESHEET } from '../styles.ts'
import { inlineSource } from './inline-source.ts'

/** As configured and checked. */
export interface BrandingSettings {
  readonly name: string | undefined
  readonly logo: { readonly type: LogoType; readonly base64: string } | undefined
  readonly colors: { readonly accent: string | undefined; readonly accentDark: string | undefined }
  readonly support: string | undefined
}

export type LogoType = 'image/png' | 'image/svg+xml'

export interface Branding extends Pick<BrandingSettings, 'name' | 'support'> {
  readonly hasLogo: boolean
  /** Follows the stylesheet of a page. */
  readonly colors: SafeHtml | undefined
  readonly login: Sheet
}

/** A stylesheet and its source for `style-src`. */
export interface Sheet {
  readonly text: SafeHtml
  readonly source: string
}

/** The fixed address of the logo. */
export const LOGO_PATH = '/branding/logo'

export const NO_BRANDING: BrandingSettings = {
  name: undefined,
  logo: undefined,
  colors: { accent: undefined, accentDark: undefined },
  support: undefined,
}

export function brandingOf(settings: BrandingSettings): Branding {
  const { name, logo, support } = settings
  const colors = colorsOf(settings)
  const login = sheetOf(STYLESHEET, colors)
  return { name, support, hasLogo: logo !== undefined, colors, login }
}

export const PLAIN_BRANDING: Branding = brandingOf(NO_BRANDING)

/** Returns the sheet for a branding, which is made once for each. */
export function brandedSheet(stylesheet: SafeHtml): (branding: Branding) => Sheet {
  const sheets = new WeakMap<Branding, Sheet>()
  return (branding) => {
    const sheet = sheets.get(branding) ?? sheetOf(stylesheet, branding.colors)
    sheets.set(branding, sheet)
    return sheet
  }
}

function sheetOf(stylesheet: SafeHtml, colors: SafeHtml | undefined): Sheet {
  const text = colors === undefined ? stylesheet : html`${stylesheet}${colors}`
  return { text, source: inlineSource(text) }
}

/** The colors of text and of buttons under the pointer follow from the accent. */
function colorsOf({ colors }: BrandingSettings): SafeHtml | undefined {
  const { accent } = colors
  if (accent === undefined) return undefined
  const dark = colors.accentDark ?? readableOnDark(accent)
  return html`:root {
  --accent: ${accent};
  --accent-strong: ${mix(accent, '#000000', 0.2)};
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --accent: ${dark};
    --accent-strong: ${mix(dark, '#ffffff', 0.35)};
    --on-accent: #0b0f16;
  }
}
`
}

/** Mixes in white until the color is readable on the dark ground. */
function readableOnDark(accent: string): string {
  const shares = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]
  const candidates = shares.map((share) => mix(accent, '#ffffff', share))
  return (
    candidates.find((color) => contrastOf(color, GROUNDS.dark) >= LEAST_TEXT_CONTRAST + 1) ??
    '#ffffff'
  )
}
