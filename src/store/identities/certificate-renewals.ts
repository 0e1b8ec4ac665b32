/** Certificates that wait to replace the current one of an authenticator: D-130. */
import { type Kysely, sql } from 'kysely'
import type { CertificateRenewals } from '../../domain/enrollments/renewal/stores.ts'
import { updateRow } from '../one-row.ts'
import { json, reading } from '../reading.ts'
import { PROVEN } from '../sessions/proof.ts'
import type { Tables } from '../tables.ts'
import { certificateEnd } from './authenticators.ts'

export function sqlCertificateRenewals(db: Kysely<Tables>): CertificateRenewals {
  return {
    replacePending: (id, current, { certPem, fingerprint }, at) =>
      updateRow(
        db,
        'authenticators',
        { id, fingerprint: current },
        {
          renewal_cert_pem: certPem,
          renewal_fingerprint: fingerprint,
          renewal_not_after: certificateEnd(certPem),
          updated_at: at,
        },
      ),

    async takePending(id, fingerprint, at) {
      const { numUpdatedRows } = await db
        .updateTable('authenticators')
        .set({
          cert_pem: sql.ref('renewal_cert_pem'),
          fingerprint: sql.ref('renewal_fingerprint'),
          not_after: sql.ref('renewal_not_after'),
          renewal_cert_pem: null,
          renewal_fingerprint: null,
          renewal_not_after: null,
          // Logins that the old certificate proved but that have no session yet cannot start one (D-122).
          credential_version: sql<number>`credential_version + 1`,
          updated_at: at,
        })
        .where('id', '=', id)
        .where('renewal_fingerprint', '=', fingerprint)
        .executeTakeFirst()
      return numUpdatedRows === 1n
    },

    async rebindSessions(id, from, to) {
      const rows = await db
        .selectFrom('api_sessions')
        .select(['id', 'proof'])
        .where('authenticator_id', '=', id)
        .orderBy('id')
        .execute()
      for (const row of rows) {
        const proven = reading('api_sessions', row.id, row)('proof', json(PROVEN))
        const { certificate } = proven.primary
        if (certificate?.fingerprint !== from) continue
        const primary = { ...proven.primary, certificate: { ...certificate, ...to } }
        const proof = JSON.stringify({ ...proven, primary })
        await updateRow(db, 'api_sessions', { id: row.id }, { proof })
      }
    },
  }
}
