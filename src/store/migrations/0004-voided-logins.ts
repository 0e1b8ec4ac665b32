/** A number that is raised when all sessions of an identity end, so that logins from before begin none: D-226. */
import type { Migration } from './migration.ts'

export const voidedLogins: Migration = {
  name: '0004-voided-logins',
  statements: () => ['alter table identities add column voided_logins integer not null default 0'],
}
