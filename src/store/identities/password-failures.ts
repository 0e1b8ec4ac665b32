/**
 * Consecutive wrong passwords: D-22, R079. There is one row for each network or known device that they came from, and
 * the total is stored with the password itself. Every change first locks the row of the password: so a hundred parallel
 * failures count as a hundred, and a correct password that comes just after a lock sees the lock.
 *
 * A failure runs the same statements for every password, locked or not, and for one that does not exist: the time they
 * take must not reveal which it was (R077).
 */
import { type Kysely, type Selectable, sql } from 'kysely'
import type { AuthenticatorId } from '../../base/ids.ts'
import { type Instant, later, plus } from '../../base/time/instant.ts'
import type { GuessOrigin, LockRule, PasswordFailures } from '../../domain/factors/stores.ts'
import { fixedQuery } from '../fixed-query.ts'
import { deleteRow, updateRow } from '../one-row.ts'
import { removeBefore } from '../remove-before.ts'
import type { PasswordFailuresRow, Tables } from '../tables.ts'
import { atomically } from '../transactions/atomically.ts'

type Kind = 'network' | 'device'
type Row = Selectable<PasswordFailuresRow>

/**
 * The most rows of one kind for a password, so that guesses from ever more networks cannot fill the database. The total
 * locks the password long before that many networks can be locked out.
 */
export const MOST_ORIGINS = 100

const total = (db: Kysely<Tables>, id: AuthenticatorId) =>
  db
    .selectFrom('authenticators')
    .select(['failed_attempts', 'closed_until', 'locked_until'])
    .where('id', '=', id)
const TOTAL = fixedQuery((db, { id }: { id: AuthenticatorId }) => total(db, id))
const HOLD = fixedQuery((db, { id }: { id: AuthenticatorId }) => total(db, id).forNoKeyUpdate())
const LIST_OF = fixedQuery((db, { id }: { id: AuthenticatorId }) =>
  db
    .selectFrom('password_failures')
    .selectAll()
    .where('authenticator_id', '=', id)
    .orderBy('expires_at', 'desc')
    .orderBy('origin'),
)

export function sqlPasswordFailures(db: Kysely<Tables>): PasswordFailures {
  return {
    async isTrusted(id, device) {
      return isTrusted(rowOf(await listOf(db, id), 'device', device))
    },

    add: (id, origin, rule, now) =>
      atomically(db, async (tx) => {
        const held = await hold(tx, id)
        const rows = await listOf(tx, id)
        const { maxAttempts, ceiling, lockUntil } = rule
        const isClosed = holds(held.closed_until, now)
        // Check before writing anything. A correct password would have been rejected too, so this was not a guess: if
        // it were counted, a single network could reach the ceiling and lock out all others (R080).
        const wasGuess = isOpen({ ...held, rows }, origin, now)
        if (origin.device !== undefined && maxAttempts > 0) {
          const row = rowOf(rows, 'device', origin.device)
          await write(tx, id, after(row, { kind: 'device', origin: origin.device }, rule, now))
          if (row === undefined) await removeOldest(tx, rows, 'device')
        }
        const row = rowOf(rows, 'network', origin.network)
        const next = after(row, { kind: 'network', origin: origin.network }, rule, now)
        // While the password is locked for all networks, a single network needs no row.
        const isCounted = maxAttempts > 0 && !isClosed
        await write(tx, isCounted ? id : undefined, next)
        if (row === undefined && isCounted) await removeOldest(tx, rows, 'network')

        // When a lock has expired, the count starts again.
        const before = held.closed_until === null || isClosed ? held.failed_attempts : 0
        const total = wasGuess && !isClosed ? before + 1 : before
        const closed = isCounted && total >= ceiling ? lockUntil(1) : undefined
        const network = isCounted && next.isLockedNow ? next.lockedUntil : undefined
        const lockedUntil = latest(network, closed)
        await updateRow(
          tx,
          'authenticators',
          { id },
          {
            failed_attempts: total,
            closed_until: isClosed ? held.closed_until : (closed ?? null),
            locked_until: latest(held.locked_until ?? undefined, lockedUntil) ?? null,
          },
        )
        return { lockedUntil: held.isThere ? lockedUntil : undefined }
      }),

    async clear(id, origin, now) {
      const standing = await read(db, id)
      if (standing === undefined) return false
      if (!isOpen(standing, origin, now)) return false
      if (isClean(standing)) return true
      return atomically(db, async (tx) => {
        const held = await hold(tx, id)
        const rows = await listOf(tx, id)
        if (!held.isThere || !isOpen({ ...held, rows }, origin, now)) return false
        const network = rowOf(rows, 'network', origin.network)
        const device = rowOf(rows, 'device', origin.device)
        if (device !== undefined) await remove(tx, device)
        if (network !== undefined && !holds(network.locked_until, now)) await remove(tx, network)
        if (holds(held.closed_until, now)) return true
        const cleared = {
          failed_attempts: 0,
          closed_until: null,
          locked_until: latestLock(rows, now),
        }
        await updateRow(tx, 'authenticators', { id }, cleared)
        return true
      })
    },

    removeExpired: removeBefore(db, {
      table: 'password_failures',
      key: ['authenticator_id', 'kind', 'origin'],
      time: 'expires_at',
    }),
  }
}

/** For a new password, and for an administrator who unlocks. */
export async function forgetFailures(db: Kysely<Tables>, id: AuthenticatorId): Promise<void> {
  await db.deleteFrom('password_failures').where('authenticator_id', '=', id).execute()
}

interface Total {
  readonly failed_attempts: number
  readonly closed_until: Instant | null
  readonly locked_until: Instant | null
}

/** Locks the row of the password until the transaction ends. */
async function hold(
  db: Kysely<Tables>,
  id: AuthenticatorId,
): Promise<Total & { readonly isThere: boolean }> {
  const row = await HOLD.first(db, { id })
  const nothing = { failed_attempts: 0, closed_until: null, locked_until: null }
  return { ...(row ?? nothing), isThere: row !== undefined }
}

type Standing = Total & { readonly rows: readonly Row[] }

/** Reads without a lock. The same statements for a password that does not exist (R077). */
async function read(db: Kysely<Tables>, id: AuthenticatorId): Promise<Standing | undefined> {
  const total = await TOTAL.first(db, { id })
  const rows = await listOf(db, id)
  return total && { ...total, rows }
}

/** Their number is bounded (`MOST_ORIGINS`). */
async function listOf(db: Kysely<Tables>, id: AuthenticatorId): Promise<readonly Row[]> {
  return (await LIST_OF.run(db, { id })).rows
}

function rowOf(rows: readonly Row[], kind: Kind, origin: string | undefined): Row | undefined {
  return rows.find((row) => row.kind === kind && row.origin === origin)
}

type Next = Pick<Row, 'kind' | 'origin' | 'failures' | 'locks' | 'expires_at'> & {
  readonly lockedUntil: Instant | undefined
  readonly isLockedNow: boolean
}

/** Returns the row after one more failure. During a lock it stays the same: further attempts do not extend the lock. */
function after(
  existing: Row | undefined,
  { kind, origin }: { readonly kind: Kind; readonly origin: string },
  rule: LockRule,
  now: Instant,
): Next {
  const row = existing !== undefined && existing.expires_at > now ? existing : undefined
  if (row !== undefined && holds(row.locked_until, now)) {
    return { ...row, lockedUntil: row.locked_until ?? undefined, isLockedNow: false }
  }
  const failures = (row?.failures ?? 0) + 1
  const isLockedNow = failures >= rule.maxAttempts
  const locks = (row?.locks ?? 0) + (isLockedNow ? 1 : 0)
  const lockedUntil = isLockedNow ? rule.lockUntil(locks) : undefined
  const keep = kind === 'network' ? rule.keepNetwork : rule.keepDevice
  return {
    kind,
    origin,
    failures: isLockedNow ? 0 : failures,
    locks,
    expires_at: plus(lockedUntil ?? now, keep),
    lockedUntil,
    isLockedNow,
  }
}

/** Changes nothing for a password that does not exist or must not be counted: `undefined`. */
async function write(
  db: Kysely<Tables>,
  id: AuthenticatorId | undefined,
  next: Next,
): Promise<void> {
  await sql`
    insert into password_failures
      (authenticator_id, kind, origin, failures, locks, locked_until, expires_at)
    select id, cast(${next.kind} as text), cast(${next.origin} as text),
      cast(${next.failures} as integer), cast(${next.locks} as integer),
      cast(${next.lockedUntil ?? null} as bigint), cast(${next.expires_at} as bigint)
    from authenticators where id = ${id ?? ''}
    on conflict (authenticator_id, kind, origin) do update
    set failures = excluded.failures, locks = excluded.locks,
      locked_until = excluded.locked_until, expires_at = excluded.expires_at
  `.execute(db)
}

/**
 * Deletes the row that expires first if a row was added at the limit. `rows` are the rows before that, sorted by
 * expiry, latest first.
 */
async function removeOldest(db: Kysely<Tables>, rows: readonly Row[], kind: Kind): Promise<void> {
  const ofKind = rows.filter((row) => row.kind === kind)
  const oldest = ofKind.at(-1)
  if (ofKind.length >= MOST_ORIGINS && oldest !== undefined) await remove(db, oldest)
}

async function remove(db: Kysely<Tables>, row: Row): Promise<void> {
  const { authenticator_id, kind, origin } = row
  await deleteRow(db, 'password_failures', { authenticator_id, kind, origin })
}

/** Whether a correct password from this origin is accepted. */
function isOpen(standing: Standing, { network, device }: GuessOrigin, now: Instant): boolean {
  const { rows } = standing
  if (device !== undefined && isTrusted(rowOf(rows, 'device', device))) return true
  const row = rowOf(rows, 'network', network)
  return !holds(standing.closed_until, now) && !(row !== undefined && holds(row.locked_until, now))
}

function isClean({ failed_attempts, closed_until, locked_until, rows }: Standing): boolean {
  return (
    failed_attempts === 0 && closed_until === null && locked_until === null && rows.length === 0
  )
}

/** A device that was locked out once counts as unknown until its next correct password. */
const isTrusted = (row: Row | undefined) => row === undefined || row.locks === 0

/** Returns the latest end of all network locks. */
function latestLock(rows: readonly Row[], now: Instant): Instant | null {
  const ends = rows
    .filter((row) => row.kind === 'network' && holds(row.locked_until, now))
    .map((row) => row.locked_until as Instant)
  return ends.reduce<Instant | null>((a, b) => (a === null ? b : later(a, b)), null)
}

const holds = (until: Instant | null, now: Instant) => until !== null && until > now

function latest(a: Instant | undefined, b: Instant | undefined): Instant | undefined {
  if (a === undefined || b === undefined) return a ?? b
  return later(a, b)
}
