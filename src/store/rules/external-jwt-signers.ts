/** External JWT signers. Names and issuers are unique; the rest is one JSON column, because nothing searches in it. */
import type { Kysely, Selectable } from 'kysely'
import {
  type ExternalJwtSigner,
  type SignerKeys,
  TARGET_TOKENS,
} from '../../domain/ext-jwt/signer.ts'
import type { ExternalJwtSigners } from '../../domain/ext-jwt/stores.ts'
import { insertUnique } from '../insert-unique.ts'
import {
  boolean,
  json,
  listOf,
  object,
  oneOf,
  optional,
  reading,
  type Shape,
  tags,
  text,
} from '../reading.ts'
import type { ExternalJwtSignerRow, Tables } from '../tables.ts'
import { updateUnique } from '../update-unique.ts'
import { ruleTable } from './rule-table.ts'

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

export function sqlExternalJwtSigners(db: Kysely<Tables>): ExternalJwtSigners {
  return {
    ...ruleTable(db, 'external_jwt_signers', fromRow),

    insert: (signer) =>
      insertUnique(db, 'external_jwt_signers', toRow(signer), {
        'name-in-use': ['name'],
        'issuer-in-use': ['issuer'],
      }),

    replace(signer) {
      const { id, created_at: _, ...changes } = toRow(signer)
      return updateUnique(db, 'external_jwt_signers', { id }, changes, {
        'name-in-use': 'name',
        'issuer-in-use': 'issuer',
      })
    },
  }
}

function toRow(signer: ExternalJwtSigner): ExternalJwtSignerRow {
  const { id, name, issuer, tags, createdAt, updatedAt, ...rest } = signer
  const body: ReturnType<typeof BODY> = rest
  return {
    id,
    name,
    issuer,
    body: JSON.stringify(body),
    tags: JSON.stringify(tags),
    created_at: createdAt,
    updated_at: updatedAt,
  }
}

function fromRow(row: Selectable<ExternalJwtSignerRow>): ExternalJwtSigner {
  const read = reading('external_jwt_signers', row.id, row)
  return {
    id: row.id,
    name: row.name,
    issuer: row.issuer,
    ...read('body', json(BODY)),
    tags: read('tags', json(tags)),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}
