/** DPoP proofs that were used: D-450. */
import type { Migration } from './migration.ts'

export const usedProofs: Migration = {
  name: '0017-used-proofs',
  statements: ({ passingTable }) => [
    `create ${passingTable} used_proofs (
      hash text primary key,
      expires_at bigint not null
    )`,
    'create index used_proofs_expiry on used_proofs (expires_at)',
  ],
}
