/**
 * Counts the sessions that have not expired, by kind and proof. No index has their end beside these, because every
 * refresh would have to move it (D-349): so all are counted by one index, and the few that have expired but are not
 * removed yet are found by another and taken off.
 */
import { type Kysely, sql } from 'kysely'
import type { Instant } from '../../base/time/instant.ts'
import type { Tables } from '../tables.ts'

export interface LiveSessions {
  readonly kind: string
  readonly amr: string
  readonly sessions: number
}

export async function countLiveByProof(
  db: Kysely<Tables>,
  at: Instant,
): Promise<readonly LiveSessions[]> {
  const { rows } = await sql<LiveSessions>`
    select kind, amr, sum(counted) as sessions
    from (
      select kind, amr, count(*) as counted from api_sessions group by kind, amr
      union all
      select kind, amr, -count(*) as counted from api_sessions
      where expires_at <= ${at} group by kind, amr
    ) as counts
    group by kind, amr
  `.execute(db)
  return rows
    .map((row) => ({ ...row, sessions: Number(row.sessions) }))
    .filter(({ sessions }) => sessions > 0)
}
