/**
 * The time limits of a session, set once when it is opened.
 *
 * No transaction lasts longer than 30 seconds, so that an abandoned one blocks nothing, and a reader that follows a
 * table by its sequence numbers knows how late a lower number can appear. No statement runs longer than four seconds,
 * so that a connection without a response for five no longer has a server (D-251). No statement waits longer than two
 * seconds for a lock, so that a locked table does not occupy every connection (D-297).
 */
import { type Duration, milliseconds, seconds } from '../../../base/time/duration.ts'
import type { Statement } from './link.ts'

export const TRANSACTION_LIMIT: Duration = seconds(30)

export type Limits = Readonly<Record<string, Duration>>

/**
 * `transaction_timeout` came with PostgreSQL 17. On earlier servers the driver refuses a late commit, and
 * `idle_in_transaction_session_timeout` ends a transaction whose client is gone (D-302).
 */
export const SERVICE_LIMITS: Limits = {
  transaction_timeout: TRANSACTION_LIMIT,
  statement_timeout: seconds(4),
  lock_timeout: seconds(2),
  idle_in_transaction_session_timeout: TRANSACTION_LIMIT,
}

/**
 * For the connections kept aside (D-297). Their users take turns, so that one that waits for a lock must not delay the
 * others until their copies are stale.
 */
export const ASIDE_LIMITS: Limits = {
  ...SERVICE_LIMITS,
  statement_timeout: seconds(2),
  lock_timeout: milliseconds(700),
}

/** The settings that long operations lift. */
export const LIMITED_SETTINGS: readonly string[] = Object.keys(SERVICE_LIMITS)

/** Sets those that the server knows. */
export function settingLimits(limits: Limits): Statement {
  return {
    text: 'select set_config(name, $1::jsonb ->> name, false) from pg_settings where name = any($2)',
    values: [JSON.stringify(limits), LIMITED_SETTINGS],
  }
}
