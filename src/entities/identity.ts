/** A user or machine that can log in: API 4.1. */
import type { AuthPolicyId, IdentityId } from '../base/ids.ts'
import { CHOSEN, CREATED_AND_UPDATED, NAME, OWN_CHOSEN, OWN_LISTED, TAGS } from './every-entity.ts'
import { as, type Fields } from './field.ts'

export const IDENTITY = {
  id: { type: 'text', of: as<IdentityId>(), ...OWN_LISTED, title: 'ID' },
  ...CREATED_AND_UPDATED,
  name: NAME,
  type: {
    type: 'text',
    choices: ['Default', 'Router'],
    ...OWN_CHOSEN,
    title: 'TYPE',
    option: { name: 'type', what: 'Router for edge routers' },
  },
  isAdmin: {
    type: 'boolean',
    ...OWN_CHOSEN,
    title: 'ADMIN',
    option: { name: 'admin', what: 'an administrator' },
  },
  externalId: {
    type: 'text',
    isOptional: true,
    ...OWN_CHOSEN,
    option: {
      name: 'external-id',
      value: 'ID',
      canClear: true,
      what: 'the id that external JWTs and certificates use for it',
    },
  },
  authPolicyId: {
    type: 'text',
    of: as<AuthPolicyId>(),
    ...OWN_CHOSEN,
    option: { name: 'policy', to: 'policy', what: 'its policy; default: default' },
  },
  authPolicy: { type: 'reference', isComputed: true, shownTo: 'self', title: 'POLICY' },
  roleAttributes: {
    type: 'texts',
    ...OWN_CHOSEN,
    title: 'ROLES',
    option: {
      name: 'role',
      value: 'ROLE',
      canClear: true,
      what: 'a role attribute; repeatable, replaces all',
    },
  },
  /** D-391: only of routers, `HOST` or `HOST:PORT`. */
  hosts: {
    type: 'texts',
    ...CHOSEN,
    description:
      'Only of a router: the host names that browsers and clients reach its gateway by, `HOST` or `HOST:PORT`.',
    option: {
      name: 'host',
      value: 'HOST[:PORT]',
      canClear: true,
      what: 'of a router: where its gateway is reached; repeatable, replaces all',
    },
  },
  appData: {
    type: 'map',
    isWritable: true,
    shownTo: 'self',
    option: { name: 'app-data', canClear: true, what: 'data for applications, like --tag' },
  },
  tags: TAGS,
  isMfaEnabled: { type: 'boolean', isComputed: true, shownTo: 'self', title: 'TOTP' },
  disabled: { type: 'boolean', isComputed: true, shownTo: 'self', title: 'DISABLED' },
  disabledAt: { type: 'time', isOptional: true, ...OWN_LISTED },
  /** When the identity is enabled again automatically; undefined if an administrator must enable it. */
  disabledUntil: { type: 'time', isOptional: true, ...OWN_LISTED },
  /** D-268. */
  lastLoginAt: {
    type: 'time',
    isOptional: true,
    isListed: true,
    shownTo: 'administrator',
    title: 'LAST LOGIN',
    description:
      'When the last login finished: with its tokens or, for a legacy login, with its last factor.',
  },
  hasApiSession: { type: 'boolean', isComputed: true, shownTo: 'administrator' },
  /** What the last legacy login reported about its machine and SDK (D-124): only displayed, never trusted. */
  envInfo: {
    type: 'text-map',
    isOptional: true,
    shownTo: 'administrator',
    description: 'About the machine of the last legacy login that reported it.',
  },
  sdkInfo: {
    type: 'text-map',
    isOptional: true,
    shownTo: 'administrator',
    description: 'About the SDK of the last legacy login that reported it.',
  },
  /** Incremented when all sessions of the identity end: a login from before that cannot begin a session (D-226). */
  voidedLogins: { type: 'number' },
  /** Incremented when the identity loses a role: routers compare it with the tokens that they see (D-400). */
  roleVersion: { type: 'number' },
} as const satisfies Fields
