/** What is going on: sessions, events, signing keys. API 3.3, 4.7, 4.8. */
import { CreatedReply, DoneReply } from '../../../contract/envelope.ts'
import {
  ApiSessionListReply,
  ApiSessionReply,
  EndAll,
} from '../../../contract/management/api-sessions.ts'
import { EventListReply, EventReply } from '../../../contract/management/events.ts'
import {
  NewSigningKey,
  SigningKeyListReply,
  SigningKeyReply,
} from '../../../contract/management/signing-keys.ts'
import type { Operations } from '../operation.ts'

export const API_SESSIONS: Operations = {
  'GET /api-sessions': {
    summary: 'List the sessions of everybody',
    reply: ApiSessionListReply,
    isList: true,
  },
  'GET /api-sessions/:id': { summary: 'Read a session', reply: ApiSessionReply },
  'DELETE /api-sessions/:id': { summary: 'End a session', reply: DoneReply },
  'POST /api-sessions/end-all': {
    summary: 'End the sessions of everybody',
    description: 'Your own, too.',
    request: EndAll,
    reply: DoneReply,
  },
}

export const EVENTS: Operations = {
  'GET /events': {
    summary: 'List audit events, the newest first',
    description: 'By `requestId` an error that somebody read out leads to its exact reason.',
    reply: EventListReply,
    isList: true,
  },
  'GET /events/:id': { summary: 'Read an audit event', reply: EventReply },
}

export const SIGNING_KEYS: Operations = {
  'GET /signing-keys': {
    summary: 'List the keys that sign tokens',
    reply: SigningKeyListReply,
    isList: true,
  },
  'GET /signing-keys/:id': { summary: 'Read a signing key', reply: SigningKeyReply },
  'POST /signing-keys': {
    summary: 'Rotate the signing key',
    description:
      'The new key is published before it signs. With `revokeNow`, for a leak, it signs at once, and what older keys ' +
      'have signed is refused.',
    request: NewSigningKey,
    reply: CreatedReply,
  },
}
