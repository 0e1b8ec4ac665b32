/**
 * The authenticators of identities: passwords and certificates in one table, at most one of each for an
 * identity. A username is found by its folded form, a certificate by its fingerprint; both are unique.
 */
import {
  type Insertable,
  type Kysely,
  type RawBuilder,
  type Selectable,
  type SqlBool,
  sql,
} from 'kysely'
import { readCertificate, validity } from '../../base/certificates.ts'
import type { AuthenticatorId, IdentityId } from '../../base/ids.ts'
import type { Instant } from '../../base/time/instant.ts'
import {
  type Authenticator,
  type CertAuthenticator,
  type FreshAuthenticator,
  usernameKey,
} from '../../domain/identities/authenticator.ts'
import type { Authenticators } from '../../domain/identities/stores.ts'
import type { AUTHENTICATOR_FIELDS } from '../../domain/lists/fields.ts'
import {
  AUTHENTICATOR,
  CERT_AUTHENTICATOR,
  UPDB_AUTHENTICATOR,
} from '../../entities/authenticator.ts'
import { describedRows, listColumns } from '../described-rows.ts'
import type { ListFacts } from '../dialects/list-facts.ts'
import { fixedQuery } from '../fixed-query.ts'
import { type Listed, listRows } from '../lists/list-rows.ts'
import { deleteRow, updateRow } from '../one-row.ts'
import { oneOf, reading, text } from '../reading.ts'
import type { AuthenticatorRow, Tables } from '../tables.ts'
import { atomically } from '../transactions/atomically.ts'
import { insertUnique, updateUnique } from '../unique-rows.ts'
import { forgetFailures } from './password-failures.ts'

const RENEWAL_COLUMNS = ['renewal_cert_pem', 'renewal_fingerprint'] as const
const UPDB = describedRows('authenticators', UPDB_AUTHENTICATOR)
const CERT = describedRows('authenticators', CERT_AUTHENTICATOR)

/** What is read of an authenticator of either method. The key comes first. */
export const AUTHENTICATOR_COLUMNS: readonly (keyof AuthenticatorRow)[] = [
  ...new Set([...UPDB.columns, ...CERT.columns, ...RENEWAL_COLUMNS]),
]

const LIST: Listed<'authenticators', typeof AUTHENTICATOR_FIELDS> = {
  table: 'authenticators',
  columns: listColumns(AUTHENTICATOR),
  order: { field: 'createdAt', direction: 'asc' },
}

const select = (db: Kysely<Tables>) => db.selectFrom('authenticators').selectAll()
const FIND = fixedQuery((db, { id }: { id: AuthenticatorId }) => select(db).where('id', '=', id))
const FIND_UPDB = fixedQuery((db, { key }: { key: string }) =>
  select(db).where('username_key', '=', key),
)
const FIND_CERT = fixedQuery((db, { fingerprint }: { fingerprint: string }) =>
  select(db).where('fingerprint', '=', fingerprint),
)
const FIND_RENEWED_CERT = fixedQuery((db, { fingerprint }: { fingerprint: string }) =>
  select(db).where('renewal_fingerprint', '=', fingerprint),
)
const LIST_OF = fixedQuery((db, { identityId }: { identityId: IdentityId }) =>
  select(db).where('identity_id', '=', identityId).orderBy('created_at').orderBy('id'),
)
export const MARK_USED = fixedQuery((db, { id, version, at, fingerprint }: Use) =>
  db
    .updateTable('authenticators')
    .set({ last_used_at: at })
    .where('id', '=', id)
    .where('credential_version', '=', version)
    .where(hasCertificate(fingerprint)),
)
interface Use {
  readonly id: AuthenticatorId
  readonly version: number
  readonly at: Instant
  readonly fingerprint: string | null
}

/** Null: whatever certificate it has, or none. */
export function hasCertificate(fingerprint: string | null): RawBuilder<SqlBool> {
  return sql`(
    cast(${fingerprint} as text) is null
      or fingerprint = ${fingerprint} or renewal_fingerprint = ${fingerprint}
  )`
}

export function sqlAuthenticators(db: Kysely<Tables>, facts: ListFacts): Authenticators {
  return {
    find: (id) => FIND.find(db, { id }, authenticatorOf),

    findUpdb: (key) => FIND_UPDB.find(db, { key }, UPDB.fromRow),

    findCert: async (fingerprint) =>
      (await FIND_CERT.find(db, { fingerprint }, cert)) ??
      FIND_RENEWED_CERT.find(db, { fingerprint }, cert),

    async listOf(identityId) {
      return (await LIST_OF.run(db, { identityId })).rows.map(authenticatorOf)
    },

    async listOfMany(identityIds) {
      if (identityIds.length === 0) return []
      const query = select(db).where('identity_id', 'in', identityIds)
      return (await query.orderBy('created_at').orderBy('id').execute()).map(authenticatorOf)
    },

    list: (query) => listRows(db, facts, LIST, authenticatorOf, query),

    insert: (authenticator) =>
      insertUnique(db, 'authenticators', toRow(authenticator), {
        'method-in-use': ['identity_id', 'method'],
        'username-in-use': ['username_key'],
        'certificate-in-use': ['fingerprint'],
      }),

    remove: (id) => deleteRow(db, 'authenticators', { id }),

    replaceUpdb(id, version, { username, passwordHash, tags }, at) {
      const changes = {
        username,
        username_key: usernameKey(username),
        tags: JSON.stringify(tags),
        updated_at: at,
        ...(passwordHash === undefined
          ? {}
          : {
              password_hash: passwordHash,
              credential_version: version + 1,
              ...NO_FAILURES,
            }),
      }
      const where = { id, method: 'updb', credential_version: version }
      return atomically(db, async (tx) => {
        const outcome = await updateUnique(tx, 'authenticators', where, changes, {
          'username-in-use': ['username_key'],
        })
        if (outcome === 'replaced' && passwordHash !== undefined) await forgetFailures(tx, id)
        return outcome
      })
    },

    replaceCert(id, version, { certificate, tags }, at) {
      const changes = {
        tags: JSON.stringify(tags),
        updated_at: at,
        ...(certificate === undefined
          ? {}
          : {
              cert_pem: certificate.certPem,
              fingerprint: certificate.fingerprint,
              not_after: certificateEnd(certificate.certPem),
              is_issued_by_network: certificate.isIssuedByNetwork ? 1 : 0,
              credential_version: version + 1,
              // Drop a renewal in progress: the certificate that it would renew is replaced.
              renewal_cert_pem: null,
              renewal_fingerprint: null,
              renewal_not_after: null,
            }),
      }
      const where = { id, method: 'cert', credential_version: version }
      return updateUnique(db, 'authenticators', where, changes, {
        'certificate-in-use': ['fingerprint'],
      })
    },

    async markUsed(id, version, at, fingerprint) {
      return (
        (await MARK_USED.count(db, { id, version, at, fingerprint: fingerprint ?? null })) === 1
      )
    },

    replacePasswordHash(id, previous, next, at) {
      const changes = { password_hash: next, updated_at: at }
      return updateRow(db, 'authenticators', { id, password_hash: previous }, changes)
    },

    unlock: (id) =>
      atomically(db, async (tx) => {
        const isUnlocked = await updateRow(tx, 'authenticators', { id }, NO_FAILURES)
        await forgetFailures(tx, id)
        return isUnlocked
      }),
  }
}

function toRow(authenticator: FreshAuthenticator): Insertable<AuthenticatorRow> {
  if (authenticator.method === 'cert') {
    const row = CERT.toRow({ ...authenticator, ...NOT_USED_YET })
    return { ...row, not_after: certificateEnd(authenticator.certPem) }
  }
  return {
    ...UPDB.toRow({ ...authenticator, ...NOT_USED_YET }),
    username_key: usernameKey(authenticator.username),
  }
}

/** Null for a certificate that cannot be read: nothing reminds of its end (D-367). */
export function certificateEnd(pem: string): Instant | null {
  const certificate = readCertificate(pem)
  return certificate === undefined ? null : validity(certificate).notAfter
}

const NO_FAILURES = { failed_attempts: 0, locked_until: null, closed_until: null } as const

const NOT_USED_YET = { credentialVersion: 0, lastUsedAt: undefined } as const

export function authenticatorOf(row: Selectable<AuthenticatorRow>): Authenticator {
  const read = reading('authenticators', row.id, row)
  return read('method', oneOf('updb', 'cert')) === 'updb' ? UPDB.fromRow(row) : cert(row)
}

function cert(row: Selectable<AuthenticatorRow>): CertAuthenticator {
  return { ...CERT.fromRow(row), ...renewalOf(row) }
}

function renewalOf(row: Selectable<AuthenticatorRow>): Pick<CertAuthenticator, 'renewal'> {
  if (row.renewal_fingerprint === null) return {}
  const certPem = reading('authenticators', row.id, row)('renewal_cert_pem', text)
  return { renewal: { certPem, fingerprint: row.renewal_fingerprint } }
}
