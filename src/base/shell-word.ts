/** Words of a command that is printed for people to paste. POSIX shell quoting; zsh reads it the same way. */

const PLAIN = /^[\w@%+:,./-]+$/

/** The text as one word of a shell command. */
export function shellWord(text: string): string {
  return PLAIN.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
