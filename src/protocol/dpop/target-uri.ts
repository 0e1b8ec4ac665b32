/**
 * The target URI of a request, as DPoP proofs name it: RFC 9449 §4.3 compares `htu` with it after the normalization of
 * RFC 3986 §6.2.2 and §6.2.3, without query and fragment.
 */

/** Longer than any path of ours. */
const LONGEST = 2_048

/** Returns the normalized URI without query and fragment; undefined if the text is not an absolute https URI. */
function normalizedTarget(uri: string): string | undefined {
  if (uri.length > LONGEST) return undefined
  const url = URL.parse(uri)
  // The URL parser folds case, removes the default port and the dot segments, and encodes what must be encoded.
  if (url?.protocol !== 'https:' || url.username !== '' || url.password !== '') return undefined
  return `${url.origin}${normalizedPath(url.pathname)}`
}

export function isSameTarget(a: string, b: string): boolean {
  const target = normalizedTarget(a)
  return target !== undefined && target === normalizedTarget(b)
}

/** RFC 3986 §6.2.2: unreserved characters are not encoded, and hex digits are upper case. */
function normalizedPath(path: string): string {
  return path.replace(/%[0-9a-f]{2}/gi, (encoded) => {
    const character = String.fromCharCode(Number.parseInt(encoded.slice(1), 16))
    return /^[A-Za-z0-9._~-]$/.test(character) ? character : encoded.toUpperCase()
  })
}
