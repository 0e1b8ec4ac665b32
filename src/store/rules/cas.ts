/** Third-party CAs. Names and certificates are unique; fields that are never searched are one JSON column. */
import type { Kysely, Selectable } from 'kysely'
import type { Cas } from '../../domain/certificates/stores.ts'
import type { Ca } from '../../domain/certificates/third-party/ca.ts'
import { CLAIM_LOCATIONS, CLAIM_MATCHERS, CLAIM_PARSERS } from '../../entities/ca.ts'
import { insertUnique } from '../insert-unique.ts'
import {
  boolean,
  integer,
  json,
  listOf,
  object,
  oneOf,
  optional,
  reading,
  tags,
  text,
  truth,
} from '../reading.ts'
import type { CaRow, Tables } from '../tables.ts'
import { updateUnique } from '../update-unique.ts'
import { ruleTable } from './rule-table.ts'

const BODY = object({
  certPem: text,
  isAuthEnabled: boolean,
  isOttCaEnrollmentEnabled: boolean,
  isAutoCaEnrollmentEnabled: boolean,
  identityRoles: listOf(text),
  identityNameFormat: text,
  externalIdClaim: optional(
    object({
      location: oneOf(...CLAIM_LOCATIONS),
      matcher: oneOf(...CLAIM_MATCHERS),
      matcherCriteria: text,
      parser: oneOf(...CLAIM_PARSERS),
      parserCriteria: text,
      index: integer,
    }),
  ),
})

export function sqlCas(db: Kysely<Tables>): Cas {
  return {
    ...ruleTable(db, 'cas', fromRow),

    insert: (ca) =>
      insertUnique(db, 'cas', toRow(ca), {
        'name-in-use': ['name'],
        'certificate-in-use': ['fingerprint'],
      }),

    replace(ca) {
      const { id, name, body, tags, updated_at } = toRow(ca)
      const changes = { name, body, tags, updated_at }
      return updateUnique(db, 'cas', { id }, changes, { 'name-in-use': 'name' })
    },

    async markVerified(id, at) {
      const { numUpdatedRows } = await db
        .updateTable('cas')
        .set({ is_verified: 1, verification_token: null, updated_at: at })
        .where('id', '=', id)
        .where('is_verified', '=', 0)
        .executeTakeFirst()
      return numUpdatedRows === 1n
    },
  }
}

function toRow(ca: Ca): CaRow {
  const { id, name, fingerprint, isVerified, verificationToken, tags, ...more } = ca
  const { createdAt, updatedAt, ...rest } = more
  const body: ReturnType<typeof BODY> = rest
  return {
    id,
    name,
    fingerprint,
    is_verified: isVerified ? 1 : 0,
    verification_token: verificationToken ?? null,
    body: JSON.stringify(body),
    tags: JSON.stringify(tags),
    created_at: createdAt,
    updated_at: updatedAt,
  }
}

function fromRow(row: Selectable<CaRow>): Ca {
  const read = reading('cas', row.id, row)
  return {
    id: row.id,
    name: row.name,
    fingerprint: row.fingerprint,
    isVerified: read('is_verified', truth),
    verificationToken: read('verification_token', optional(text)),
    ...read('body', json(BODY)),
    tags: read('tags', json(tags)),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}
