/**
 * The recovery codes of an identity: D-17, D-437. They work as long as it has a second factor, and are deleted with the
 * last one. Each is spent in a single statement.
 */
import type { Kysely } from 'kysely'
import type { IdentityId, TotpEnrollmentId } from '../../base/ids.ts'
import type { SecretHash } from '../../base/secrets/vault.ts'
import type { RecoveryCodes } from '../../domain/factors/stores.ts'
import { countRows } from '../count-rows.ts'
import type { Tables } from '../tables.ts'
import { atomically } from '../transactions/atomically.ts'

export function sqlRecoveryCodes(db: Kysely<Tables>): RecoveryCodes {
  return {
    async take(identityId, code) {
      const { numDeletedRows } = await db
        .deleteFrom('recovery_codes')
        .where('identity_id', '=', identityId)
        .where('code_hash', '=', code)
        .where('enrollment_id', 'is', null)
        .where(({ exists, or }) =>
          or([exists(verifiedApp(db, identityId)), exists(passkeys(db, identityId))]),
        )
        .executeTakeFirst()
      return numDeletedRows === 1n
    },

    count(identityId) {
      const codes = db.selectFrom('recovery_codes').where('identity_id', '=', identityId)
      return countRows(codes.where('enrollment_id', 'is', null))
    },

    replace: (identityId, codes) =>
      atomically(db, async (tx) => {
        // Lock the factor, so that of two concurrent calls only one set of codes remains, not both.
        const app = await tx
          .updateTable('totp_enrollments')
          .set((row) => ({ last_step: row.ref('last_step') }))
          .where('identity_id', '=', identityId)
          .where('verified_at', 'is not', null)
          .executeTakeFirst()
        const keys = await tx
          .updateTable('passkeys')
          .set((row) => ({ sign_count: row.ref('sign_count') }))
          .where('identity_id', '=', identityId)
          .executeTakeFirst()
        if (app.numUpdatedRows + keys.numUpdatedRows === 0n) return
        await tx.deleteFrom('recovery_codes').where('identity_id', '=', identityId).execute()
        await insertCodes(tx, identityId, codes, null)
      }),
  }
}

/** Puts the codes of a pending enrollment in the place of those of an earlier one. They are not good yet. */
export async function replacePendingCodes(
  db: Kysely<Tables>,
  { id, identityId }: { readonly id: TotpEnrollmentId; readonly identityId: IdentityId },
  codes: readonly SecretHash[],
): Promise<void> {
  await removePendingCodes(db, identityId)
  await insertCodes(db, identityId, codes, id)
}

/**
 * Once its enrollment is verified, a code is good, and stays so for whichever factor the identity has. The codes that
 * were good before stay only if the enrollment brings none and a passkey is there that they belong to (D-437).
 */
export async function acceptCodes(
  db: Kysely<Tables>,
  { id, identityId }: { readonly id: TotpEnrollmentId; readonly identityId: IdentityId },
): Promise<void> {
  await db
    .deleteFrom('recovery_codes')
    .where('identity_id', '=', identityId)
    .where('enrollment_id', 'is', null)
    .where(({ exists, not, or, selectFrom }) =>
      or([
        exists(
          selectFrom('recovery_codes as own')
            .select('own.code_hash')
            .where('own.identity_id', '=', identityId)
            .where('own.enrollment_id', '=', id),
        ),
        not(exists(passkeys(db, identityId))),
      ]),
    )
    .execute()
  await db
    .updateTable('recovery_codes')
    .set({ enrollment_id: null })
    .where('identity_id', '=', identityId)
    .where('enrollment_id', '=', id)
    .execute()
}

export async function removePendingCodes(
  db: Kysely<Tables>,
  identityId: IdentityId,
): Promise<void> {
  await db
    .deleteFrom('recovery_codes')
    .where('identity_id', '=', identityId)
    .where('enrollment_id', 'is not', null)
    .execute()
}

/**
 * Deletes the codes of an identity that has no second factor any more. A pending authenticator app is not a factor: its
 * own codes stay, and are not good yet.
 */
export async function removeOrphanedCodes(
  db: Kysely<Tables>,
  identityId: IdentityId,
): Promise<void> {
  await db
    .deleteFrom('recovery_codes')
    .where('identity_id', '=', identityId)
    .where('enrollment_id', 'is', null)
    .where(({ exists, not }) => not(exists(verifiedApp(db, identityId))))
    .where(({ exists, not }) => not(exists(passkeys(db, identityId))))
    .execute()
}

/**
 * Deletes the pending authenticator app of an identity without passkeys, if no recovery codes were shown with it because
 * those of a passkey were there. As the first factor it would have none (D-437).
 */
export async function removeCodelessApp(db: Kysely<Tables>, identityId: IdentityId): Promise<void> {
  await db
    .deleteFrom('totp_enrollments')
    .where('identity_id', '=', identityId)
    .where('verified_at', 'is', null)
    .where(({ exists, not, selectFrom }) =>
      not(
        exists(
          selectFrom('recovery_codes')
            .select('code_hash')
            .where('identity_id', '=', identityId)
            .where('enrollment_id', 'is not', null),
        ),
      ),
    )
    .where(({ exists, not }) => not(exists(passkeys(db, identityId))))
    .execute()
}

function verifiedApp(db: Kysely<Tables>, identityId: IdentityId) {
  return db
    .selectFrom('totp_enrollments')
    .select('id')
    .where('identity_id', '=', identityId)
    .where('verified_at', 'is not', null)
}

function passkeys(db: Kysely<Tables>, identityId: IdentityId) {
  return db.selectFrom('passkeys').select('id').where('identity_id', '=', identityId)
}

async function insertCodes(
  db: Kysely<Tables>,
  identityId: IdentityId,
  codes: readonly SecretHash[],
  enrollmentId: TotpEnrollmentId | null,
): Promise<void> {
  if (codes.length === 0) return
  const owned = { identity_id: identityId, enrollment_id: enrollmentId }
  await db
    .insertInto('recovery_codes')
    .values(codes.map((code) => ({ ...owned, code_hash: code })))
    // Codes have thirty bits, so two can be equal by chance; such a code works once.
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}
