/** External JWT signers. Names and issuers are unique; the rest is one JSON column, because nothing searches in it. */
import type { Kysely } from 'kysely'
import type { ExternalJwtSignerId } from '../../base/ids.ts'
import { type SignerKeys, TARGET_TOKENS } from '../../domain/ext-jwt/signer.ts'
import type { ExternalJwtSigners } from '../../domain/ext-jwt/stores.ts'
import { boolean, listOf, object, oneOf, optional, type Shape, text } from '../reading.ts'
import type { Tables } from '../tables.ts'
import { insertUnique, updateUnique } from '../unique-rows.ts'
import { ruleRows, ruleTable } from './rule-table.ts'

const JWKS = object({ kind: oneOf('jwks'), jwksEndpoint: text })
const CERTIFICATE = object({ kind: oneOf('certificate'), certPem: text, kid: optional(text) })
const ANY_KEYS = object({ kind: oneOf('jwks', 'certificate') })

const keys: Shape<SignerKeys> = (value) =>
  ANY_KEYS(value).kind === 'jwks' ? JWKS(value) : CERTIFICATE(value)

const BODY = object({
  enabled: boolean,
  audience: text,
  keys,
  claimsProperty: text,
  useExternalId: boolean,
  externalAuthUrl: optional(text),
  clientId: optional(text),
  scopes: listOf(text),
  targetToken: oneOf(...TARGET_TOKENS),
})

const UNIQUE = { 'name-in-use': ['name'], 'issuer-in-use': ['issuer'] } as const
const OWN = { id: text<ExternalJwtSignerId>, issuer: text }
const { fromRow, toRow } = ruleRows('external_jwt_signers', OWN, BODY)

export function sqlExternalJwtSigners(db: Kysely<Tables>): ExternalJwtSigners {
  return {
    ...ruleTable(db, 'external_jwt_signers', fromRow),

    insert: (signer) => insertUnique(db, 'external_jwt_signers', toRow(signer), UNIQUE),

    replace(signer) {
      const { id, created_at: _, ...changes } = toRow(signer)
      return updateUnique(db, 'external_jwt_signers', { id }, changes, UNIQUE)
    },
  }
}
