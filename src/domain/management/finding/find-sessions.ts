/** Live sessions by whose they are, for administrators: an identity is named by a part of its name. D-358. */
import type { IdentityId } from '../../../base/ids.ts'
import type { Identities } from '../../identities/stores.ts'
import { contains, isAmong } from '../../lists/filters.ts'
import type { Filter, ListQuery } from '../../lists/list-query.ts'
import type { PageOf } from '../../paging.ts'
import type { SessionDetail } from '../../sessions/session-detail.ts'
import { listSessions } from '../manage-sessions.ts'

export interface WantedSessions extends Omit<ListQuery, 'filter'> {
  /** Parts of the texts; empty ones match everything. */
  readonly identity: string
  readonly address: string
  readonly program: string
}

type FindPorts = Parameters<typeof listSessions>[0] & {
  readonly identities: Pick<Identities, 'list'>
}

/** A name that more identities contain finds the sessions of the first ones. */
const MOST_IDENTITIES = 200

export async function findSessions(
  ports: FindPorts,
  { identity, address, program, ...query }: WantedSessions,
): Promise<PageOf<SessionDetail>> {
  const owners = identity === '' ? undefined : await namedLike(ports, identity)
  const parts: readonly Filter[] = [
    ...(owners === undefined ? [] : [isAmong('identityId', owners)]),
    ...(address === '' ? [] : [contains('ipAddress', address)]),
    ...(program === '' ? [] : [contains('userAgent', program)]),
  ]
  const filter: Filter = { op: 'and', parts }
  return listSessions(ports, undefined, parts.length === 0 ? query : { ...query, filter })
}

async function namedLike({ identities }: FindPorts, text: string): Promise<readonly IdentityId[]> {
  const page = { limit: MOST_IDENTITIES, offset: 0 }
  const { rows } = await identities.list({ ...page, filter: contains('name', text) })
  return rows.map(({ id }) => id)
}
