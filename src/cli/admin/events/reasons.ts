/**
 * What every event means and what to do about it, in plain words, for `explain` and `events`. docs/audit.md lists the
 * same types and reasons briefly; a test checks that none is missing here. API 4.8.
 */

export interface Meaning {
  readonly what: string
  /** Missing if there is nothing to do. IDENTITY and USERNAME stand for those of the event, other capitals for any. */
  readonly todo?: string
}

/** Undefined for types and reasons of a newer server. */
export function meaningOf(type: string, reason: string | null): Meaning | undefined {
  if (reason === null) return TYPES[type]
  return REASONS[type]?.[reason] ?? TYPES[type]
}

const ISSUE_CERTIFICATE = 'Give the identity a certificate that is for client authentication.'
const CA_ENABLE = 'Enable it: latchkey update ca NAME --auth'
const CA_VERIFY = 'Verify it: latchkey ca verify NAME --cert FILE'
const LOGIN_AGAIN = 'The user logs in again.'
const ENABLE = 'Enable it, if that is right: latchkey enable identity IDENTITY'
const CHECK_JWT = 'See which step fails: latchkey signer check SIGNER --jwt FILE'
const STOLEN =
  'An attacker has a copy. Find out where it was stored. The session has ended; the user must log in again.'

const CERTIFICATES: Readonly<Record<string, Meaning>> = {
  'no-certificate': {
    what: 'The connection showed no client certificate.',
    todo: 'The client must present its certificate; a proxy that ends TLS on the way may have removed it.',
  },
  'certificate-untrusted': {
    what: 'The certificate does not lead to a CA that is accepted here.',
    todo: 'Register and verify its CA, or enroll the identity: latchkey create ca, latchkey create enrollment',
  },
  'certificate-expired': {
    what: 'The certificate has expired.',
    todo: 'Enroll the identity again: latchkey create enrollment --identity IDENTITY',
  },
  'certificate-not-yet-valid': {
    what: 'The certificate is not valid yet.',
    todo: 'Compare the clocks of the two machines.',
  },
  'certificate-wrong-usage': {
    what: 'The certificate is not for client authentication.',
    todo: ISSUE_CERTIFICATE,
  },
  'certificate-is-ca': {
    what: 'The certificate is that of a CA, which cannot log in.',
    todo: ISSUE_CERTIFICATE,
  },
  'certificate-of-session': {
    what: 'The certificate belongs to an API session, which cannot log in.',
    todo: 'The client must use the certificate that it enrolled with.',
  },
  'ca-disabled': { what: 'The CA of the certificate is not enabled for this.', todo: CA_ENABLE },
  'ca-unverified': {
    what: 'The CA of the certificate has not proven that it has its key.',
    todo: CA_VERIFY,
  },
}

export const REASONS: Readonly<Record<string, Readonly<Record<string, Meaning>>>> = {
  'login.failed': {
    ...CERTIFICATES,
    'identity-disabled': { what: 'The identity is disabled.', todo: ENABLE },
    'identity-missing': { what: 'The identity of the credential is gone.' },
    'method-not-allowed': {
      what: 'The policy of the identity does not allow this way to log in.',
      todo: 'Change the policy, or give the identity another: latchkey update identity IDENTITY --policy NAME',
    },
    'unknown-username': {
      what: 'No identity has this username.',
      todo: 'Compare it with: latchkey list authenticators',
    },
    'wrong-password': {
      what: 'The password is wrong.',
      todo: 'If it is forgotten, set another: latchkey update authenticator USERNAME --password-file FILE',
    },
    'password-locked': {
      what: 'The password is locked, after too many failures in a row.',
      todo: 'Wait for the end of the lock, sign in on a known device, or: latchkey unlock USERNAME',
    },
    'certificate-expired': {
      what: 'The certificate has expired, and the policy does not allow that.',
      todo: 'Enroll the identity again, or: latchkey update policy NAME --allow-expired-certs',
    },
    'certificate-unknown': {
      what: 'The certificate is valid, but belongs to no identity.',
      todo: 'Give it to one: latchkey create authenticator --identity IDENTITY --cert FILE',
    },
    'jwt-missing': {
      what: 'The request has no external JWT.',
      todo: 'The client must send one in the Authorization header.',
    },
    'jwt-expired': {
      what: 'The external JWT has expired.',
      todo: 'The client must fetch a new one.',
    },
    'jwt-invalid': {
      what: 'The signature, issuer, audience, times or claim of the external JWT is wrong.',
      todo: CHECK_JWT,
    },
    'signer-unknown': {
      what: 'The issuer of the external JWT is not known here.',
      todo: 'Compare its iss with: latchkey list signers',
    },
    'signer-disabled': {
      what: 'The signer of the external JWT is disabled.',
      todo: 'Enable it: latchkey update signer NAME --enabled',
    },
    'signer-not-allowed': {
      what: 'The policy of the identity does not allow this signer.',
      todo: 'Allow it: latchkey update policy NAME --signer NAME (for all that are allowed)',
    },
    'identity-unknown': {
      what: 'The claim of the external JWT names no identity.',
      todo: 'Set it: latchkey update identity IDENTITY --external-id VALUE. It must match exactly.',
    },
    'idp-refused': {
      what: 'The identity provider sent the browser back without a token.',
      todo: 'Its own log says why; the registration of this service there may be wrong.',
    },
    'idp-unreachable': {
      what: 'The identity provider could not be reached.',
      todo: 'See the last error: latchkey get signer NAME',
    },
    'secondary-jwt-missing': {
      what: 'The policy also demands an external JWT, and the request has none.',
      todo: 'The client must send one of the signer that the policy names.',
    },
    'secondary-jwt-expired': {
      what: 'The external JWT that the policy also demands has expired.',
      todo: 'The client must fetch a new one.',
    },
    'secondary-jwt-invalid': {
      what: 'The external JWT that the policy also demands is not valid, or belongs to another identity.',
      todo: CHECK_JWT,
    },
    'wrong-code': {
      what: 'The TOTP or recovery code is wrong.',
      todo: 'Compare the clock of the phone. If it is lost: latchkey mfa remove IDENTITY',
    },
    'too-many-codes': {
      what: 'Too many codes were wrong; this login is over.',
      todo: 'The user starts again. If the phone is lost: latchkey mfa remove IDENTITY',
    },
  },
  'token.refused': {
    'identity-missing': { what: 'The identity is gone.' },
    'identity-disabled': { what: 'The identity is disabled.', todo: ENABLE },
    'method-not-allowed': {
      what: 'The policy no longer allows the method of the login.',
      todo: 'The user logs in another way, or you change the policy.',
    },
    'signer-disabled': {
      what: 'The signer of the login is gone or disabled.',
      todo: 'Enable it: latchkey update signer NAME --enabled',
    },
    'ca-disabled': {
      what: 'The CA of the certificate that the login used is deleted or disabled.',
      todo: CA_ENABLE,
    },
    'certificate-untrusted': {
      what: 'A CA above the certificate that the login used has expired.',
      todo: 'Register its successor, and give the identity a certificate of that one.',
    },
    'certificate-unknown': {
      what: 'The CA of the login no longer says which field of its certificates contains the external id.',
      todo: 'Compare the certificate with: latchkey get ca NAME',
    },
    'certificate-expired': {
      what: 'The certificate that the login used has expired since, and the policy does not allow that.',
      todo: 'Renew or enroll it, then log in again; or: latchkey update policy NAME --allow-expired-certs',
    },
    'login-voided': {
      what: 'All sessions of the identity were ended after the login, and before its code was exchanged.',
      todo: LOGIN_AGAIN,
    },
    'authenticator-removed': {
      what: 'The credential of the login was removed or replaced.',
      todo: LOGIN_AGAIN,
    },
    'more-demanded': {
      what: 'The policy demands more now than the login has proven.',
      todo: LOGIN_AGAIN,
    },
    'code-expired': {
      what: 'The code of the login is older than a minute.',
      todo: 'The client must exchange it at once; compare its clock and its speed.',
    },
    'code-spent': {
      what: 'The code of the login was exchanged, or tried, before.',
      todo: 'The client must exchange it once. If it does, an attacker has seen the code.',
    },
    'client-mismatch': {
      what: 'The client id is another one than at the authorization.',
      todo: 'The client must send the same client id in both calls.',
    },
    'redirect-uri-mismatch': {
      what: 'The redirect URI is not the one of the authorization request.',
      todo: 'The client must send the same in both calls, the port included.',
    },
    'verifier-mismatch': {
      what: 'The PKCE verifier is missing or does not match.',
      todo: 'The client must send the verifier of the same login. If it does, an attacker has seen the code.',
    },
    'refresh-token-expired': { what: 'The refresh token has expired.', todo: LOGIN_AGAIN },
    'refresh-token-spent': {
      what: 'The refresh token was spent a moment ago.',
      todo: 'A double click, or a lost response: the client must keep the latest token.',
    },
    'session-ended': {
      what: 'The session has ended, or reached its absolute end.',
      todo: LOGIN_AGAIN,
    },
  },
  'session.ended': {
    'code-reused': { what: 'The code of its login was exchanged a second time.', todo: STOLEN },
    'refresh-token-reused': {
      what: 'One of its spent refresh tokens was used again.',
      todo: STOLEN,
    },
    revoked: { what: 'Its refresh token was revoked.' },
    expired: { what: 'It expired.' },
    logout: { what: 'Its holder logged out.' },
    holder: { what: 'Its holder ended it from another session.' },
    administrator: { what: 'An administrator ended it.' },
    'identity-disabled': { what: 'Its identity was disabled.', todo: ENABLE },
    'identity-deleted': { what: 'Its identity was deleted.' },
    'authenticator-removed': {
      what: 'The credential that it began with was removed.',
      todo: 'The user logs in with another one, or enrolls again.',
    },
    'identity-changed': {
      what: 'Its tokens contain facts about the identity that have changed.',
      todo: LOGIN_AGAIN,
    },
    'credential-changed': {
      what: 'Its holder changed the credential in another session.',
      todo: LOGIN_AGAIN,
    },
    'password-reset': { what: 'An administrator set a new password.', todo: LOGIN_AGAIN },
    'certificate-replaced': {
      what: 'The certificate that it began with was replaced.',
      todo: LOGIN_AGAIN,
    },
  },
  'enrollment.refused': {
    ...CERTIFICATES,
    'token-unknown': {
      what: 'There is no such enrollment token: it was withdrawn, refreshed, or never created.',
      todo: 'Create another: latchkey create enrollment --identity IDENTITY',
    },
    'token-expired': {
      what: 'The enrollment token has expired.',
      todo: 'Give it a new token: latchkey update enrollment IDENTITY',
    },
    'token-used': {
      what: 'The enrollment token was used before.',
      todo: 'If it was not its holder: delete the authenticator, and look at: latchkey events --identity IDENTITY',
    },
    'identity-disabled': { what: 'The identity is disabled.', todo: ENABLE },
    'ca-disabled': {
      what: 'The CA of the certificate is not enabled for this way of enrolling.',
      todo: 'Enable it: latchkey update ca NAME --ott-enrollment (or --auto-enrollment)',
    },
    'external-id-missing': {
      what: 'The certificate has no external id where its CA looks for one.',
      todo: 'Compare the certificate with: latchkey get ca NAME',
    },
  },
}

export const TYPES: Readonly<Record<string, Meaning>> = {
  'login.succeeded': { what: 'A login succeeded: everything that the policy demands was proven.' },
  'login.failed': { what: 'A credential, a second factor or a code was refused.' },
  'login.locked': {
    what: 'Too many wrong passwords in a row: their network is blocked, or after a hundred every network.',
    todo: 'Wait for the end of the lock, sign in on a known device, or: latchkey unlock USERNAME',
  },
  'token.issued': { what: 'A code became tokens; a session began.' },
  'token.refreshed': { what: 'A refresh token became new tokens.' },
  'token.refused': { what: 'A genuine code or refresh token got no tokens.' },
  'token.reused': {
    what: 'A spent refresh token was used again, too late to be a lost response.',
    todo: STOLEN,
  },
  'token.revoked': { what: 'One access token was revoked; its session goes on.' },
  'session.ended': { what: 'An API session ended, and all that belongs to it.' },
  'certificate.issued': { what: 'An API session certificate was issued.' },
  'certificate.removed': { what: 'An API session certificate was removed.' },
  'mfa.enrolled': { what: 'An authenticator app was enrolled and verified.' },
  'mfa.removed': { what: 'A TOTP enrollment was removed.' },
  'mfa.recovery-codes-renewed': {
    what: 'New recovery codes were created; the old ones no longer work.',
  },
  'mfa.recovery-code-used': { what: 'A login was completed with a recovery code.' },
  'administrator.recovered': { what: 'A command restored the access of an administrator.' },
  'secret.rotated': { what: 'The installation secret was replaced.' },
  'installation.restored': { what: 'A backup was restored; a new epoch began.' },
  'installation.moved': { what: 'Everything was moved into this database.' },
  'signing-key.created': { what: 'A signing key was created.' },
  'signing-key.revoked': { what: 'A signing key was withdrawn; its tokens are refused.' },
  'authenticator.renewal-started': {
    what: 'A certificate was issued in place of one that still works.',
  },
  'authenticator.renewed': { what: 'A new certificate has replaced the old one.' },
  'authority.created': { what: 'The service created a certificate authority of its own.' },
  'identity.created': { what: 'An identity was created.' },
  'identity.updated': { what: 'Fields of an identity were changed.' },
  'identity.deleted': { what: 'An identity was deleted.' },
  'identity.disabled': { what: 'An identity was disabled; its sessions end.' },
  'identity.enabled': { what: 'An identity was enabled again.' },
  'authenticator.created': { what: 'An identity got a credential.' },
  'authenticator.updated': { what: 'A credential was changed.' },
  'authenticator.deleted': { what: 'A credential was removed.' },
  'authenticator.unlocked': { what: 'An administrator unlocked a password.' },
  'enrollment.created': { what: 'A token for a first credential was created.' },
  'enrollment.deleted': { what: 'An enrollment was withdrawn.' },
  'enrollment.refreshed': { what: 'An enrollment got a new token; the old one no longer works.' },
  'enrollment.used': { what: 'An enrollment became a credential.' },
  'enrollment.refused': { what: 'An enrollment was refused.' },
  'policy.created': { what: 'A policy was created.' },
  'policy.updated': { what: 'A policy was changed.' },
  'policy.deleted': { what: 'A policy was deleted.' },
  'external-jwt-signer.created': { what: 'A signer was created.' },
  'external-jwt-signer.updated': { what: 'A signer was changed.' },
  'external-jwt-signer.deleted': { what: 'A signer was deleted.' },
  'ca.created': { what: 'A third-party CA was registered.' },
  'ca.updated': { what: 'A third-party CA was changed.' },
  'ca.deleted': { what: 'A third-party CA was deleted.' },
  'ca.verified': { what: 'A third-party CA proved that it has its key.' },
}
