/** What a text may hold that strangers send. */

/**
 * Text that a database can hold. PostgreSQL has none with NUL and refuses to be asked for one; half a surrogate pair
 * would be sent as U+FFFD and find the row of another text. Strangers may send both all the same.
 */
export function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed()
}

/** One line: no control characters, and nothing that a database would store as another text. */
export function isLine(text: string): boolean {
  return text.isWellFormed() && !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(text)
}
