/** What both APIs have: sessions, the caller and what is public. API 3.1. */
import { Authenticate, Code, Ignored, OptionalCode } from '../../../contract/authenticate.ts'
import { AuthenticateReply, CurrentApiSessionReply } from '../../../contract/current-api-session.ts'
import { CurrentIdentityReply } from '../../../contract/current-identity.ts'
import { DoneReply } from '../../../contract/envelope.ts'
import {
  AuthenticatorListReply,
  AuthenticatorReply,
  ChangedOwn,
  ReplacedOwn,
} from '../../../contract/management/authenticators.ts'
import {
  FreshRecoveryCodesReply,
  MfaEnrollmentReply,
  RecoveryCodesLeftReply,
  StartedMfaEnrollmentReply,
} from '../../../contract/mfa.ts'
import {
  ExtendAuthenticator,
  ExtendedAuthenticatorReply,
  VerifyExtended,
} from '../../../contract/renewal.ts'
import { VersionReply } from '../../../contract/version.ts'
import { MFA_VALIDATION_CODE_HEADER, ZT_SESSION_HEADER } from '../../../protocol/headers.ts'
import type { Operations } from '../operation.ts'

const CODE_FIELD = {
  [MFA_VALIDATION_CODE_HEADER]: 'A code of the authenticator app, or a recovery code.',
}

const OWN_PASSWORD =
  'Needs `currentPassword`. Your other sessions end. The username stays, but for its spelling: an administrator changes ' +
  'it. A certificate is renewed by `extend` instead.'

const OWN_PASSWORD_CODES = ['RATE_LIMITED', 'SERVER_TOO_BUSY'] as const

export const OF_BOTH_APIS: Operations = {
  'POST /authenticate': {
    summary: 'Log in and begin a legacy session',
    description:
      'With username and password in the body, with the client certificate of the connection, or with an external JWT ' +
      'as bearer token. While `authQueries` of the answer is not empty the session is partial: it may complete its ' +
      'login and end, and nothing else.',
    query: {
      method:
        '`password`, `cert` or `ext-jwt`. Left out: what the request carries, in this order – a username, a bearer ' +
        'token, a client certificate.',
    },
    request: Authenticate,
    reply: AuthenticateReply,
    replyHeaders: [ZT_SESSION_HEADER],
    codes: ['INVALID_AUTH', 'UNAUTHORIZED', 'RATE_LIMITED', 'SERVER_TOO_BUSY'],
  },
  'POST /authenticate/mfa': {
    summary: 'Prove the TOTP code of a partial session',
    request: Code,
    reply: DoneReply,
    codes: ['MFA_INVALID_TOKEN', 'MFA_NOT_ENROLLED', 'RATE_LIMITED'],
  },
  'GET /current-api-session': {
    summary: 'Read the session that the call belongs to',
    reply: CurrentApiSessionReply,
  },
  'DELETE /current-api-session': {
    summary: 'Log out',
    description: 'Ends the session with everything that belongs to it. Asks for no second factor.',
    reply: DoneReply,
  },
  'GET /current-identity': {
    summary: 'Read your own identity',
    reply: CurrentIdentityReply,
  },
  'GET /current-identity/authenticators': {
    summary: 'List your own authenticators',
    reply: AuthenticatorListReply,
    isList: true,
  },
  'GET /current-identity/authenticators/:id': {
    summary: 'Read an authenticator of your own',
    reply: AuthenticatorReply,
  },
  'PUT /current-identity/authenticators/:id': {
    summary: 'Replace your own password',
    description: OWN_PASSWORD,
    request: ReplacedOwn,
    mayOmit: ['method', 'identityId', 'certPem'],
    reply: DoneReply,
    codes: OWN_PASSWORD_CODES,
  },
  'PATCH /current-identity/authenticators/:id': {
    summary: 'Change your own password',
    description: OWN_PASSWORD,
    request: ChangedOwn,
    reply: DoneReply,
    codes: OWN_PASSWORD_CODES,
  },
  'POST /current-identity/authenticators/:id/extend': {
    summary: 'Renew the certificate that is on the connection',
    description: 'Both certificates work until the new one is confirmed.',
    request: ExtendAuthenticator,
    reply: ExtendedAuthenticatorReply,
    codes: ['FORBIDDEN', 'COULD_NOT_PROCESS_CSR', 'CAN_NOT_RENEW_CERTIFICATE', 'RATE_LIMITED'],
  },
  'POST /current-identity/authenticators/:id/extend-verify': {
    summary: 'Confirm a renewed certificate',
    description: 'From now on the one of before is refused.',
    request: VerifyExtended,
    reply: DoneReply,
    codes: [
      'FORBIDDEN',
      'INVALID_CERT_PEM',
      'RENEWAL_NOT_PENDING',
      'CAN_NOT_RENEW_CERTIFICATE',
      'CERT_IN_USE',
    ],
  },
  'GET /current-identity/mfa': {
    summary: 'Read your TOTP enrollment',
    reply: MfaEnrollmentReply,
    codes: ['MFA_ENROLLMENT_NOT_STARTED'],
  },
  'POST /current-identity/mfa': {
    summary: 'Begin a TOTP enrollment',
    description: 'Replaces a pending one. The recovery codes are shown now and never again.',
    request: Ignored,
    reply: StartedMfaEnrollmentReply,
    codes: ['MFA_EXISTS'],
  },
  'DELETE /current-identity/mfa': {
    summary: 'Cancel a pending TOTP enrollment, or remove a verified one',
    description: 'A verified one goes only from a full session, with a code.',
    headers: CODE_FIELD,
    request: OptionalCode,
    reply: DoneReply,
    codes: ['MFA_INVALID_TOKEN', 'MFA_ENROLLMENT_NOT_STARTED', 'MFA_NOT_ENROLLED', 'RATE_LIMITED'],
  },
  'POST /current-identity/mfa/verify': {
    summary: 'Prove the authenticator app of a pending TOTP enrollment',
    description: 'Completes a partial legacy session whose code was outstanding.',
    request: Code,
    reply: DoneReply,
    codes: ['MFA_INVALID_TOKEN', 'MFA_ENROLLMENT_NOT_STARTED', 'RATE_LIMITED'],
  },
  'GET /current-identity/mfa/qr-code': {
    summary: 'Draw the provisioning URL of a pending TOTP enrollment',
    reply: { types: ['image/png', 'image/svg+xml'], about: 'The QR code, of the type in Accept.' },
    codes: ['MFA_ENROLLMENT_NOT_STARTED', 'NOT_ACCEPTABLE'],
  },
  'GET /current-identity/mfa/recovery-codes': {
    summary: 'Count the recovery codes that are left',
    reply: RecoveryCodesLeftReply,
    codes: ['MFA_NOT_ENROLLED'],
  },
  'POST /current-identity/mfa/recovery-codes': {
    summary: 'Make new recovery codes',
    description: 'The old ones are dead. The new ones are shown now and never again.',
    headers: CODE_FIELD,
    request: OptionalCode,
    reply: FreshRecoveryCodesReply,
    codes: ['MFA_INVALID_TOKEN', 'MFA_NOT_ENROLLED', 'RATE_LIMITED'],
  },
  'GET /.well-known/est/cacerts': {
    tag: 'service',
    summary: 'Read the CA bundle of this service',
    reply: {
      types: ['application/pkcs7-mime'],
      about: 'PKCS #7 with certificates alone, in base64 (RFC 7030 §4.1.3).',
    },
  },
  'GET /openapi.json': {
    tag: 'service',
    summary: 'Read this document',
    reply: { types: ['application/json'], about: 'The OpenAPI document of the API.' },
  },
  'GET /docs': {
    tag: 'service',
    summary: 'Read this document as a page',
    reply: { types: ['text/html'], about: 'The reference of the API, for people.' },
  },
  'GET /version': {
    tag: 'service',
    summary: 'Read what runs here and which APIs it has',
    reply: VersionReply,
  },
}
