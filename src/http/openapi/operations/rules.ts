/** What decides who gets in: policies, External JWT Signers, third-party CAs. API 3.3, 4.4–4.6. */
import { CreatedReply, DoneReply } from '../../../contract/envelope.ts'
import {
  AuthPolicyListReply,
  AuthPolicyReply,
  NewAuthPolicy,
} from '../../../contract/management/auth-policies.ts'
import { CaListReply, CaReply, NewCa } from '../../../contract/management/cas.ts'
import {
  ExternalJwtSignerListReply,
  ExternalJwtSignerReply,
  NewExternalJwtSigner,
} from '../../../contract/management/external-jwt-signers.ts'
import { CheckedJwtReply, SignerCheck } from '../../../contract/management/signer-check.ts'
import type { Operations } from '../operation.ts'

export const AUTH_POLICIES: Operations = {
  'GET /auth-policies': {
    summary: 'List authentication policies',
    reply: AuthPolicyListReply,
    isList: true,
  },
  'POST /auth-policies': {
    summary: 'Create an authentication policy',
    description: 'A part that is left out is not allowed.',
    request: NewAuthPolicy,
    reply: CreatedReply,
    codes: ['ENTITY_NAME_IN_USE'],
  },
  'GET /auth-policies/:id': { summary: 'Read an authentication policy', reply: AuthPolicyReply },
  'PUT /auth-policies/:id': {
    summary: 'Replace an authentication policy',
    request: NewAuthPolicy,
    reply: DoneReply,
    codes: ['ENTITY_NAME_IN_USE', 'LAST_ADMINISTRATOR'],
  },
  'PATCH /auth-policies/:id': {
    summary: 'Change an authentication policy',
    request: NewAuthPolicy,
    reply: DoneReply,
    codes: ['ENTITY_NAME_IN_USE', 'LAST_ADMINISTRATOR'],
  },
  'DELETE /auth-policies/:id': {
    summary: 'Delete an authentication policy',
    reply: DoneReply,
    codes: ['ENTITY_CAN_NOT_BE_DELETED', 'CAN_NOT_DELETE_REFERENCED_ENTITY'],
  },
}

export const EXTERNAL_JWT_SIGNERS: Operations = {
  'GET /external-jwt-signers': {
    summary: 'List External JWT Signers',
    reply: ExternalJwtSignerListReply,
    isList: true,
  },
  'POST /external-jwt-signers': {
    summary: 'Create an External JWT Signer',
    request: NewExternalJwtSigner,
    reply: CreatedReply,
    codes: ['ENTITY_NAME_IN_USE', 'INVALID_CERT_PEM'],
  },
  'GET /external-jwt-signers/:id': {
    summary: 'Read an External JWT Signer',
    reply: ExternalJwtSignerReply,
  },
  'PUT /external-jwt-signers/:id': {
    summary: 'Replace an External JWT Signer',
    request: NewExternalJwtSigner,
    reply: DoneReply,
    codes: ['ENTITY_NAME_IN_USE', 'INVALID_CERT_PEM', 'LAST_ADMINISTRATOR'],
  },
  'PATCH /external-jwt-signers/:id': {
    summary: 'Change an External JWT Signer',
    request: NewExternalJwtSigner,
    reply: DoneReply,
    codes: ['ENTITY_NAME_IN_USE', 'INVALID_CERT_PEM', 'LAST_ADMINISTRATOR'],
  },
  'DELETE /external-jwt-signers/:id': {
    summary: 'Delete an External JWT Signer',
    reply: DoneReply,
    codes: ['CAN_NOT_DELETE_REFERENCED_ENTITY', 'LAST_ADMINISTRATOR'],
  },
  'POST /external-jwt-signers/:id/check': {
    summary: 'Try a JWT against a signer',
    description:
      'A dry run: every step of a login with it, with what was expected and what was received. Nobody is logged in.',
    request: SignerCheck,
    reply: CheckedJwtReply,
  },
}

export const CAS: Operations = {
  'GET /cas': { summary: 'List third-party CAs', reply: CaListReply, isList: true },
  'POST /cas': {
    summary: 'Register a third-party CA',
    description: 'It counts for nothing before it is verified.',
    request: NewCa,
    reply: CreatedReply,
    codes: ['ENTITY_NAME_IN_USE', 'CERT_IN_USE', 'INVALID_CERT_PEM', 'CERTIFICATE_IS_NOT_CA'],
  },
  'GET /cas/:id': { summary: 'Read a third-party CA', reply: CaReply },
  'PUT /cas/:id': {
    summary: 'Replace a third-party CA',
    request: NewCa,
    mayOmit: ['certPem'],
    reply: DoneReply,
    codes: ['ENTITY_NAME_IN_USE', 'LAST_ADMINISTRATOR'],
  },
  'PATCH /cas/:id': {
    summary: 'Change a third-party CA',
    request: NewCa,
    reply: DoneReply,
    codes: ['ENTITY_NAME_IN_USE', 'LAST_ADMINISTRATOR'],
  },
  'DELETE /cas/:id': {
    summary: 'Delete a third-party CA',
    reply: DoneReply,
    codes: ['LAST_ADMINISTRATOR'],
  },
  'POST /cas/:id/verify': {
    summary: 'Prove that somebody holds the key of a CA',
    text: 'A certificate in PEM that the CA has signed, with the `verificationToken` as its common name.',
    reply: DoneReply,
    codes: [
      'INVALID_CERT_PEM',
      'CERT_FAILED_VALIDATION',
      'INVALID_COMMON_NAME',
      'CA_ALREADY_VERIFIED',
    ],
  },
  'GET /cas/:id/jwt': {
    summary: 'Read the invitation to enroll by certificates of a CA',
    reply: { types: ['application/jwt'], about: 'A JWT with `em: "ca"`, signed by this server.' },
    codes: ['COULD_NOT_VALIDATE'],
  },
}
