/** A number that is incremented when an identity loses a role, so that routers know which tokens are older: D-400. */
import type { Migration } from './migration.ts'

export const roleVersion: Migration = {
  name: '0018-role-version',
  statements: () => ['alter table identities add column role_version integer not null default 0'],
}
