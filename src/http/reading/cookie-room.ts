/**
 * Keeps the cookies of a browser below what proxies refuse. D-482. Everything that our pages set is counted, and what
 * others at the host have set: browsers send all of it in one field.
 */
import { MOST_COOKIE_OCTETS, NEWEST_LOGIN_OCTETS } from '../../protocol/limits.ts'
import { cookiesWith } from './cookies.ts'

const PREFIX = '__Host-latchkey-'

/** Logins in progress: of our own pages and of a gateway, and those of applications, also while they are at an IdP. */
const LOGIN = /^(?:[a-z-]+-login-[\w-]{16,22}|[\w-]{22}|(?:idp|primary)-[\w-]{22}-\d)=/
/** The key of the auth request that a cookie belongs to. */
const keyIn = (pair: string) => /^(?:idp-|primary-)?([\w-]{22})(?:-\d)?=/.exec(pair)?.[1]
/** What was typed into a form (D-481). */
const isInput = (pair: string) => /^[a-z-]+-input=/.test(pair)
/** Input waits for a login, so it has room only together with one. */
const ROOM_FOR_LOGIN = 500

/** nginx takes 4 KiB of the header of a response (`proxy_buffer_size`); the rest is for the other fields. */
const MOST_SET_OCTETS = 3_400
/** A line that deletes a login, at most. */
const DELETION_OCTETS = 120

/** `; ` between two pairs. */
const BETWEEN = 2

/** Returns the names of the cookies that must go, so that the browser has room for the lines that a response sets. */
export function cookiesWithoutRoom(
  head: Parameters<typeof cookiesWith>[0],
  lines: readonly string[],
): readonly string[] {
  const { cookie: field = '' } = head.headers
  const added = lines.map((line) => line.slice(PREFIX.length, line.indexOf(';')))
  if (field.length + octetsOf(added) + ROOM_FOR_LOGIN <= MOST_COOKIE_OCTETS) return []
  const names = new Set(added.map(nameOf))
  const sent = [...cookiesWith(head, PREFIX)]
  const replaced = sent.filter((pair) => names.has(nameOf(pair)))
  const others = sent.filter((pair) => !names.has(nameOf(pair)))
  // Deleting a cookie sets an empty one.
  const kept = added.filter((pair) => !pair.endsWith('='))
  const room = kept.some(isInput) ? ROOM_FOR_LOGIN : 0
  let excess = field.length - octetsOf(replaced) + octetsOf(kept) + room - MOST_COOKIE_OCTETS
  let left = MOST_SET_OCTETS - lines.reduce((sum, line) => sum + line.length, 0)
  const dropped: string[] = []
  const keys = new Set(kept.map(keyIn))
  // The user is at this login, however old it is: it must not lose its other cookies.
  const isOther = (pair: string) => !keys.has(keyIn(pair) ?? '')
  for (const pair of [
    ...oldLogins(others).filter(isOther),
    ...[...others, ...kept].filter(isInput),
  ]) {
    left -= DELETION_OCTETS
    if (excess > 0 && (left >= 0 || isInput(pair))) {
      excess -= octetsOf([pair])
      dropped.push(`${PREFIX}${nameOf(pair)}`)
    }
  }
  return dropped
}

/** Without the newest, which a user may be about to finish. Browsers send the oldest first (RFC 6265 §5.4). */
function oldLogins(pairs: readonly string[]): readonly string[] {
  let newest = NEWEST_LOGIN_OCTETS
  return pairs
    .filter((pair) => LOGIN.test(pair))
    .toReversed()
    .filter((pair) => {
      newest -= octetsOf([pair])
      return newest < 0
    })
    .toReversed()
}

const nameOf = (pair: string) => pair.split('=', 1)[0] ?? ''

const octetsOf = (pairs: readonly string[]) =>
  pairs.reduce((sum, pair) => sum + PREFIX.length + pair.length + BETWEEN, 0)
