/** The host names of routers, for their certificates and for the return of browsers from a login: D-391, D-392. */
import type { Migration } from './migration.ts'

export const routerHosts: Migration = {
  name: '0014-router-hosts',
  statements: () => [
    "alter table identities add column hosts text not null default '[]'",
    // Routers are few, and read whenever rules change.
    "create index identities_routers on identities (type) where type = 'Router'",
  ],
}
