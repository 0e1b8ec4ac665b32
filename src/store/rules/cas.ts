/** Third-party CAs. Names and certificates are unique; fields that are never searched are one JSON column. */
import type { Kysely } from 'kysely'
import type { CaId } from '../../base/ids.ts'
import type { Cas } from '../../domain/certificates/stores.ts'
import { CLAIM_LOCATIONS, CLAIM_MATCHERS, CLAIM_PARSERS } from '../../entities/ca.ts'
import { updateRow } from '../one-row.ts'
import { boolean, integer, listOf, object, oneOf, optional, text, truth } from '../reading.ts'
import type { Tables } from '../tables.ts'
import { insertUnique, updateUnique } from '../unique-rows.ts'
import { ruleRows, ruleTable } from './rule-table.ts'

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

const OWN = {
  id: text<CaId>,
  fingerprint: text,
  isVerified: truth,
  verificationToken: optional(text),
}
const { fromRow, toRow } = ruleRows('cas', OWN, BODY)

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
      return updateUnique(db, 'cas', { id }, changes, { 'name-in-use': ['name'] })
    },

    markVerified(id, at) {
      const changes = { is_verified: 1, verification_token: null, updated_at: at }
      return updateRow(db, 'cas', { id, is_verified: 0 }, changes)
    },
  }
}
