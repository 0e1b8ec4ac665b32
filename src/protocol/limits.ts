/** Lengths that several folders share: the APIs refuse values beyond them, and the service never creates any. */

/** API 1: names, usernames, external ids, and the claim that names an identity. */
export const LONGEST_NAME = 256

/** API 4.2: the longest password that a login hashes, to keep hashing cheap. A new password must be shorter. */
export const LONGEST_PASSWORD = 1024

/** API 4.2, R073: the shortest new password, whatever a policy asks for. */
export const SHORTEST_PASSWORD = 8

/** Longer than a certificate with the CAs above it. */
export const LONGEST_PEM = 64 * 1024

/** The position in a router's feed. */
export const LONGEST_CURSOR = 64

/** What a router confirms: a position with what is missing in it, and its proof. */
export const LONGEST_MARK = 1024

/** How many sessions a router reports with one confirmation. */
export const MOST_REPORTED_SESSIONS = 256

/** D-42: a router without a heartbeat for this long refuses every request. */
export const ROUTER_CUT_OFF_SECONDS = 30

/** D-482: the longest Cookie field of a browser. nginx and Apache refuse one of 8 KiB, and two tabs may add at once. */
export const MOST_COOKIE_OCTETS = 7_500

/** D-482: so much of the newest logins in progress is never deleted to make room. */
export const NEWEST_LOGIN_OCTETS = 1_500
