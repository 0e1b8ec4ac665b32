/**
 * Migrates a database to the schema of this program, in one transaction under a lock: of several starting instances one
 * migrates and the others find it done, and an incomplete migration is never visible.
 */
import { type Kysely, sql } from 'kysely'
import { StoreUnavailable } from '../errors/store-unavailable.ts'
import type { Database } from './dialects/database.ts'
import { confirmedEndings } from './migrations/0011-confirmed-endings.ts'
import { keyPurpose } from './migrations/0012-key-purpose.ts'
import { instances } from './migrations/0013-instances.ts'
import { routerHosts } from './migrations/0014-router-hosts.ts'
import { passkeys } from './migrations/0015-passkeys.ts'
import { deviceCodes } from './migrations/0016-device-codes.ts'
import { usedProofs } from './migrations/0017-used-proofs.ts'
import { roleVersion } from './migrations/0018-role-version.ts'
import { leanerIndexes } from './migrations/0019-leaner-indexes.ts'
import { foundation } from './migrations/first/0001-foundation.ts'
import { foldedEvents } from './migrations/first/0002-folded-events.ts'
import { passwordFailures } from './migrations/first/0003-password-failures.ts'
import { voidedLogins } from './migrations/first/0004-voided-logins.ts'
import { tokensEnd } from './migrations/first/0005-tokens-end.ts'
import { enrollmentOwner } from './migrations/first/0006-enrollment-owner.ts'
import { lastLogin } from './migrations/first/0007-last-login.ts'
import { enrollmentJwt } from './migrations/first/0008-enrollment-jwt.ts'
import { eventNames } from './migrations/first/0009-event-names.ts'
import { overview } from './migrations/first/0010-overview.ts'
import type { Migration } from './migrations/migration.ts'
import type { Tables } from './tables.ts'

/** Every migration, oldest first. Forward only. */
const MIGRATIONS: readonly Migration[] = [
  foundation,
  foldedEvents,
  passwordFailures,
  voidedLogins,
  tokensEnd,
  enrollmentOwner,
  lastLogin,
  enrollmentJwt,
  eventNames,
  overview,
  confirmedEndings,
  keyPurpose,
  instances,
  routerHosts,
  passkeys,
  deviceCodes,
  usedProofs,
  roleVersion,
  leanerIndexes,
]

/** The schema version that this program knows. */
export const SHAPE: readonly string[] = MIGRATIONS.map(({ name }) => name)

export function migrate(db: Kysely<Tables>, database: Database): Promise<void> {
  return db.transaction().execute(async (transaction) => {
    await database.lockMigrations(transaction)
    await sql`create table if not exists migrations (name text primary key)`.execute(transaction)
    const { rows } = await sql<{ name: string }>`select name from migrations`.execute(transaction)
    const applied = new Set(rows.map(({ name }) => name))

    const unknown = applied.difference(new Set(MIGRATIONS.map(({ name }) => name)))
    if (unknown.size > 0) {
      throw new StoreUnavailable(
        `the database ${database.name} was used by a newer version of Latchkey, which added ` +
          `${[...unknown].sort().join(', ')}; start that version or a later one`,
      )
    }

    for (const { name, statements, fill } of MIGRATIONS) {
      if (applied.has(name)) continue
      for (const statement of statements(database)) await sql.raw(statement).execute(transaction)
      await fill?.(transaction)
      await sql`insert into migrations (name) values (${name})`.execute(transaction)
    }
    await database.completeSchema(transaction)
  })
}
