/** Reads the fields of the console's own forms. Only our pages send them, so an invalid field counts as missing. */
import type { Fields } from '../../reading/fields.ts'

/** The longest text in a form: a PEM certificate, or a token. */
const LONGEST = 65_536

/** Returns the first value; empty if it is missing or too long. */
export function textIn(fields: Fields, name: string): string {
  const [value] = fields.get(name) ?? []
  return typeof value === 'string' && value.length <= LONGEST ? value : ''
}

export function textsIn(fields: Fields, name: string): readonly string[] {
  return (fields.get(name) ?? []).filter((value) => typeof value === 'string')
}

/** Each line without blanks at its ends; empty ones are left out. */
export function linesIn(text: string): readonly string[] {
  return text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '')
}

/** A number as the API wants it; other text stays text, which the API refuses. */
export function wholeIn(text: string): number | string {
  return /^\d{1,7}$/.test(text) ? Number(text) : text
}

export function isChecked(fields: Fields, name: string): boolean {
  return textIn(fields, name) === 'yes'
}

/** Reads the fields of a form that has a field for each member of `blank`, of the same kind. */
export function valuesLike<Values extends object>(blank: Values, fields: Fields): Values {
  const values = Object.entries(blank).map(([name, value]) => {
    if (typeof value === 'boolean') return [name, isChecked(fields, name)]
    return [name, Array.isArray(value) ? textsIn(fields, name) : textIn(fields, name)]
  })
  return Object.fromEntries(values)
}
