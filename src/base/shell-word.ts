/** Quotes words of a command that users paste. POSIX shell quoting; zsh reads it the same way. */

const PLAIN = /^[\w@%+:,./-]+$/

/** Returns the text as one word of a shell command. */
export function shellWord(text: string): string {
  return PLAIN.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
