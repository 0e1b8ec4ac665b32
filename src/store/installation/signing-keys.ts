/** Token signing keys, the private part sealed (D-23). The generation decides between instances. */
import type { Kysely, Selectable } from 'kysely'
import {
  KEY_PURPOSES,
  SIGNING_ALGORITHMS,
  type StoredSigningKey,
} from '../../domain/tokens/keys/signing-key.ts'
import type { SigningKeyStore } from '../../domain/tokens/stores.ts'
import { insertRow } from '../fixed-query.ts'
import { json, mapOf, oneOf, reading, text } from '../reading.ts'
import type { SigningKeyRow, Tables } from '../tables.ts'

export function sqlSigningKeys(db: Kysely<Tables>): SigningKeyStore {
  return {
    async list() {
      const query = db.selectFrom('signing_keys').selectAll().orderBy('generation')
      return (await query.execute()).map(fromRow)
    },

    insert: (key) => insertRow(db, 'signing_keys', toRow(key), 'generation'),

    async raiseTokenLife(life) {
      await db
        .updateTable('signing_keys')
        .set({ token_life: life })
        .where('token_life', '<', life)
        .execute()
    },

    async remove(kid) {
      const query = db.deleteFrom('signing_keys').where('kid', '=', kid)
      const { numDeletedRows } = await query.executeTakeFirst()
      return numDeletedRows === 1n
    },

    async removeBefore(generation) {
      const query = db.deleteFrom('signing_keys').where('generation', '<', generation)
      const rows = await query.returningAll().execute()
      return rows.map(fromRow)
    },
  }
}

function toRow(key: StoredSigningKey): SigningKeyRow {
  return {
    kid: key.kid,
    generation: key.generation,
    purpose: key.purpose,
    algorithm: key.algorithm,
    public_jwk: JSON.stringify(key.publicJwk),
    sealed_private_jwk: key.sealedPrivateJwk,
    created_at: key.createdAt,
    active_from: key.activeFrom,
    token_life: key.tokenLife,
  }
}

function fromRow(row: Selectable<SigningKeyRow>): StoredSigningKey {
  const read = reading('signing_keys', row.kid, row)
  return {
    kid: row.kid,
    generation: row.generation,
    purpose: read('purpose', oneOf(...KEY_PURPOSES)),
    algorithm: read('algorithm', oneOf(...SIGNING_ALGORITHMS)),
    publicJwk: read('public_jwk', json(mapOf(text))),
    sealedPrivateJwk: row.sealed_private_jwk,
    createdAt: row.created_at,
    activeFrom: row.active_from,
    tokenLife: row.token_life,
  }
}
