/** Token signing keys, the private part sealed (D-23). The generation decides between instances. */
import type { Kysely } from 'kysely'
import type { Duration } from '../../base/time/duration.ts'
import type { Instant } from '../../base/time/instant.ts'
import { KEY_PURPOSES, SIGNING_ALGORITHMS } from '../../domain/tokens/keys/signing-key.ts'
import type { SigningKeyStore } from '../../domain/tokens/stores.ts'
import { shapedRows } from '../described-rows.ts'
import { insertRow } from '../fixed-query.ts'
import { deleteRow } from '../one-row.ts'
import { integer, json, mapOf, oneOf, text } from '../reading.ts'
import type { Tables } from '../tables.ts'

const { fromRow, toRow } = shapedRows('signing_keys', ({ kid }) => kid, {
  kid: text,
  generation: integer,
  purpose: oneOf(...KEY_PURPOSES),
  algorithm: oneOf(...SIGNING_ALGORITHMS),
  publicJwk: json(mapOf(text)),
  sealedPrivateJwk: text,
  createdAt: integer<Instant>,
  activeFrom: integer<Instant>,
  tokenLife: integer<Duration>,
})

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

    remove: (kid) => deleteRow(db, 'signing_keys', { kid }),

    async removeBefore(generation) {
      const query = db.deleteFrom('signing_keys').where('generation', '<', generation)
      const rows = await query.returningAll().execute()
      return rows.map(fromRow)
    },
  }
}
