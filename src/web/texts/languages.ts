/**
 * The languages of the pages and how a text is looked up. To add a language, write its file beside `en.ts` and name it
 * here: the compiler lists the texts that it lacks. D-342.
 */
import { de } from './de.ts'
import { en, type TextKey } from './en.ts'

/** In their own words, as the switch on the pages shows them. */
export const LANGUAGES = { en: 'English', de: 'Deutsch' } as const
export type Language = keyof typeof LANGUAGES

/** For a caller that accepts none of them. */
export const DEFAULT_LANGUAGE: Language = 'en'

const TEXTS: Readonly<Record<Language, Readonly<Record<TextKey, string>>>> = { en, de }

/** English writes the month as a word, so that it cannot be mistaken for the day. */
const DATE_LOCALES: Readonly<Record<Language, string>> = { en: 'en-GB', de: 'de-DE' }

/** The names in braces. */
type NamesIn<T extends string> = T extends `${string}{${infer Name}}${infer Rest}`
  ? Name | NamesIn<Rest>
  : never

/** The values that a text needs, as an argument list: empty if it has no names in braces. */
export type ValuesOf<K extends TextKey, V> = [NamesIn<(typeof en)[K]>] extends [never]
  ? []
  : [{ readonly [N in NamesIn<(typeof en)[K]>]: V }]

/** The keys without `.one` and `.other`. */
export type CountedKey = TextKey extends infer K
  ? K extends `${infer Base}.one`
    ? Base
    : never
  : never

export interface Texts {
  readonly language: Language
  /** Returns the text, filled in. It is plain text: the page escapes it. */
  say<K extends TextKey>(key: K, ...values: ValuesOf<K, string | number>): string
  /** Returns the form of the text for this count. */
  count(key: CountedKey, count: number): string
  /** Returns the text with its names in braces. */
  template(key: TextKey): string
  /** Returns a time in UTC, because without a script a page does not know the reader's time zone. */
  time(epochMilliseconds: number): string
}

export function textsIn(language: Language): Texts {
  return BY_LANGUAGE[language]
}

export function isTextKey(text: string): text is TextKey {
  return Object.hasOwn(en, text)
}

export function isLanguage(text: string): text is Language {
  return Object.hasOwn(LANGUAGES, text)
}

/** Splits a template at its names: texts are at even positions, names at odd ones. */
export function partsOf(template: string): readonly string[] {
  return template.split(/\{(\w+)\}/)
}

const BY_LANGUAGE: Readonly<Record<Language, Texts>> = { en: create('en'), de: create('de') }

function create(language: Language): Texts {
  const texts = TEXTS[language]
  // Made when they are first needed: they load tables that take time and memory (D-263).
  let plurals: Intl.PluralRules | undefined
  let dates: Intl.DateTimeFormat | undefined
  return {
    language,
    say: (key, ...[values = {}]) => filled(texts[key], values),
    count(key, count) {
      plurals ??= new Intl.PluralRules(language)
      const form = plurals.select(count) === 'one' ? 'one' : 'other'
      return filled(texts[`${key}.${form}`], { count })
    },
    template: (key) => texts[key],
    time(at) {
      dates ??= new Intl.DateTimeFormat(DATE_LOCALES[language], {
        dateStyle: 'medium',
        timeStyle: 'short',
        timeZone: 'UTC',
      })
      return `${dates.format(at)} UTC`
    },
  }
}

function filled(template: string, values: Readonly<Record<string, string | number>>): string {
  return partsOf(template)
    .map((part, i) => (i % 2 === 0 ? part : String(values[part])))
    .join('')
}
