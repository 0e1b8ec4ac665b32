/**
 * The gateway's own responses: always JSON, with a code and the request id. Only the log has the reason why a credential
 * was refused; the client may know that it presented none.
 * D-39, D-42, D-45; D-37 for the challenges of a 401.
 */
import type { ServerResponse } from 'node:http'
import { actionAbout, type NextAction } from '../../errors/next-actions.ts'
import {
  bearerExpired,
  bearerInvalid,
  type Challenge,
  dpopChallenge,
  formatChallenges,
  missingToken,
  secondaryExtJwt,
  ztSessionInvalid,
} from '../../protocol/challenge.ts'
import { REQUEST_ID_HEADER } from '../../protocol/headers.ts'
import { outgrownChallenges } from '../../protocol/policy-demands.ts'
import { TCP_PROTOCOL } from '../../protocol/tcp-tunnel.ts'
import type { Presented, Refused, Router } from '../../router/router.ts'
import type { Field } from './fields.ts'
import { writeHead } from './write-head.ts'

export type AnswerCode = keyof typeof ANSWERS

/** Every code, for the labels of metrics. */
export const answerCodes = () => Object.keys(ANSWERS) as readonly AnswerCode[]

const ANSWERS = {
  BAD_REQUEST: {
    status: 400,
    next: 'fix-client',
    message: 'the request is ambiguous',
  },
  UNAUTHORIZED: {
    status: 401,
    next: 'sign-in',
    message: 'a valid session token is required',
  },
  FORBIDDEN: {
    status: 403,
    next: 'present-certificate',
    message: 'the client certificate does not belong to this session',
  },
  FACTOR_REQUIRED: {
    status: 401,
    next: 'sign-in',
    message: 'this service needs a sign-in with another factor',
  },
  LOGIN_TOO_OLD: {
    status: 401,
    next: 'sign-in',
    message: 'this service needs a more recent sign-in',
  },
  IDENTITY_NOT_ALLOWED: {
    status: 403,
    next: 'ask-administrator',
    message: 'this identity may not use this service',
  },
  POLICY_NOT_ALLOWED: {
    status: 403,
    next: 'ask-administrator',
    message: 'identities with this authentication policy may not use this service',
  },
  ROLE_REQUIRED: {
    status: 403,
    next: 'ask-administrator',
    message: 'this service needs a role that this identity does not have',
  },
  ROLES_UNKNOWN: {
    status: 403,
    next: 'ask-administrator',
    message: 'this service needs a role, and the session does not say which roles it has',
  },
  CROSS_SITE: {
    status: 403,
    next: 'fix-client',
    message: 'the request may have been caused by another site',
  },
  NOT_FOUND: { status: 404, next: 'fix-client', message: 'the gateway has nothing at this path' },
  NO_UPSTREAM: {
    status: 404,
    next: 'fix-client',
    message: 'no service behind the gateway has this host and path',
  },
  UNKNOWN_SERVICE: {
    status: 404,
    next: 'fix-configuration',
    message: 'the gateway has no TCP service of this name',
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    next: 'fix-client',
    message: 'this method is not allowed here',
  },
  REQUEST_TIMEOUT: { status: 408, next: 'retry', message: 'the request did not arrive in time' },
  UPGRADE_REQUIRED: {
    status: 426,
    next: 'fix-client',
    message: 'this is a TCP service: ask for an upgrade to latchkey-tcp',
  },
  TOO_MANY_CONNECTIONS: {
    status: 429,
    next: 'wait',
    message: 'this identity has too many open connections at the gateway; close one',
  },
  HEADERS_TOO_LARGE: {
    status: 431,
    next: 'fix-client',
    message: 'the header fields are too large',
  },
  BAD_GATEWAY: {
    status: 502,
    next: 'report',
    message: 'the service behind the gateway cannot be reached',
  },
  NOT_READY: {
    status: 503,
    next: 'wait',
    message: 'the gateway has lost the connection to its controller; try again',
  },
  OVERLOADED: {
    status: 503,
    next: 'wait',
    message: 'the gateway has too many open requests; try again',
  },
  GATEWAY_TIMEOUT: {
    status: 504,
    next: 'report',
    message: 'the service behind the gateway did not answer in time',
  },
} as const satisfies Record<string, { status: number; next: NextAction; message: string }>

export interface Answer {
  readonly code: AnswerCode
  /** Instead of the usual message of the code. */
  readonly message?: string
  readonly challenges?: readonly Challenge[]
}

/** The brand that challenges name: a placeholder until the controller has sent its own. */
export function brandOf(router: Pick<Router, 'brand'>): string {
  return router.brand() ?? 'service'
}

/** Tells the client about a refusal: whether to log in again, to present another certificate, or to wait. */
export function answerTo(
  { reason, signer, why }: Pick<Refused, 'reason' | 'signer' | 'why'>,
  token: Presented['token'],
  brand: string,
): Answer {
  switch (reason) {
    case 'cut-off':
    case 'controller-unreachable':
      return { code: 'NOT_READY' }
    case 'no-token':
      return { code: 'UNAUTHORIZED', challenges: missingToken(brand) }
    case 'proof-invalid':
      return { code: 'UNAUTHORIZED', challenges: [dpopChallenge(brand, 'invalid_dpop_proof')] }
    case 'token-expired':
      return { code: 'UNAUTHORIZED', challenges: [unusable(token, brand, 'expired')] }
    case 'token-invalid':
    case 'session-ended':
    case 'token-bound-elsewhere':
      return { code: 'UNAUTHORIZED', challenges: [unusable(token, brand)] }
    case 'policy-unmet': {
      const challenges = outgrownChallenges(brand, unusable(token, brand), why)
      return { code: 'UNAUTHORIZED', challenges }
    }
    case 'secondary-jwt-required': {
      // The same words as the controller's, so that a client knows which signer's token is needed; only the controller
      // accepts it.
      const missing = signer === undefined ? undefined : secondaryExtJwt(brand, 'missing', signer)
      return { code: 'UNAUTHORIZED', challenges: [missing ?? unusable(token, brand)] }
    }
    case 'no-certificate':
      return { code: 'FORBIDDEN', message: 'no client certificate was presented' }
    case 'certificate-unreadable':
    case 'certificate-not-yet-valid':
    case 'certificate-expired':
    case 'certificate-untrusted':
    case 'certificate-removed':
    case 'certificate-of-other-identity':
    case 'certificate-of-other-session':
      return { code: 'FORBIDDEN' }
  }
}

export interface OwnAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export function ownAnswer(answer: Answer, requestId: string): OwnAnswer {
  const { code, challenges } = answer
  const { status } = ANSWERS[code]
  const { message = ANSWERS[code].message } = answer
  const next = (status === 401 ? actionAbout({ challenges }) : undefined) ?? ANSWERS[code].next // D-323
  const body = JSON.stringify({ error: { code, message, requestId, next } })
  return {
    status,
    body,
    headers: {
      [REQUEST_ID_HEADER]: requestId,
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
      'cache-control': 'no-store',
      ...(challenges === undefined ? {} : { 'www-authenticate': formatChallenges(challenges) }),
      ...(status === 503 ? { 'retry-after': '1' } : {}),
      // RFC 9110 §15.5.22.
      ...(code === 'UPGRADE_REQUIRED' ? { upgrade: TCP_PROTOCOL, connection: 'Upgrade' } : {}),
      ...(code === 'METHOD_NOT_ALLOWED' ? { allow: 'GET, HEAD, POST, PUT, PATCH, DELETE' } : {}),
    },
  }
}

/** Responds, and closes the connection if part of the request may still be on its way. */
export function sendOwn(response: ServerResponse, answer: OwnAnswer, then: 'close' | 'keep'): void {
  const { status, headers, body } = answer
  const closing: readonly Field[] = then === 'close' ? [['connection', 'close']] : []
  writeHead(response, status, [...Object.entries(headers), ...closing])
  response.end(body)
}

function unusable(
  token: Presented['token'],
  brand: string,
  why: 'invalid' | 'expired' = 'invalid',
): Challenge {
  if (token !== undefined && 'dpop' in token) return dpopChallenge(brand, why)
  // D-36 has one word for every invalid `zt-session`.
  if (token !== undefined && 'ztSession' in token) return ztSessionInvalid()
  return why === 'expired' ? bearerExpired(brand) : bearerInvalid(brand)
}
