/**
 * Every table, each after the tables it refers to: the one list that backup, restore and move use. A test compares it
 * with the database, so that a new table cannot be forgotten.
 */
import type { Tables } from '../tables.ts'

export type TableName = keyof Tables

const IN_ORDER = [
  'installation',
  'auth_policies',
  'external_jwt_signers',
  'cas',
  'rule_versions',
  'identities',
  'authenticators',
  'enrollments',
  'totp_enrollments',
  'passkeys',
  'recovery_codes',
  'code_guesses',
  'password_failures',
  'auth_requests',
  'spent_states',
  'device_codes',
  'used_proofs',
  'api_sessions',
  'refresh_tokens',
  'session_certificates',
  'session_endings',
  'router_runs',
  'session_contacts',
  'signing_keys',
  'authorities',
  'events',
  'instances',
  'session_samples',
] as const satisfies readonly TableName[]

/** Does not compile while a table is missing above. */
export const TABLES: readonly TableName[] =
  IN_ORDER satisfies TableName extends (typeof IN_ORDER)[number] ? unknown : never

/**
 * The tables that a restore ends (D-159): their rows would be useless after one, so backups omit them. Before adding a
 * table here, ask: could something in it have been used up or ended since the backup?
 */
export const OF_ONE_EPOCH: readonly TableName[] = [
  'enrollments',
  'recovery_codes',
  'auth_requests',
  'spent_states',
  'device_codes',
  'used_proofs',
  'api_sessions',
  'refresh_tokens',
  'session_certificates',
  // Positions of another epoch mean nothing: its endings have other numbers.
  'router_runs',
  'session_contacts',
  'signing_keys',
  'instances',
]

/** The columns that the database numbers itself. */
export const NUMBERED = [{ table: 'session_endings', column: 'sequence' }] as const
