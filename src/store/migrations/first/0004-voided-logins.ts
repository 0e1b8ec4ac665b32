/**
 * A number that is incremented when all sessions of an identity end, so that earlier logins cannot begin one: D-226.
 */
import type { Migration } from '../migration.ts'

export const voidedLogins: Migration = {
  name: '0004-voided-logins',
  statements: () => ['alter table identities add column voided_logins integer not null default 0'],
}
