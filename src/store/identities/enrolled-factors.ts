/** Whether an identity has enrolled a second factor, as a condition on its row: D-256. */
import type { Expression, ExpressionBuilder, SqlBool } from 'kysely'
import type { SecondFactorId } from '../../domain/factors/proven.ts'
import type { Tables } from '../tables.ts'

type OfIdentity = (eb: ExpressionBuilder<Tables, 'identities'>) => Expression<SqlBool>

const ENROLLED: Readonly<Record<SecondFactorId, OfIdentity>> = {
  totp: ({ exists, selectFrom }) =>
    exists(
      selectFrom('totp_enrollments')
        .select('totp_enrollments.id')
        .whereRef('totp_enrollments.identity_id', '=', 'identities.id')
        .where('totp_enrollments.verified_at', 'is not', null),
    ),
  passkey: ({ exists, selectFrom }) =>
    exists(
      selectFrom('passkeys')
        .select('passkeys.id')
        .whereRef('passkeys.identity_id', '=', 'identities.id'),
    ),
}

export const hasAnyFactor: OfIdentity = (eb) =>
  eb.or(Object.values(ENROLLED).map((isEnrolled) => isEnrolled(eb)))
