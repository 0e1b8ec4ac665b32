/** What administrators see of enrollments. API 3.3, 4.3. Reads only; tokens are not stored. */
import type { EnrollmentId, IdentityId } from '../../base/ids.ts'
import type { Enrollment } from '../enrollments/enrollment.ts'
import { type Identity, ownersOf } from '../identities/identity.ts'
import { listInMemory } from '../lists/evaluate.ts'
import type { ListQuery } from '../lists/list-query.ts'
import type { PageOf } from '../paging.ts'
import { orNotFound } from '../refusals.ts'
import type { Stores } from '../stores.ts'

export interface EnrollmentDetail {
  readonly enrollment: Enrollment
  readonly identity: Pick<Identity, 'id' | 'name'>
}

type ReadPorts = Pick<Stores, 'enrollments' | 'identities'>

/** Throws NOT_FOUND. */
export async function findEnrollment(
  ports: ReadPorts,
  id: EnrollmentId,
): Promise<EnrollmentDetail> {
  const enrollment = orNotFound(await ports.enrollments.find(id))
  return { enrollment, identity: orNotFound(await ports.identities.find(enrollment.identityId)) }
}

export async function listEnrollments(
  { enrollments, identities }: ReadPorts,
  query: ListQuery,
): Promise<PageOf<EnrollmentDetail>> {
  const { rows, totalCount } = await enrollments.list(query)
  const owners = await identities.findMany(ownersOf(rows))
  const details = rows.flatMap((enrollment) => {
    const identity = owners.get(enrollment.identityId)
    // Deleted between the two queries, and its enrollments with it.
    return identity === undefined ? [] : [{ enrollment, identity }]
  })
  return { rows: details, totalCount }
}

/** Throws NOT_FOUND. */
export async function listEnrollmentsOf(
  ports: ReadPorts,
  id: IdentityId,
  query: ListQuery,
): Promise<PageOf<EnrollmentDetail>> {
  const identity = orNotFound(await ports.identities.find(id))
  const { rows, totalCount } = listInMemory(await ports.enrollments.listOf(id), query)
  return { rows: rows.map((enrollment) => ({ enrollment, identity })), totalCount }
}
