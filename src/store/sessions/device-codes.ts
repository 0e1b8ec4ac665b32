/** Devices that wait until a user approves their sign-in, by the hashes of their two codes. D-440. */
import { type Insertable, type Kysely, type Selectable, sql } from 'kysely'
import { networkOf, siteOf } from '../../base/network.ts'
import type { SecretHash } from '../../base/secrets/vault.ts'
import type { Instant } from '../../base/time/instant.ts'
import type { DeviceCode } from '../../domain/device/device-code.ts'
import type { DeviceCodes } from '../../domain/device/stores.ts'
import { shapedRows } from '../described-rows.ts'
import { insertRow } from '../fixed-query.ts'
import { findRow, updateRow } from '../one-row.ts'
import { integer, json, listOf, oneOf, optional, text } from '../reading.ts'
import { removeBefore } from '../remove-before.ts'
import type { DeviceCodeRow, Tables } from '../tables.ts'

const ROWS = shapedRows('device_codes', (row) => row.user_code_hash, {
  hash: text<SecretHash>,
  userCodeHash: text<SecretHash>,
  clientId: text,
  issuer: text<DeviceCode['issuer']>,
  scopes: json(listOf(text<DeviceCode['scopes'][number]>)),
  address: text,
  userAgent: optional(text),
  requestedAt: integer<Instant>,
  expiresAt: integer<Instant>,
  polledAt: optional(integer<Instant>),
  answer: oneOf('pending', 'approved', 'denied'),
})

export function sqlDeviceCodes(db: Kysely<Tables>): DeviceCodes {
  return {
    find: (hash) => findRow(db, 'device_codes', { hash }, fromRow),

    findByUserCode: (hash) => findRow(db, 'device_codes', { user_code_hash: hash }, fromRow),

    insert: (code) => insertRow(db, 'device_codes', toRow(code), 'user_code_hash'),

    async countOutstanding(network, now) {
      const site = siteOf(network)
      // Hex digits and colons: nothing in a site has a meaning for `like`.
      const isOfSite =
        site === undefined ? sql`network = ${network}` : sql`network like ${`${site}%`}`
      const row = await db
        .selectFrom('device_codes')
        .select(({ fn }) => [
          fn.countAll<number>().as('all'),
          fn
            .sum<number | null>(sql`case when network = ${network} then 1 else 0 end`)
            .as('of_network'),
          fn.sum<number | null>(sql`case when ${isOfSite} then 1 else 0 end`).as('of_site'),
        ])
        .where('expires_at', '>', now)
        .where('answer', '=', 'pending')
        .executeTakeFirstOrThrow()
      const { all, of_network: ofNetwork, of_site: ofSite } = row
      return { all: Number(all), ofNetwork: Number(ofNetwork ?? 0), ofSite: Number(ofSite ?? 0) }
    },

    async markPolled(hash, at, interval) {
      const polled = { polled_at: at, poll_interval: interval }
      await updateRow(db, 'device_codes', { hash, answer: 'pending' }, polled)
    },

    async answer(userCodeHash, answer, at) {
      const { numUpdatedRows } = await db
        .updateTable('device_codes')
        .set({ answer })
        .where('user_code_hash', '=', userCodeHash)
        .where('answer', '=', 'pending')
        .where('expires_at', '>', at)
        .executeTakeFirst()
      return numUpdatedRows === 1n
    },

    removeExpired: removeBefore(db, { table: 'device_codes', key: ['hash'], time: 'expires_at' }),
  }
}

function toRow({ interval, ...code }: DeviceCode): Insertable<DeviceCodeRow> {
  return { ...ROWS.toRow(code), poll_interval: interval, network: networkOf(code.address) }
}

function fromRow(row: Selectable<DeviceCodeRow>): DeviceCode {
  return { ...ROWS.fromRow(row), interval: row.poll_interval }
}
