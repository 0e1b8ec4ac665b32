/**
 * What every event means, in the sentences of the domain, and what an administrator can do about it on the command line:
 * for `explain`. API 4.8.
 */
import type { EventType } from '../../../domain/audit/events.ts'
import type {
  DeviceRefusalReason,
  EnrollmentRefusalReason,
  LoginFailureReason,
  SessionEndReason,
  TokenRefusalReason,
} from '../../../domain/audit/reasons.ts'
import { whatHappened } from '../../../domain/audit/what-happened.ts'

export interface Meaning {
  readonly what: string
  /** Missing if there is nothing to do. IDENTITY and USERNAME stand for those of the event, other capitals for any. */
  readonly todo?: string
}

/** Undefined for types of a newer server. */
export function meaningOf(type: string, reason: string | null): Meaning | undefined {
  const happened = whatHappened(type, reason)
  if (happened === undefined) return undefined
  const { sentence: what, reason: why } = happened
  const todo =
    why === undefined
      ? ABOUT_TYPES.get(type)
      : (ABOUT_REASONS as Readonly<Record<string, Readonly<Record<string, string>>>>)[type]?.[why]
  return { what, ...(todo === undefined ? {} : { todo }) }
}

const ISSUE_CERTIFICATE = 'Give the identity a certificate that is for client authentication.'
const CA_ENABLE = 'Enable it: latchkey update ca NAME --auth'
const CA_VERIFY = 'Verify it: latchkey ca verify NAME --cert FILE'
const LOGIN_AGAIN = 'The user logs in again.'
const ENABLE = 'Enable it, if that is right: latchkey enable identity IDENTITY'
const CHECK_JWT = 'See which step fails: latchkey signer check SIGNER --jwt FILE'
const UNLOCK =
  'Wait for the end of the lock, sign in on a known device, or: latchkey unlock USERNAME'
const STOLEN =
  'An attacker has a copy. Find out where it was stored. The session has ended; the user must log in again.'

const CERTIFICATES = {
  'no-certificate':
    'The client must present its certificate; a proxy that ends TLS on the way may have removed it.',
  'certificate-untrusted':
    'Register and verify its CA, or enroll the identity: latchkey create ca, latchkey create enrollment',
  'certificate-expired':
    'Enroll the identity again: latchkey create enrollment --identity IDENTITY',
  'certificate-not-yet-valid': 'Compare the clocks of the two machines.',
  'certificate-wrong-usage': ISSUE_CERTIFICATE,
  'certificate-is-ca': ISSUE_CERTIFICATE,
  'certificate-of-session': 'The client must use the certificate that it enrolled with.',
  'ca-disabled': CA_ENABLE,
  'ca-unverified': CA_VERIFY,
}

type About<Reason extends string> = { readonly [One in Reason]?: string }

/** What to do about a reason, if there is something to do. */
const ABOUT_REASONS: {
  readonly 'login.failed': About<LoginFailureReason>
  readonly 'device.refused': About<DeviceRefusalReason>
  readonly 'token.refused': About<TokenRefusalReason>
  readonly 'session.ended': About<SessionEndReason>
  readonly 'enrollment.refused': About<EnrollmentRefusalReason>
} = {
  'login.failed': {
    ...CERTIFICATES,
    'identity-disabled': ENABLE,
    'method-not-allowed':
      'Change the policy, or give the identity another: latchkey update identity IDENTITY --policy NAME',
    'unknown-username': 'Compare it with: latchkey list authenticators',
    'wrong-password':
      'If it is forgotten, create a link for a new one: latchkey reset password IDENTITY',
    'password-locked': UNLOCK,
    'certificate-expired':
      'Enroll the identity again, or: latchkey update policy NAME --allow-expired-certs',
    'certificate-unknown':
      'Give it to one: latchkey create authenticator --identity IDENTITY --cert FILE',
    'jwt-missing': 'The client must send one in the Authorization header.',
    'jwt-expired': 'The client must fetch a new one.',
    'jwt-invalid': CHECK_JWT,
    'signer-unknown': 'Compare its iss with: latchkey list signers',
    'signer-disabled': 'Enable it: latchkey update signer NAME --enabled',
    'signer-not-allowed':
      'Allow it: latchkey update policy NAME --signer NAME (for all that are allowed)',
    'identity-unknown':
      'Set it: latchkey update identity IDENTITY --external-id VALUE. It must match exactly.',
    'idp-refused': 'Its own log says why; the registration of this service there may be wrong.',
    'idp-unreachable': 'See the last error: latchkey get signer NAME',
    'secondary-jwt-missing': 'The client must send one of the signer that the policy names.',
    'secondary-jwt-expired': 'The client must fetch a new one.',
    'secondary-jwt-invalid': CHECK_JWT,
    'wrong-code': 'Compare the clock of the phone. If it is lost: latchkey reset mfa IDENTITY',
    'too-many-codes': 'The user starts again. If the phone is lost: latchkey reset mfa IDENTITY',
  },
  'device.refused': {
    'unknown-user-code':
      'The user compares the code with the device, or starts again there. If there are many, someone guesses: latchkey events --identity IDENTITY',
  },
  'token.refused': {
    'identity-disabled': ENABLE,
    'method-not-allowed': 'The user logs in another way, or you change the policy.',
    'signer-disabled': 'Enable it: latchkey update signer NAME --enabled',
    'ca-disabled': CA_ENABLE,
    'certificate-untrusted':
      'Register its successor, and give the identity a certificate of that one.',
    'certificate-unknown': 'Compare the certificate with: latchkey get ca NAME',
    'certificate-expired':
      'Renew or enroll it, then log in again; or: latchkey update policy NAME --allow-expired-certs',
    'login-voided': LOGIN_AGAIN,
    'authenticator-removed': LOGIN_AGAIN,
    'more-demanded': LOGIN_AGAIN,
    'code-expired': 'The client must exchange it at once; compare its clock and its speed.',
    'code-spent': 'The client must exchange it once. If it does, an attacker has seen the code.',
    'client-mismatch': 'The client must send the same client id in both calls.',
    'redirect-uri-mismatch': 'The client must send the same in both calls, the port included.',
    'redirect-uri-withdrawn': 'If the router is still yours, enable it or give it the host again.',
    'verifier-mismatch':
      'The client must send the verifier of the same login. If it does, an attacker has seen the code.',
    'refresh-token-expired': LOGIN_AGAIN,
    'refresh-token-spent':
      'A double click, or a lost response: the client must keep the latest token.',
    'session-ended': LOGIN_AGAIN,
  },
  'session.ended': {
    'code-reused': STOLEN,
    'refresh-token-reused': STOLEN,
    'identity-disabled': ENABLE,
    'authenticator-removed': 'The user logs in with another one, or enrolls again.',
    'identity-changed': LOGIN_AGAIN,
    'credential-changed': LOGIN_AGAIN,
    'password-reset': LOGIN_AGAIN,
    'mfa-reset': LOGIN_AGAIN,
    'certificate-replaced': LOGIN_AGAIN,
  },
  'enrollment.refused': {
    ...CERTIFICATES,
    'token-unknown': 'Create another: latchkey create enrollment --identity IDENTITY',
    'token-expired': 'Give it a new token: latchkey update enrollment IDENTITY',
    'token-used':
      'If it was not its holder: delete the authenticator, and look at: latchkey events --identity IDENTITY',
    'identity-disabled': ENABLE,
    'ca-disabled': 'Enable it: latchkey update ca NAME --ott-enrollment (or --auto-enrollment)',
    'external-id-missing': 'Compare the certificate with: latchkey get ca NAME',
  },
}

const ABOUT_TYPES: ReadonlyMap<string, string> = new Map<EventType, string>([
  ['login.locked', UNLOCK],
  [
    'device.approved',
    'If the user did not start this sign-in, they were tricked: latchkey end sessions --identity IDENTITY',
  ],
  [
    'device.denied',
    'If the user did not start this sign-in, someone tried to trick them; the address is in the details.',
  ],
  ['token.reused', STOLEN],
])
