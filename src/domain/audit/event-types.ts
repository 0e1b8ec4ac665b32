/**
 * Every type of event, what it means and what it can carry: docs/audit.md is written from it (D-273). The compiler
 * checks that no type and no member of `details` is missing or invented here. API 4.8.
 */
import type { AuditEvent, EventType } from './events.ts'
import {
  DEVICE_REFUSALS,
  ENROLLMENT_REFUSALS,
  LOGIN_FAILURES,
  SESSION_ENDS,
  TOKEN_REFUSALS,
} from './reasons.ts'

export interface EventFacts<Detail extends string = string> {
  /** What happened, in whole sentences. May be Markdown. */
  readonly what: string
  /** Each reason that it can have, with what it means; undefined if it never has one. */
  readonly reasons?: Readonly<Record<string, string>>
  /** The members of `details`, and whether each is always present. */
  readonly details: Readonly<Record<Detail, 'always' | 'sometimes'>>
}

const FACTOR = { factor: 'sometimes', id: 'sometimes', name: 'sometimes' } as const
const KEY = { kid: 'always', purpose: 'always' } as const
const ENTITY = { id: 'always', name: 'sometimes' } as const
const CHANGED = { ...ENTITY, changed: 'sometimes', changes: 'sometimes' } as const
const TOKENS = { scope: 'always' } as const
const DEVICE = { address: 'always', userAgent: 'sometimes', requestedAt: 'always' } as const
const CERTIFICATE = { id: 'always', fingerprint: 'always' } as const

export const EVENT_TYPES: { readonly [Type in EventType]: EventFacts<DetailOf<Type>> } = {
  'login.succeeded': {
    what: 'A login succeeded: everything that the policy demands was proven.',
    details: {
      method: 'always',
      authenticatorId: 'sometimes',
      amr: 'always',
      reusedSession: 'sometimes',
      application: 'sometimes',
    },
  },
  'login.failed': {
    what: 'A credential, a second factor or a code was refused.',
    reasons: LOGIN_FAILURES,
    details: { method: 'always', username: 'sometimes', why: 'sometimes', clock: 'sometimes' },
  },
  'login.locked': {
    what: 'Too many wrong passwords in a row: the network of `address` is blocked from the password until `until`, or after a hundred every network. Known devices can still sign in.',
    details: { authenticatorId: 'always', until: 'always' },
  },
  'device.approved': {
    what: 'A user approved the sign-in of a device without a browser. `address`, `userAgent` and `requestedAt` are those of the device.',
    details: DEVICE,
  },
  'device.denied': {
    what: 'A user denied the sign-in of a device without a browser.',
    details: DEVICE,
  },
  'device.refused': {
    what: 'A user entered a device code that is not valid.',
    reasons: DEVICE_REFUSALS,
    details: {},
  },
  'token.issued': { what: 'A code became tokens; a session began.', details: TOKENS },
  'token.refreshed': { what: 'A refresh token became new tokens.', details: TOKENS },
  'token.refused': {
    what: 'A genuine code or refresh token got no tokens.',
    reasons: TOKEN_REFUSALS,
    details: {},
  },
  'token.reused': {
    what: 'A spent refresh token was used again, too late to be a lost response, so it was stolen. Its session ends.',
    details: {},
  },
  'token.revoked': { what: 'One access token was revoked; its session goes on.', details: {} },
  'session.ended': {
    what: 'An API session ended, and all that belongs to it.',
    reasons: SESSION_ENDS,
    details: {},
  },
  'certificate.issued': { what: 'An API session certificate was issued.', details: CERTIFICATE },
  'certificate.removed': { what: 'An API session certificate was removed.', details: CERTIFICATE },
  'mfa.enrolled': {
    what: 'An authenticator app or a passkey was enrolled and proven.',
    details: FACTOR,
  },
  'mfa.removed': {
    what: 'A second factor was removed: the authenticator app, or a passkey with its `id` and `name`. Without `factor`: all of them.',
    details: FACTOR,
  },
  'mfa.recovery-codes-renewed': {
    what: 'New recovery codes were created; the old ones no longer work.',
    details: {},
  },
  'mfa.recovery-code-used': { what: 'A recovery code was used.', details: {} },
  'administrator.recovered': {
    what: '`latchkey admin recover` restored the access of an administrator.',
    details: { reset: 'always' },
  },
  'secret.rotated': {
    what: 'The installation secret was replaced, and what it had sealed was sealed again.',
    details: { sealedAgain: 'always' },
  },
  'installation.backed-up': {
    what: '`latchkey backup` wrote a backup. `withSecret`: whether the installation secret is in it.',
    details: { rows: 'always', withSecret: 'always' },
  },
  'installation.restored': {
    what: '`latchkey restore` restored a backup; a new epoch began.',
    details: { takenAt: 'always', withoutRecoveryCodes: 'always' },
  },
  'installation.moved': {
    what: '`latchkey migrate-store` moved everything into this database.',
    details: { from: 'always', to: 'always' },
  },
  'signing-key.created': { what: 'A signing key was created.', details: KEY },
  'signing-key.revoked': {
    what: 'A signing key was withdrawn before its time: its tokens are refused.',
    details: KEY,
  },
  'authenticator.renewal-started': {
    what: 'A certificate was issued in place of one that still works.',
    details: CERTIFICATE,
  },
  'authenticator.renewed': {
    what: 'The new certificate has replaced the old one.',
    details: CERTIFICATE,
  },
  'authority.created': {
    what: 'The service created a certificate authority of its own.',
    details: { role: 'always', generation: 'always' },
  },
  'identity.created': { what: 'An identity was created.', details: {} },
  'identity.updated': {
    what: 'Fields of an identity were changed.',
    details: { changed: 'always', changes: 'always' },
  },
  'identity.deleted': { what: 'An identity was deleted.', details: {} },
  'identity.disabled': {
    what: 'An identity was disabled; its sessions end.',
    details: { until: 'sometimes' },
  },
  'identity.enabled': { what: 'An identity was enabled again.', details: {} },
  'authenticator.created': { what: 'An identity got a credential.', details: ENTITY },
  'authenticator.updated': { what: 'A credential was changed.', details: CHANGED },
  'authenticator.deleted': { what: 'A credential was removed.', details: ENTITY },
  'authenticator.unlocked': {
    what: 'An administrator unlocked a password.',
    details: { id: 'always' },
  },
  'enrollment.created': {
    what: 'A token for a first credential, or for a reset, was created.',
    details: { id: 'always', method: 'sometimes' },
  },
  'enrollment.deleted': { what: 'An enrollment was deleted.', details: ENTITY },
  'enrollment.refreshed': {
    what: 'An enrollment got a new token; the old one no longer works.',
    details: { id: 'always' },
  },
  'enrollment.used': {
    what: 'An enrollment became a credential, or a reset was done.',
    details: { id: 'always', method: 'sometimes' },
  },
  'enrollment.refused': {
    what: 'An enrollment was refused.',
    reasons: ENROLLMENT_REFUSALS,
    details: { method: 'always', why: 'sometimes', clock: 'sometimes' },
  },
  'notification.delivered': {
    what: 'The receiver of notifications took the link of an enrollment.',
    details: { id: 'always', attempts: 'always' },
  },
  'notification.failed': {
    what: 'The link of an enrollment could not be delivered; refresh the enrollment to try again.',
    details: { id: 'always', attempts: 'always', why: 'always' },
  },
  'policy.created': { what: 'A policy was created.', details: ENTITY },
  'policy.updated': { what: 'A policy was changed.', details: CHANGED },
  'policy.deleted': { what: 'A policy was deleted.', details: ENTITY },
  'external-jwt-signer.created': { what: 'A signer was created.', details: ENTITY },
  'external-jwt-signer.updated': { what: 'A signer was changed.', details: CHANGED },
  'external-jwt-signer.deleted': { what: 'A signer was deleted.', details: ENTITY },
  'ca.created': { what: 'A third-party CA was registered.', details: ENTITY },
  'ca.updated': { what: 'A third-party CA was changed.', details: CHANGED },
  'ca.deleted': { what: 'A third-party CA was deleted.', details: ENTITY },
  'ca.verified': {
    what: 'A third-party CA proved that it has its key.',
    details: { id: 'always' },
  },
}

/** Distributes over a union. */
type EventOf<Type, Event = AuditEvent> = Event extends { readonly type: infer Known }
  ? Type extends Known
    ? Event
    : never
  : never

type DetailOf<Type extends EventType> =
  EventOf<Type> extends { readonly details?: infer Details } ? keyof Details & string : never
