/** When the last access token of a session expires: its ending is kept that long, and no longer (D-231). */
import type { Migration } from '../migration.ts'

export const tokensEnd: Migration = {
  name: '0005-tokens-end',
  // Null for sessions that began earlier: the value is unknown, and their endings are kept until the session would have
  // ended.
  statements: () => ['alter table api_sessions add column tokens_end_at bigint'],
}
