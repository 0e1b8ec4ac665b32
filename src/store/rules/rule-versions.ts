/** The version of the rules (D-34): one row, incremented with every change of a policy, signer or CA. */
import type { Kysely } from 'kysely'
import type { RuleVersions } from '../../domain/policies/stores.ts'
import type { Tables } from '../tables.ts'

const THE_ROW = 1

export function sqlRuleVersions(db: Kysely<Tables>): RuleVersions {
  return {
    async current() {
      const { version } = await db
        .selectFrom('rule_versions')
        .select('version')
        .where('id', '=', THE_ROW)
        .executeTakeFirstOrThrow()
      return version
    },

    async raise() {
      await db
        .updateTable('rule_versions')
        .set((row) => ({ version: row('version', '+', 1) }))
        .where('id', '=', THE_ROW)
        .executeTakeFirstOrThrow()
    },
  }
}
