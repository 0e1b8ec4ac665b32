/**
 * Every type of event with what it can carry: the list that docs/audit.md is checked against. The compiler sees to it
 * that no type and no member of `details` is missing or invented here. API 4.8.
 */
import {
  type AuditEvent,
  ENROLLMENT_REFUSAL_REASONS,
  type EventType,
  LOGIN_FAILURE_REASONS,
  SESSION_END_REASONS,
  TOKEN_REFUSAL_REASONS,
} from './events.ts'

export interface EventFacts<Detail extends string = string> {
  readonly reasons: readonly string[]
  /** The members of `details`, and whether each is there every time. */
  readonly details: Readonly<Record<Detail, 'always' | 'sometimes'>>
}

const NOTHING = { reasons: [], details: {} } as const
const KEY = { reasons: [], details: { kid: 'always' } } as const
const ENTITY = { reasons: [], details: { id: 'always', name: 'sometimes' } } as const
const CHANGED = {
  reasons: [],
  details: { id: 'always', name: 'sometimes', changed: 'sometimes' },
} as const
const TOKENS = { reasons: [], details: { scope: 'always' } } as const
const CERTIFICATE = { reasons: [], details: { id: 'always', fingerprint: 'always' } } as const

export const EVENT_TYPES: { readonly [Type in EventType]: EventFacts<DetailOf<Type>> } = {
  'login.succeeded': {
    reasons: [],
    details: { method: 'always', authenticatorId: 'sometimes', amr: 'always' },
  },
  'login.failed': {
    reasons: LOGIN_FAILURE_REASONS,
    details: { method: 'always', username: 'sometimes', why: 'sometimes' },
  },
  'login.locked': { reasons: [], details: { authenticatorId: 'always', until: 'always' } },
  'token.issued': TOKENS,
  'token.refreshed': TOKENS,
  'token.refused': { reasons: TOKEN_REFUSAL_REASONS, details: {} },
  'token.reused': NOTHING,
  'token.revoked': NOTHING,
  'session.ended': { reasons: SESSION_END_REASONS, details: {} },
  'certificate.issued': CERTIFICATE,
  'certificate.removed': CERTIFICATE,
  'mfa.enrolled': NOTHING,
  'mfa.removed': NOTHING,
  'mfa.recovery-codes-renewed': NOTHING,
  'mfa.recovery-code-used': NOTHING,
  'administrator.recovered': { reasons: [], details: { reset: 'always' } },
  'secret.rotated': { reasons: [], details: { sealedAgain: 'always' } },
  'installation.restored': {
    reasons: [],
    details: { takenAt: 'always', withoutRecoveryCodes: 'always' },
  },
  'installation.moved': { reasons: [], details: { from: 'always', to: 'always' } },
  'signing-key.created': KEY,
  'signing-key.revoked': KEY,
  'authenticator.renewal-started': CERTIFICATE,
  'authenticator.renewed': CERTIFICATE,
  'authority.created': { reasons: [], details: { role: 'always', generation: 'always' } },
  'identity.created': NOTHING,
  'identity.updated': { reasons: [], details: { changed: 'always' } },
  'identity.deleted': NOTHING,
  'identity.disabled': NOTHING,
  'identity.enabled': NOTHING,
  'authenticator.created': ENTITY,
  'authenticator.updated': CHANGED,
  'authenticator.deleted': ENTITY,
  'authenticator.unlocked': { reasons: [], details: { id: 'always' } },
  'enrollment.created': ENTITY,
  'enrollment.deleted': ENTITY,
  'enrollment.refreshed': { reasons: [], details: { id: 'always' } },
  'enrollment.used': { reasons: [], details: { id: 'always' } },
  'enrollment.refused': {
    reasons: ENROLLMENT_REFUSAL_REASONS,
    details: { method: 'always', why: 'sometimes' },
  },
  'policy.created': ENTITY,
  'policy.updated': CHANGED,
  'policy.deleted': ENTITY,
  'external-jwt-signer.created': ENTITY,
  'external-jwt-signer.updated': CHANGED,
  'external-jwt-signer.deleted': ENTITY,
  'ca.created': ENTITY,
  'ca.updated': CHANGED,
  'ca.deleted': ENTITY,
  'ca.verified': { reasons: [], details: { id: 'always' } },
}

/** Members of a union are looked at one by one. */
type EventOf<Type, Event = AuditEvent> = Event extends { readonly type: infer Known }
  ? Type extends Known
    ? Event
    : never
  : never

type DetailOf<Type extends EventType> =
  EventOf<Type> extends { readonly details: infer Details } ? keyof Details & string : never
