/** API session certificates: one row each, deleted with the session or some time after they expire (D-41). */
import type { Kysely } from 'kysely'
import type { ApiSessionId } from '../../base/ids.ts'
import type { Instant } from '../../base/time/instant.ts'
import type { SessionCertificates } from '../../domain/certificates/stores.ts'
import { SESSION_CERTIFICATE } from '../../entities/session-certificate.ts'
import { countRows } from '../count-rows.ts'
import { describedRows } from '../described-rows.ts'
import { fixedQuery, insertRow } from '../fixed-query.ts'
import { deleteRow, findRow } from '../one-row.ts'
import { removeBefore } from '../remove-before.ts'
import type { Tables } from '../tables.ts'

const { fromRow, toRow } = describedRows('session_certificates', SESSION_CERTIFICATE)

const COUNT_LIVE = fixedQuery((db, { sessionId, now }: { sessionId: ApiSessionId; now: Instant }) =>
  db
    .selectFrom('session_certificates')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('session_id', '=', sessionId)
    .where('valid_to', '>', now),
)

export function sqlSessionCertificates(db: Kysely<Tables>): SessionCertificates {
  return {
    find: (id, sessionId) =>
      findRow(db, 'session_certificates', { id, session_id: sessionId }, fromRow),

    findByFingerprint: (fingerprint) =>
      findRow(db, 'session_certificates', { fingerprint }, fromRow),

    async list(sessionId, { limit, offset }) {
      const own = db.selectFrom('session_certificates').where('session_id', '=', sessionId)
      const page = own.selectAll().orderBy('created_at').orderBy('id').limit(limit).offset(offset)
      const rows = await page.execute()
      return { rows: rows.map(fromRow), totalCount: await countRows(own) }
    },

    async listLive(sessionIds, now, limit) {
      if (sessionIds.length === 0) return []
      const rows = await db
        .selectFrom('session_certificates')
        .selectAll()
        .where('session_id', 'in', sessionIds)
        .where('valid_to', '>', now)
        .orderBy('created_at', 'desc')
        .orderBy('id')
        .limit(limit)
        .execute()
      return rows.map(fromRow)
    },

    async countLive(sessionId, now) {
      const live = await COUNT_LIVE.first(db, { sessionId, now })
      return Number(live?.count)
    },

    async insert(certificate) {
      await insertRow(db, 'session_certificates', toRow(certificate))
    },

    remove: (id, sessionId) => deleteRow(db, 'session_certificates', { id, session_id: sessionId }),

    async removeOf(sessionId) {
      await db.deleteFrom('session_certificates').where('session_id', '=', sessionId).execute()
    },

    removeExpired: removeBefore(db, {
      table: 'session_certificates',
      key: ['id'],
      time: 'valid_to',
    }),
  }
}
