/**
 * How pages are shown to the reader of one request: in which language, with whose branding, and where the
 * switch of languages leads. Every
 * page takes one as its first argument. D-342, D-343.
 */

import type { TextKey } from '../texts/en.ts'
import { type Language, partsOf, type Texts, textsIn, type ValuesOf } from '../texts/languages.ts'
import { type HtmlValue, html, type SafeHtml } from './html.ts'
import { type Branding, PLAIN_BRANDING } from './look/branding.ts'

export interface SigningIn {
  readonly to:
    | { readonly kind: 'account' | 'console' }
    /** A device elsewhere, which waits for the user's approval (RFC 8628). */
    | { readonly kind: 'otherDevice' }
    /** An application on the user's own device, which any program there could be. */
    | { readonly kind: 'device' }
    | { readonly kind: 'site'; readonly host: string }
  /** The name of the identity, once its first factor is proven. */
  readonly as?: { readonly name: string; readonly authRequestId: string }
}

export interface Presentation extends Texts {
  /** Like `say`, for values that are markup. Everything else in it is escaped. */
  fill<K extends TextKey>(key: K, ...values: ValuesOf<K, HtmlValue>): SafeHtml
  /** The address that shows this page again with GET; undefined if only a POST shows it. */
  readonly address: string | undefined
  readonly branding: Branding
  /** On the pages of a login: who is signing in to what. */
  readonly signingIn?: SigningIn
}

export function presentationIn(
  language: Language,
  { address, branding = PLAIN_BRANDING }: Partial<Pick<Presentation, 'address' | 'branding'>> = {},
): Presentation {
  const texts = textsIn(language)
  return {
    ...texts,
    address,
    branding,
    fill: (key, ...[values = {}]) => filled(texts.template(key), values),
  }
}

function filled(template: string, values: Readonly<Record<string, HtmlValue>>): SafeHtml {
  return html`${partsOf(template).map((part, i) => (i % 2 === 0 ? part : values[part]))}`
}
