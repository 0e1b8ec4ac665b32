/** Identities and what proves them: API 3.3, 4.1, 4.2. */
import { CreatedReply, DoneReply } from '../../../contract/envelope.ts'
import { ApiSessionListReply } from '../../../contract/management/api-sessions.ts'
import {
  AuthenticatorListReply,
  AuthenticatorReply,
  ChangedAuthenticator,
  NewAuthenticator,
} from '../../../contract/management/authenticators.ts'
import { CreatedIdentityReply } from '../../../contract/management/enrollments.ts'
import {
  ChosenIdentity,
  Disablement,
  IdentityListReply,
  IdentityReply,
  NewIdentity,
} from '../../../contract/management/identities.ts'
import { Nothing } from '../../edge-api/read-body.ts'
import type { Operations } from '../operation.ts'

const CUT_OFF =
  'Its sessions end when it becomes or ceases to be an administrator, or gets another type or policy.'

const RESET = 'The sessions that were begun with it end, and a lock is lifted.'

const CREDENTIAL_CODES = [
  'ENTITY_NAME_IN_USE',
  'CERT_IN_USE',
  'INVALID_CERT_PEM',
  'SERVER_TOO_BUSY',
] as const

export const IDENTITIES: Operations = {
  'GET /identities': { summary: 'List identities', reply: IdentityListReply, isList: true },
  'POST /identities': {
    summary: 'Create an identity',
    description: 'With `enrollment` it is invited to enroll; the answer has the token, this once.',
    request: NewIdentity,
    reply: CreatedIdentityReply,
    codes: ['ENTITY_NAME_IN_USE'],
  },
  'GET /identities/:id': { summary: 'Read an identity', reply: IdentityReply },
  'PUT /identities/:id': {
    summary: 'Replace an identity',
    description: CUT_OFF,
    request: ChosenIdentity,
    reply: DoneReply,
    codes: ['ENTITY_NAME_IN_USE', 'LAST_ADMINISTRATOR'],
  },
  'PATCH /identities/:id': {
    summary: 'Change an identity',
    description: CUT_OFF,
    request: ChosenIdentity,
    reply: DoneReply,
    codes: ['ENTITY_NAME_IN_USE', 'LAST_ADMINISTRATOR'],
  },
  'DELETE /identities/:id': {
    summary: 'Delete an identity',
    description: 'With its authenticators, its TOTP and its sessions.',
    reply: DoneReply,
    codes: ['LAST_ADMINISTRATOR'],
  },
  'POST /identities/:id/disable': {
    summary: 'Disable an identity',
    description: 'Ends all its sessions.',
    request: Disablement,
    reply: DoneReply,
    codes: ['LAST_ADMINISTRATOR'],
  },
  'POST /identities/:id/enable': {
    summary: 'Enable an identity',
    request: Nothing,
    reply: DoneReply,
  },
  'DELETE /identities/:id/mfa': {
    summary: 'Remove the TOTP of an identity',
    description: 'For a lost phone; the recovery codes go with it.',
    reply: DoneReply,
    codes: ['MFA_NOT_ENROLLED'],
  },
  'GET /identities/:id/authenticators': {
    summary: 'List the authenticators of an identity',
    reply: AuthenticatorListReply,
    isList: true,
  },
  'GET /identities/:id/api-sessions': {
    summary: 'List the sessions of an identity',
    reply: ApiSessionListReply,
    isList: true,
  },
  'DELETE /identities/:id/api-sessions': {
    summary: 'End all sessions of an identity',
    reply: DoneReply,
  },
}

export const AUTHENTICATORS: Operations = {
  'GET /authenticators': {
    summary: 'List authenticators',
    reply: AuthenticatorListReply,
    isList: true,
  },
  'POST /authenticators': {
    summary: 'Give an identity a password or a certificate',
    request: NewAuthenticator,
    reply: CreatedReply,
    codes: [...CREDENTIAL_CODES, 'MAX_AUTHENTICATOR_METHODS_REACHED'],
  },
  'GET /authenticators/:id': { summary: 'Read an authenticator', reply: AuthenticatorReply },
  'PUT /authenticators/:id': {
    summary: 'Replace a password or a certificate',
    description: RESET,
    request: NewAuthenticator,
    mayOmit: ['method', 'identityId'],
    reply: DoneReply,
    codes: [...CREDENTIAL_CODES, 'LAST_ADMINISTRATOR'],
  },
  'PATCH /authenticators/:id': {
    summary: 'Change a password or a certificate',
    description: RESET,
    request: ChangedAuthenticator,
    reply: DoneReply,
    codes: [...CREDENTIAL_CODES, 'LAST_ADMINISTRATOR'],
  },
  'DELETE /authenticators/:id': {
    summary: 'Delete an authenticator',
    description: 'Ends the sessions that were begun with it.',
    reply: DoneReply,
    codes: ['LAST_ADMINISTRATOR'],
  },
  'POST /authenticators/:id/unlock': {
    summary: 'Unlock a password',
    description: 'Forgets its failures, too.',
    request: Nothing,
    reply: DoneReply,
  },
}
