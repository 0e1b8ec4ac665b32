/**
 * Finds cookies by searching the header field directly. The first one of a name counts. Splitting the field would build
 * a list of all pairs for each name, and a field of only semicolons has thirty thousand of them (D-211).
 */
import type { RequestHead } from './header-fields.ts'

type Headers = Pick<RequestHead, 'headers'>

export function cookieOf(head: Headers, name: string): string | undefined {
  for (const rest of cookiesWith(head, `${name}=`)) return rest
  return undefined
}

/** Returns what follows `prefix` in every cookie that starts with it, in the order of the field. */
export function* cookiesWith(head: Headers, prefix: string): Generator<string> {
  const { cookie: field = '' } = head.headers
  for (let at = field.indexOf(prefix); at >= 0; ) {
    const end = field.indexOf(';', at)
    const next = end < 0 ? field.length : end
    if (isStart(field, at)) yield field.slice(at + prefix.length, next).trimEnd()
    // Each pair is examined once, wherever the prefix occurs in it.
    at = field.indexOf(prefix, next)
  }
}

/** Whether there are only blanks between the end of the previous pair and the position. */
function isStart(field: string, position: number): boolean {
  let at = position - 1
  while (at >= 0 && (field[at] === ' ' || field[at] === '\t')) at -= 1
  return at < 0 || field[at] === ';'
}
