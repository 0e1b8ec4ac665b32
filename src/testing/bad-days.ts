/**
 * The scenarios of a fake server: what goes wrong, and what a good client does about it. Pure text and order; how each
 * is brought about is in scenarios.ts. docs/testing-clients.md lists the same names (D-326).
 */

export interface BadDay {
  readonly what: string
  /** What a good client does, in one sentence for its author. */
  readonly goodClient: string
}

const CALL = 'The next call of an API is answered with 401 and the challenge'

export const BAD_DAYS = {
  'lost-refresh': {
    what: 'The next refresh succeeds on the server, and its answer is lost on the way.',
    goodClient:
      'It sends the same refresh token again at once, at most twice, and stores the new one before it uses it.',
  },
  'clock-ahead': {
    what: "The server's clock jumps 90 seconds ahead.",
    goodClient:
      'It counts expires_in from when it sent the request, by its own clock, and refreshes when the server calls a token expired.',
  },
  'clock-behind': {
    what: "The server's clock jumps 90 seconds back.",
    goodClient: 'It goes on: it never compares a time of the server with its own clock.',
  },
  'key-rotation': {
    what: 'The signing keys are replaced and the old ones withdrawn: every token that was signed with them is invalid.',
    goodClient:
      'It refreshes once when its token is called invalid, and fetches the keys again for a kid that it does not know.',
  },
  'challenge-missing': {
    what: `${CALL} "missing" for a token: as if the credential had been dropped on the way.`,
    goodClient: 'It reports that the user is not logged in, and does not repeat the call.',
  },
  'challenge-expired': {
    what: `${CALL} "expired" for its bearer token.`,
    goodClient: 'It refreshes, once, and repeats the call, once.',
  },
  'challenge-invalid': {
    what: `${CALL} "invalid" for its bearer token.`,
    goodClient:
      'It refreshes, once, and repeats the call, once: the key may have been withdrawn. After that it asks for a new login.',
  },
  'challenge-zt-session': {
    what: `${CALL} "invalid" for a zt-session.`,
    goodClient: 'A client with a legacy session asks for a new login.',
  },
  'challenge-primary-jwt': {
    what: `${CALL} "missing" for a primary external JWT, with the id and the issuer of the signer.`,
    goodClient: 'It reports that a login with a JWT of that issuer is needed.',
  },
  'challenge-primary-jwt-expired': {
    what: `${CALL} "expired" for a primary external JWT.`,
    goodClient: 'It gets a fresh JWT of that issuer, and logs in again with it.',
  },
  'challenge-primary-jwt-invalid': {
    what: `${CALL} "invalid" for a primary external JWT.`,
    goodClient: 'It reports that the JWT of that issuer is refused, and does not send it again.',
  },
  'challenge-secondary-jwt': {
    what: `${CALL} "missing" for a secondary external JWT, with the id and the issuer of the signer.`,
    goodClient:
      'It gets a JWT of that issuer, sends it as a second bearer token, and repeats the call once.',
  },
  'challenge-secondary-jwt-expired': {
    what: `${CALL} "expired" for a secondary external JWT.`,
    goodClient:
      'It gets a fresh JWT of that issuer, and repeats the call once; its session and its refresh token are good.',
  },
  'challenge-secondary-jwt-invalid': {
    what: `${CALL} "invalid" for a secondary external JWT.`,
    goodClient: 'It reports which issuer it needs a JWT of, and does not send the same one again.',
  },
  'second-factor': {
    what: 'The policy demands TOTP from now on, also of sessions that are alive.',
    goodClient:
      'It refreshes, is refused with invalid_grant, and asks for a new login, in which the user enrolls an app or enters a code.',
  },
  'rate-limited': {
    what: 'The next request is answered with 429 and Retry-After: 1.',
    goodClient:
      'It waits for Retry-After or tells the program to, keeps the session, and does not count it as a failed login.',
  },
  unavailable: {
    what: 'The next request is answered with 503 and Retry-After: 1.',
    goodClient:
      'It waits for Retry-After or tells the program to, and uses a token that is still valid meanwhile.',
  },
  slow: {
    what: 'The next answer takes three seconds.',
    goodClient:
      'It waits, up to a limit of its own, and does not send a change a second time meanwhile.',
  },
  cut: {
    what: 'The next answer of an API breaks off in the middle.',
    goodClient: 'It uses nothing of the half, and repeats only what may be repeated.',
  },
  'expired-ca': {
    what: 'The server shows a certificate whose CA expired yesterday.',
    goodClient: 'It refuses the connection, sends nothing, and has no option to go on.',
  },
  'restored-backup': {
    what: 'The server is restored from a backup of its first minute: every session has ended.',
    goodClient:
      'It refreshes once, is refused, and asks for a new login; it does not try the old tokens again.',
  },
} as const satisfies Record<string, BadDay>

export type ScenarioName = keyof typeof BAD_DAYS

export const SCENARIO_NAMES = Object.keys(BAD_DAYS) as readonly ScenarioName[]

export function isScenarioName(text: string): text is ScenarioName {
  return Object.hasOwn(BAD_DAYS, text)
}
