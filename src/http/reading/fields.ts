/** Reads single fields of a login body, JSON or form: present once, a string, not too long. D-4, D-12, D-45. */
import { Secret } from '../../base/secrets/secret.ts'
import type { PasswordCredentials } from '../../domain/factors/passwords/password.ts'
import { invalid } from '../../domain/refusals.ts'
import { LONGEST_NAME, LONGEST_PASSWORD } from '../../protocol/limits.ts'

export type Fields = ReadonlyMap<string, readonly unknown[]>

export function textField(fields: Fields, name: string, longest: number): string {
  const [value, ...others] = fields.get(name) ?? []
  if (others.length > 0) throw invalid(name, 'is repeated')
  if (value === undefined || value === '') throw invalid(name, 'is missing')
  if (typeof value !== 'string') throw invalid(name, 'must be a text')
  if (value.length > longest) throw invalid(name, `must have at most ${longest} characters`)
  return value
}

/** Longer than any code; a shorter invalid value is treated as a wrong code (D-18). */
export const LONGEST_CODE = 64

export function codeField(fields: Fields): string {
  return textField(fields, 'code', LONGEST_CODE)
}

/** D-12: the error names the missing field, and does not count as a failed login. */
export function passwordCredentials(fields: Fields): PasswordCredentials {
  const username = textField(fields, 'username', LONGEST_NAME)
  return { username, password: passwordField(fields) }
}

export function passwordField(fields: Fields): Secret {
  return new Secret(textField(fields, 'password', LONGEST_PASSWORD))
}

/** A repeatable field: repeated in a form, a list in JSON. */
export function textList(fields: Fields, name: string): readonly string[] {
  const values = fields.get(name) ?? []
  return values.flat().map((value) => {
    if (typeof value !== 'string') throw invalid(name, 'must be texts')
    return value
  })
}
