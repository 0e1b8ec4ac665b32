/**
 * The format of a backup: lines of JSON, described in docs/backup.md (D-158). A header, then for each table a line that
 * names it and one line for each row, then a line with the SHA-256 of all bytes before it and a proof that the writer
 * had the installation secret.
 */

import type { PassphraseBox } from '../../base/secrets/passphrase.ts'
import type { Random } from '../../base/secrets/random.ts'
import { createVault, type SecretHash } from '../../base/secrets/vault.ts'
import type { Instant } from '../../base/time/instant.ts'
import type { Row, TableName } from '../../store/whole/read-whole.ts'

export const FORMAT = 'latchkey-backup'
export const VERSION = 1

export interface Header {
  readonly takenAt: Instant
  /** The migrations that define the shape of the tables. */
  readonly shape: readonly string[]
  readonly counts: Readonly<Partial<Record<TableName, number>>>
  readonly secretFingerprint: SecretHash
  /** The installation secret, encrypted under a passphrase. */
  readonly secret: PassphraseBox | undefined
}

export interface Ending {
  readonly sha256: string
  readonly proof: SecretHash
}

export type Value = Row[string]

/** Keyed with the installation secret: an attacker who alters a backup can hash it again, but cannot prove it. */
export function proofOf(sha256: string, secret: Uint8Array, random: Random): SecretHash {
  return createVault(secret, random).hash('backup', sha256)
}

export function totalOf({ counts }: Pick<Header, 'counts'>): number {
  return Object.values(counts).reduce((total, count) => total + count, 0)
}
