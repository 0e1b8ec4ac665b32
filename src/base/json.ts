/**
 * Reading JSON from strangers: bounded depth (D-44), and no member named twice, because two readers would
 * choose differently (R014, R059).
 */

const OTHER = /[^"[\]{},]+/y

/** The value of a JSON text; undefined when it is none, is nested too deeply or repeats a member. */
export function parseJson(text: string, deepest: number): { readonly value: unknown } | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  return isTame(text, deepest) ? { value } : undefined
}

/** Walks a text that is known to be JSON, so it need only look at brackets, commas and strings. */
function isTame(text: string, deepest: number): boolean {
  /** One entry for each open bracket: the member names so far, or undefined for an array. */
  const open: (Set<string> | undefined)[] = []
  let expectsName = false
  for (let at = 0; at < text.length; ) {
    const character = text[at]
    if (character === '"') {
      const end = endOfString(text, at)
      const names = open.at(-1)
      if (names !== undefined && expectsName) {
        const name = JSON.parse(text.slice(at, end)) as string
        if (names.has(name)) return false
        names.add(name)
        expectsName = false
      }
      at = end
    } else if (character === '{' || character === '[') {
      if (open.push(character === '{' ? new Set() : undefined) > deepest) return false
      expectsName = character === '{'
      at += 1
    } else if (character === '}' || character === ']') {
      open.pop()
      expectsName = false
      at += 1
    } else if (character === ',') {
      expectsName = open.at(-1) !== undefined
      at += 1
    } else {
      OTHER.lastIndex = at
      at += OTHER.exec(text)?.[0].length ?? 1
    }
  }
  return true
}

/**
 * Where the string that begins at `start` has ended. Not a RegExp: those give up on strings of some
 * megabytes.
 */
function endOfString(text: string, start: number): number {
  let at = start + 1
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1
  return at + 1
}
