/** What an administrator sees of enrollments. API 3.3, 4.3. Reads only; no token is there to be read. */
import type { EnrollmentId, IdentityId } from '../../base/ids.ts'
import type { Enrollment } from '../enrollments/enrollment.ts'
import type { Enrollments } from '../enrollments/stores.ts'
import { type Identity, ownersOf } from '../identities/identity.ts'
import type { Identities } from '../identities/stores.ts'
import { listInMemory } from '../lists/evaluate.ts'
import type { ListQuery } from '../lists/list-query.ts'
import type { PageOf } from '../paging.ts'
import { notFound } from '../refusals.ts'

export interface EnrollmentDetail {
  readonly enrollment: Enrollment
  readonly identity: Pick<Identity, 'id' | 'name'>
}

/** What is asked for by an id that nothing has is NOT_FOUND. */
export interface ReadEnrollments {
  find(id: EnrollmentId): Promise<EnrollmentDetail>
  list(query: ListQuery): Promise<PageOf<EnrollmentDetail>>
  listOf(id: IdentityId, query: ListQuery): Promise<PageOf<EnrollmentDetail>>
}

export function createReadEnrollments(deps: {
  readonly enrollments: Pick<Enrollments, 'find' | 'list' | 'listOf'>
  readonly identities: Pick<Identities, 'find' | 'findMany'>
}): ReadEnrollments {
  const { enrollments, identities } = deps

  async function existing(id: IdentityId): Promise<Identity> {
    const identity = await identities.find(id)
    if (identity === undefined) throw notFound()
    return identity
  }

  return {
    async find(id) {
      const enrollment = await enrollments.find(id)
      if (enrollment === undefined) throw notFound()
      return { enrollment, identity: await existing(enrollment.identityId) }
    },

    async list(query) {
      const { rows, totalCount } = await enrollments.list(query)
      const owners = await identities.findMany(ownersOf(rows))
      const details = rows.flatMap((enrollment) => {
        const identity = owners.get(enrollment.identityId)
        // Deleted between the two queries, and its enrollments with it.
        return identity === undefined ? [] : [{ enrollment, identity }]
      })
      return { rows: details, totalCount }
    },

    async listOf(id, query) {
      const identity = await existing(id)
      const { rows, totalCount } = listInMemory(await enrollments.listOf(id), query)
      return { rows: rows.map((enrollment) => ({ enrollment, identity })), totalCount }
    },
  }
}
