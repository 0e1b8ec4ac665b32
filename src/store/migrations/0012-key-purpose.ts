/**
 * Which kind of token a signing key signs: D-320. Keys from before signed both, and go on until each kind has a successor.
 */
import type { Migration } from './migration.ts'

export const keyPurpose: Migration = {
  name: '0012-key-purpose',
  statements: () => ["alter table signing_keys add column purpose text not null default 'any'"],
}
