/** What keeps this instance from answering, whatever the request is. Part of the catalogue. */
import type { ErrorEntry } from './entry.ts'

export const SERVICE_ERRORS = {
  UNHANDLED: {
    status: 500,
    oauth: 'server_error',
    next: ['report'],
    message: 'the service failed; find the request id in its log',
    when: 'Something went wrong in the service.',
    advice:
      'Find the request id in the log; the line has the cause. If it is a bug in the service, report it.',
  },
  SERVER_TOO_BUSY: {
    status: 503,
    oauth: 'temporarily_unavailable',
    next: ['wait'],
    message: 'the service is busy; try again after the time in Retry-After',
    when: 'More logins are waiting for their password to be checked than `edge.passwords.queue` allows, or more than 8 from this network while others wait.',
    advice: 'Try again after `Retry-After` seconds.',
  },
  IDP_UNAVAILABLE: {
    status: 503,
    oauth: 'temporarily_unavailable',
    next: ['wait'],
    message: 'the identity provider did not respond correctly; try again later',
    when: 'A login needs an external identity provider, and its discovery document or token endpoint did not answer correctly. The audit event and the log say why.',
    advice:
      'Try again, or log in another way. The operator checks `externalAuthUrl` and `issuer` of the signer: [external-idp.md](external-idp.md).',
  },
  // D-34: an instance that may not know of an ended session refuses rather than guesses.
  NOT_READY: {
    status: 503,
    oauth: 'temporarily_unavailable',
    next: ['wait'],
    message: 'this instance cannot use its database right now; try again or use another instance',
    when: 'This instance cannot use its database right now: the database is unreachable, full, read-only or overloaded, or has not responded for some seconds, so that the instance cannot know which sessions have ended and which rules apply. A change may still have been made, if only the response was lost.',
    advice:
      'Try again after `Retry-After`, or use another instance. The operator finds the reason in the log line of the request, and checks the database.',
  },
} as const satisfies Record<string, ErrorEntry>
