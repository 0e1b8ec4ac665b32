/**
 * For the overview: when enrolled certificates expire, read from each certificate (D-367), and the instances that share
 * the database (D-368). The index has certificates only.
 */
import { readCertificate, validity } from '../../../base/certificates.ts'
import type { AuthenticatorId } from '../../../base/ids.ts'
import type { Migration } from '../migration.ts'

const BATCH = 500

export const overview: Migration = {
  name: '0010-overview',
  statements: ({ sortedText }) => [
    'alter table authenticators add column not_after bigint',
    'alter table authenticators add column renewal_not_after bigint',
    'create index authenticators_expiry on authenticators (not_after) where not_after is not null',
    `create table instances (
      id ${sortedText} primary key,
      version text not null,
      started_at bigint not null,
      seen_at bigint not null,
      body text not null
    )`,
  ],

  async fill(db) {
    let after = '' as AuthenticatorId
    for (;;) {
      const rows: readonly CertificateRow[] = await db
        .selectFrom('authenticators')
        .select(['id', 'cert_pem', 'renewal_cert_pem'])
        .where('method', '=', 'cert')
        .where('id', '>', after)
        .orderBy('id')
        .limit(BATCH)
        .execute()
      for (const { id, cert_pem, renewal_cert_pem } of rows) {
        await db
          .updateTable('authenticators')
          .set({ not_after: endOf(cert_pem), renewal_not_after: endOf(renewal_cert_pem) })
          .where('id', '=', id)
          .execute()
      }
      const last = rows.at(-1)
      if (last === undefined || rows.length < BATCH) return
      after = last.id
    }
  },
}

interface CertificateRow {
  readonly id: AuthenticatorId
  readonly cert_pem: string | null
  readonly renewal_cert_pem: string | null
}

function endOf(pem: string | null) {
  const certificate = pem === null ? undefined : readCertificate(pem)
  return certificate === undefined ? null : validity(certificate).notAfter
}
