/**
 * When the last login of an identity finished: D-268. For earlier logins, what the database still knows: the last use
 * of an authenticator, or else the newest session that an external JWT began. No index, so that a login rewrites none
 * (D-269).
 */
import type { Migration } from '../migration.ts'

export const lastLogin: Migration = {
  name: '0007-last-login',
  statements: () => [
    'alter table identities add column last_login_at bigint',
    `update identities set last_login_at = (
      select max(last_used_at) from authenticators where identity_id = identities.id
    ) where id in (select identity_id from authenticators where last_used_at is not null)`,
    `update identities set last_login_at = (
      select max(created_at) from api_sessions where identity_id = identities.id
    ) where last_login_at is null and id in (select identity_id from api_sessions)`,
  ],
}
