/** What only the client API has: API 3.1, 3.2; SPEC API Session Certificate; D-42. */
import { Ignored } from '../../../contract/authenticate.ts'
import {
  EnrollByAny,
  EnrollByCsr,
  EnrollByPassword,
  EnrollByToken,
  EnrolledCertificateReply,
  EnrolledIdentityReply,
  EnrolledPasswordReply,
  EnrolledReply,
} from '../../../contract/enroll.ts'
import { DoneReply } from '../../../contract/envelope.ts'
import { PublicSignerListReply } from '../../../contract/management/external-jwt-signers.ts'
import { RouterCheck, RouterCheckReply } from '../../../contract/router-checks.ts'
import {
  CreatedSessionCertificateReply,
  CreateSessionCertificate,
  SessionCertificateListReply,
  SessionCertificateReply,
} from '../../../contract/session-certificates.ts'
import type { Operations } from '../operation.ts'

const TOKEN = { token: 'The enrollment token; it may be in the body instead.' }
const CSR = 'A certificate request in PEM; the token is in the query then.'

/** Of every way to enroll. */
const ENROLL_CODES = ['FORBIDDEN', 'RATE_LIMITED'] as const
const TOKEN_CODES = [
  ...ENROLL_CODES,
  'INVALID_ENROLLMENT_TOKEN',
  'ENROLLMENT_EXPIRED',
  'ENROLLMENT_USED',
  'MAX_AUTHENTICATOR_METHODS_REACHED',
] as const

export const OF_THE_CLIENT_API: Operations = {
  'GET /current-api-session/certificates': {
    summary: 'List the certificates of your session',
    reply: SessionCertificateListReply,
    isList: true,
  },
  'POST /current-api-session/certificates': {
    summary: 'Get a certificate for your session',
    description:
      'Of the request only the public key and a few parts of the subject are taken; the rest is the profile of an API ' +
      'session certificate. It ends with the session at the latest.',
    request: CreateSessionCertificate,
    reply: CreatedSessionCertificateReply,
    codes: ['COULD_NOT_PROCESS_CSR', 'TOO_MANY_CERTIFICATES'],
  },
  'GET /current-api-session/certificates/:id': {
    summary: 'Read a certificate of your session',
    reply: SessionCertificateReply,
  },
  'DELETE /current-api-session/certificates/:id': {
    summary: 'Remove a certificate of your session',
    description: 'Edge routers refuse it within a second.',
    reply: DoneReply,
  },
  'POST /enroll': {
    summary: 'Enroll by the method in the query',
    description: 'As at the address of that method, which says what to send.',
    query: { method: '`ott`, `updb`, `ottca` or `ca`. Required.', ...TOKEN },
    request: EnrollByAny,
    text: CSR,
    reply: EnrolledReply,
    codes: [
      ...TOKEN_CODES,
      'COULD_NOT_PROCESS_CSR',
      'CERT_FAILED_VALIDATION',
      'CERT_IN_USE',
      'ENTITY_NAME_IN_USE',
      'SERVER_TOO_BUSY',
    ],
  },
  'POST /enroll/ott': {
    summary: 'Exchange a token for a certificate',
    description:
      'The enrollment becomes an authenticator. Of the request only the public key and a few parts of the subject are ' +
      'taken.',
    query: TOKEN,
    request: EnrollByCsr,
    text: CSR,
    reply: EnrolledCertificateReply,
    codes: [...TOKEN_CODES, 'COULD_NOT_PROCESS_CSR'],
  },
  'POST /enroll/updb': {
    summary: 'Exchange a token for a password of your choice',
    query: TOKEN,
    request: EnrollByPassword,
    reply: EnrolledPasswordReply,
    codes: [...TOKEN_CODES, 'ENTITY_NAME_IN_USE', 'SERVER_TOO_BUSY'],
  },
  'POST /enroll/ottca': {
    summary: 'Exchange a token for the right to log in with a certificate of a third-party CA',
    description: 'With the certificate on the connection.',
    query: TOKEN,
    request: EnrollByToken,
    reply: DoneReply,
    codes: [...TOKEN_CODES, 'CERT_FAILED_VALIDATION', 'CERT_IN_USE'],
  },
  'POST /enroll/ca': {
    summary: 'Enroll with a certificate of a third-party CA that enrolls by itself',
    description: 'With the certificate on the connection. Creates the identity.',
    request: Ignored,
    reply: EnrolledIdentityReply,
    codes: [...ENROLL_CODES, 'CERT_FAILED_VALIDATION', 'CERT_IN_USE', 'ENTITY_NAME_IN_USE'],
  },
  'GET /external-jwt-signers': {
    summary: 'List whose external JWTs count here',
    reply: PublicSignerListReply,
    isList: true,
  },
  'POST /router-checks': {
    summary: 'Ask about a zt-session, as an edge router',
    request: RouterCheck,
    reply: RouterCheckReply,
    codes: ['INVALID_AUTH'],
  },
  'GET /router-feed': {
    summary: 'Follow keys, CAs and everything that ends, as an edge router',
    reply: {
      types: ['application/x-ndjson'],
      about: 'One JSON value a line, until the connection is closed; docs/router.md has the lines.',
    },
    query: {
      since: 'The cursor of the last line that was read; left out: everything from the beginning.',
    },
    codes: ['INVALID_AUTH'],
  },
}
