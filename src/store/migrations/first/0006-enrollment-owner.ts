/**
 * A pending TOTP enrollment belongs to the login or session that started it (D-240). One that is pending during the
 * upgrade has no owner, so no login or session can continue it; starting again replaces it.
 */
import type { Migration } from '../migration.ts'

export const enrollmentOwner: Migration = {
  name: '0006-enrollment-owner',
  statements: () => ['alter table totp_enrollments add column owner text'],
}
