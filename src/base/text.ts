/** Checks of untrusted text. */

/**
 * Returns whether a database can store the text. PostgreSQL rejects NUL, also in a query; half a surrogate pair would
 * be sent as U+FFFD and match the row of another text. Callers may send both.
 */
export function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed()
}

/** Returns whether the text is one line: no control characters, and nothing that a database would change. */
export function isLine(text: string): boolean {
  return text.isWellFormed() && !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(text)
}
