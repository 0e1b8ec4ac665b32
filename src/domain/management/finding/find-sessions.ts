/** Live sessions by whose they are, for administrators: an identity is named by a part of its name. D-358. */
import type { IdentityId } from '../../../base/ids.ts'
import type { Identities } from '../../identities/stores.ts'
import type { FieldReference, Filter, ListQuery } from '../../lists/list-query.ts'
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
    ...(owners === undefined ? [] : [among(owners)]),
    ...(address === '' ? [] : [has('ipAddress', address)]),
    ...(program === '' ? [] : [has('userAgent', program)]),
  ]
  const filter: Filter = { op: 'and', parts }
  return listSessions(ports, parts.length === 0 ? query : { ...query, filter })
}

async function namedLike({ identities }: FindPorts, text: string): Promise<readonly IdentityId[]> {
  const page = { limit: MOST_IDENTITIES, offset: 0 }
  const { rows } = await identities.list({ ...page, filter: has('name', text) })
  return rows.map(({ id }) => id)
}

const fieldOf = (name: string): FieldReference => ({ kind: 'field', name })

function among(values: readonly IdentityId[]): Filter {
  // Without parts: no identity has this name, so no session matches.
  if (values.length === 0) return { op: 'or', parts: [] }
  return { op: 'in', values, field: fieldOf('identityId') }
}

function has(name: string, text: string): Filter {
  return { op: 'contains', text, ignoresCase: true, field: fieldOf(name) }
}
