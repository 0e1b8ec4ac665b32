/**
 * The path of a request, as the servers behind the gateway may read it. D-401: a gateway that chooses by path must not
 * read a path differently from the upstream, which may decode it, merge slashes, drop parameters or ignore case.
 * RFC 3986 §6.2.2.
 */
import { isUtf8 as isUtf8Bytes } from 'node:buffer'

export interface RequestPath {
  /** As the client wrote them, compared exactly. */
  readonly segments: readonly string[]
  /**
   * As the most lenient server would read them: decoded, without parameters and empty segments, in lower case, and
   * without the dots and spaces at the end that Windows drops.
   */
  readonly lenient: readonly string[]
  /** Why a server might leave the prefix that the path seems to have; undefined for an ordinary path. */
  readonly fault: string | undefined
}

/** How often a chain of servers may decode. What is encoded more often is a fault. */
const DECODINGS = 3

/** `target` is in origin-form: a path, perhaps with a query. */
export function readPath(target: string): RequestPath {
  const [path = ''] = target.split('?', 1)
  const decoded = decodeFully(path)
  const lenient = decoded.text
    .replaceAll('\\', '/')
    .split('/')
    // `?` and `#` can only have been encoded; a server that parses again after decoding ends the path there.
    .map((segment) => (segment.split(/[;?#]/, 1)[0] ?? '').trimEnd().toLowerCase())
    .filter((segment) => segment !== '')
  const isMoving = lenient.some((segment) => segment === '.' || segment === '..')
  return {
    segments: path.split('/').slice(1),
    lenient: lenient.map(withoutEnd),
    fault: decoded.fault ?? (isMoving ? 'its path has dot segments' : undefined),
  }
}

/** Without dots and spaces at its end. A loop: a pattern for it takes seconds for thirty thousand dots and a letter. */
function withoutEnd(segment: string): string {
  let end = segment.length
  while (segment[end - 1] === '.' || segment[end - 1] === ' ') end -= 1
  return end === 0 ? segment : segment.slice(0, end)
}

/** Returns whether the path is the prefix or below it. The segments of a prefix are plain. */
export function isBelow(segments: readonly string[], prefix: readonly string[]): boolean {
  return prefix.every((segment, index) => segments[index] === segment)
}

/** Returns the segments of a prefix of the settings; undefined unless it is plain: `/`, or `/a/b` with or without `/`. */
export function readPrefix(path: string): readonly string[] | undefined {
  const segments = path.split('/').slice(1)
  if (segments.at(-1) === '') segments.pop()
  const isPlain = path.startsWith('/') && segments.every((one) => PLAIN_SEGMENT.test(one))
  return isPlain && !segments.some((one) => one === '.' || one === '..') ? segments : undefined
}

const PLAIN_SEGMENT = /^[A-Za-z0-9._~!$&'()*+,=:@-]+$/

interface Decoded {
  readonly text: string
  readonly fault: string | undefined
}

function decodeFully(path: string): Decoded {
  let text = path
  let isUtf8 = true
  for (let round = 0; round < DECODINGS && ESCAPE.test(text); round += 1) {
    text = text
      .replace(/%u([0-9a-f]{4})/gi, (_, hex: string) =>
        String.fromCharCode(Number.parseInt(hex, 16)),
      )
      .replace(/(?:%[0-9a-f]{2})+/gi, (escapes) => {
        const bytes = Buffer.from(escapes.replaceAll('%', ''), 'hex')
        // Servers differ on an overlong slash.
        isUtf8 &&= isUtf8Bytes(bytes)
        return bytes.toString('utf8')
      })
  }
  // Some servers replace characters that look alike, such as the full-width slash.
  text = text.normalize('NFKC')
  if (!isUtf8) return { text, fault: 'its path is not UTF-8' }
  if (ESCAPE.test(text)) return { text, fault: 'its path is encoded too often' }
  return { text, fault: CONTROL.test(text) ? 'its path has control characters' : undefined }
}

/** `%uXXXX` is an old form that only some servers decode. */
const ESCAPE = /%(?:[0-9a-f]{2}|u[0-9a-f]{4})/i

// biome-ignore lint/suspicious/noControlCharactersInRegex: it is about them
const CONTROL = /[\u0000-\u001f\u007f]/
