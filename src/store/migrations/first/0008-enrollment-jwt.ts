/** The JWT of an unused enrollment, sealed (D-317). Enrollments from before have none to show. */
import type { Migration } from '../migration.ts'

export const enrollmentJwt: Migration = {
  name: '0008-enrollment-jwt',
  statements: () => ['alter table enrollments add column sealed_jwt text'],
}
