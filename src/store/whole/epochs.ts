/** Ends what a restore must end in the rows themselves: D-159. */
import type { Kysely } from 'kysely'
import type { Epochs } from '../../domain/installation/stores.ts'
import { countRows } from '../count-rows.ts'
import type { Tables } from '../tables.ts'

export function sqlEpochs(db: Kysely<Tables>): Epochs {
  return {
    async burnSteps(upTo) {
      await db.deleteFrom('totp_enrollments').where('verified_at', 'is', null).execute()
      await db
        .updateTable('totp_enrollments')
        .set({ last_step: upTo })
        .where('last_step', '<', upTo)
        .execute()
      return countRows(db.selectFrom('totp_enrollments'))
    },
  }
}
