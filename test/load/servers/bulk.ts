/** Many rows at once, written straight into the database: over the API a million identities would take hours. */

import { DatabaseSync } from 'node:sqlite'
import { execute } from '../../support/stores/postgres.ts'

/** Milliseconds. */
export const SESSION_LIFE = 3_600_000

export function fillSqlite(path: string, rows: number, now: number): void {
  const database = new DatabaseSync(path, { timeout: 30_000 })
  for (const statement of fillStatements(rows, now)) database.exec(statement)
  database.close()
}

export async function fillPostgres(url: string, rows: number, now: number): Promise<void> {
  for (const statement of fillStatements(rows, now)) await execute(url, statement)
  // What a server does by itself a little later, and the one of the tests does not.
  await execute(url, 'vacuum analyze')
}

/** Names are in another order than beginnings; half have an external id, a tenth another policy, a hundredth is disabled. */
function fillStatements(rows: number, now: number): readonly string[] {
  const numbers = `with recursive numbers (n) as (
    select 1 union all select n + 1 from numbers where n < ${rows}
  )`
  return [
    `insert into auth_policies select 'staff', 'staff', body, tags, created_at, updated_at
      from auth_policies where id = 'default'`,
    `insert into identities
      (id, name, type, is_admin, external_id, auth_policy_id, role_attributes, app_data, tags, disabled_at,
       disabled_until, created_at, updated_at)
      ${numbers}
      select 'i' || n, 'user-' || ((n * 7919) % ${rows}), 'Default', 0, case when n % 2 = 0 then 'x' || n end,
        case when n % 10 = 0 then 'staff' else 'default' end, '["one","two"]', '{}', '{"floor":3}',
        case when n % 100 = 0 then ${now} end, null, ${now} - n, ${now} - n
      from numbers`,
    `insert into authenticators
      (id, identity_id, method, username, username_key, password_hash, tags, created_at, updated_at)
      ${numbers}
      select 'a' || n, 'i' || n, 'updb', 'name-' || n, 'name-' || n, 'hash', '{}', ${now} - n, ${now} - n
      from numbers`,
    `insert into api_sessions
      (id, kind, identity_id, authenticator_id, proof, amr, config_types, address, user_agent, issuer, client_id,
       scopes, is_totp_proven, created_at, ends_at, expires_at)
      ${numbers}
      select 's' || n, 'oidc', 'i' || n, 'a' || n,
        '{"primary":{"method":"password","at":${now}},"extJwt":null}', '["pwd"]', '[]', '192.0.2.1', 'bench',
        'https://localhost/oidc', 'service', '["openid"]', 0, ${now} - n, ${now + SESSION_LIFE}, ${now + SESSION_LIFE} + n
      from numbers`,
    `insert into refresh_tokens (hash, session_id, issued_at, expires_at)
      ${numbers}
      select 'h' || ((n * 7919) % ${rows}), 's' || n, ${now} - n, ${now + SESSION_LIFE} + n
      from numbers`,
    `insert into events
      (id, at, type, actor_id, identity_id, session_id, address, request_id, user_agent, reason, details)
      ${numbers}
      select 'e' || n, ${now} - n, case when n % 10 = 0 then 'login.failed' else 'token.refreshed' end,
        case when n % 1000 = 0 then 'i1' end, 'i' || n, 's' || n, '192.0.2.1', 'r' || n, 'bench',
        case when n % 10 = 0 then 'wrong-password' end, '{}'
      from numbers`,
  ]
}
