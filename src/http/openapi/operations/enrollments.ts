/** What administrators do with enrollments: API 3.3, 4.3. */
import { DoneReply } from '../../../contract/envelope.ts'
import {
  EnrollmentEnd,
  EnrollmentListReply,
  EnrollmentReply,
  InvitationReply,
  NewEnrollment,
} from '../../../contract/management/enrollments.ts'
import type { Operations } from '../operation.ts'

export const ENROLLMENTS: Operations = {
  'GET /enrollments': {
    summary: 'List enrollments, used ones too',
    reply: EnrollmentListReply,
    isList: true,
  },
  'POST /enrollments': {
    summary: 'Invite an identity to enroll',
    description: 'Token and JWT are in this answer and nowhere else.',
    request: NewEnrollment,
    reply: InvitationReply,
    codes: ['ENROLLMENT_EXISTS', 'MAX_AUTHENTICATOR_METHODS_REACHED', 'ENTITY_NAME_IN_USE'],
  },
  'GET /enrollments/:id': { summary: 'Read an enrollment', reply: EnrollmentReply },
  'DELETE /enrollments/:id': {
    summary: 'Withdraw an enrollment',
    description: 'Its token opens nothing from then on.',
    reply: DoneReply,
  },
  'POST /enrollments/:id/refresh': {
    summary: 'Give an enrollment another token and another end',
    description: 'The former token opens nothing from then on.',
    request: EnrollmentEnd,
    reply: InvitationReply,
    codes: ['ENROLLMENT_USED'],
  },
  'GET /identities/:id/enrollments': {
    summary: 'List the enrollments of an identity',
    reply: EnrollmentListReply,
    isList: true,
  },
  'POST /authenticators/:id/re-enroll': {
    summary: 'Replace an authenticator by an enrollment',
    description: 'The sessions that were begun with it end.',
    request: EnrollmentEnd,
    reply: InvitationReply,
    codes: ['ENROLLMENT_EXISTS', 'LAST_ADMINISTRATOR'],
  },
}
