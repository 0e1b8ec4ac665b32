/**
 * Cookies of ours on their way through the gateway: the upstream sees none of them, and cannot set them. D-411. Also those
 * of the controller, which may be at another port of the same host: cookies do not tell ports apart (RFC 6265 §8.5).
 */

/** Whether a Cookie field may have one. */
export const mayHaveOwnCookie = (field: string) => /__host-latchkey-/i.test(field)

/** In any case, and also where a browser might read a cookie without a name as one with it: `=NAME=value`. */
export const isOwnCookie = (pair: string) => /^[\s=]*__host-latchkey-/i.test(pair)

/** Returns the Cookie field without them; undefined if nothing else is in it. */
export function withoutOwnCookies(field: string): string | undefined {
  // D-211: a field without our name is not split.
  if (!mayHaveOwnCookie(field)) return field
  const kept = field.split(';').filter((pair) => !isOwnCookie(pair))
  return kept.length === 0 ? undefined : kept.join(';').trim()
}
