/**
 * Opens the store: connects, migrates, and assembles the query files. No other part of the program knows which database
 * is used.
 */
import { Kysely } from 'kysely'
import type { Secret } from '../base/secrets/secret.ts'
import type { Store, Stores } from '../domain/stores.ts'
import { StoreUnavailable } from '../errors/store-unavailable.ts'
import type { Database, Written } from './dialects/database.ts'
import { guarded, unavailable } from './dialects/guarded.ts'
import { checkFile } from './dialects/sqlite/check.ts'
import { sqlite } from './dialects/sqlite.ts'
import { type KeptEvent, sqlEvents } from './events.ts'
import { sqlAuthenticators } from './identities/authenticators.ts'
import { sqlCertificateRenewals } from './identities/certificate-renewals.ts'
import { sqlCodeGuesses } from './identities/code-guesses.ts'
import { sqlEnrollments } from './identities/enrollments.ts'
import { sqlIdentities } from './identities/identities.ts'
import { sqlPasskeys } from './identities/passkeys.ts'
import { sqlPasswordFailures } from './identities/password-failures.ts'
import { sqlRecoveryCodes } from './identities/recovery-codes.ts'
import { sqlTotpEnrollments } from './identities/totp-enrollments.ts'
import { sqlAuthorities } from './installation/authorities.ts'
import { sqlInstallation } from './installation/installation.ts'
import { sqlSealedValues } from './installation/sealed-values.ts'
import { sqlSigningKeys } from './installation/signing-keys.ts'
import { madeWhenUsed } from './made-when-used.ts'
import { migrate } from './migrate.ts'
import { sqlInstances } from './overview/instances.ts'
import { sqlSessionSamples } from './overview/session-samples.ts'
import { sqlStatistics } from './overview/statistics.ts'
import { rememberReads } from './remembered-reads.ts'
import { sqlAuthPolicies } from './rules/auth-policies.ts'
import { sqlCas } from './rules/cas.ts'
import { sqlExternalJwtSigners } from './rules/external-jwt-signers.ts'
import { sqlRuleVersions } from './rules/rule-versions.ts'
import { sqlApiSessions } from './sessions/api-sessions.ts'
import { sqlAuthRequests } from './sessions/auth-requests.ts'
import { sqlDeviceCodes } from './sessions/device-codes.ts'
import { sqlRefreshTokens } from './sessions/refresh-tokens.ts'
import { sqlRouterRuns } from './sessions/router-runs.ts'
import { sqlSessionCertificates } from './sessions/session-certificates.ts'
import { sqlSessionContacts } from './sessions/session-contacts.ts'
import { sqlSessionEndings } from './sessions/session-endings.ts'
import { sqlSpentHashes } from './sessions/spent-hashes.ts'
import { inTransaction } from './short-way.ts'
import type { Tables } from './tables.ts'
import { type InTransaction, sharedTransactions } from './transactions/shared-commit.ts'
import { runAsWhole } from './transactions/whole-calls.ts'

export { StoreUnavailable, unavailable }

export type StoreAddress =
  /** `:memory:` is a database that lives as long as the store. */
  | { readonly kind: 'sqlite'; readonly path: string }
  | {
      readonly kind: 'postgres'
      readonly url: Secret
      /** Of this process; a few of them are kept aside (D-297). */
      readonly maxConnections?: number
      /** Remembers the history of the server over restarts (D-296). */
      readonly timelineFile?: string
    }

/** Called with the events of one commit, in order, after the commit; never with events that were rolled back. */
export type OnEvents = (events: readonly KeptEvent[]) => void

/** Opens a store whose tables are up to date. Throws StoreUnavailable if it cannot. */
export async function openStore(
  address: StoreAddress,
  onEvents: OnEvents = () => {},
): Promise<Store> {
  const { db, database } = await openMigrated(address)
  await database.beginService().catch(async (error) => {
    await db.destroy()
    throw unavailable(database, error)
  })
  const { dialectAside } = database
  // On connections of its own, if the database has such (D-297).
  const aside =
    dialectAside === undefined
      ? db
      : new Kysely<Tables>({ dialect: guarded(database, dialectAside) })
  const emit = (event: KeptEvent) => onEvents([event])
  const version = database.openVersion?.()
  const followed = storesOn(aside, database, emit)
  const shared = sharedTransactions(db)
  const run: InTransaction = database.hasOneWriter ? shared.run : (work) => inTransaction(db, work)
  const transaction: Store['transaction'] = async (work) => {
    const events: KeptEvent[] = []
    const outcome = await run((tx) => within(tx, database, (event) => events.push(event), work))
    if (events.length > 0) onEvents(events)
    return outcome
  }
  const written = <Given, Outcome>(write: Written<(given: Given) => Promise<Outcome>>) =>
    'inOneStatement' in write
      ? (given: Given) => write.inOneStatement(db, emit, given)
      : async (given: Given) => {
          // Only of the attempt that was committed.
          let events: KeptEvent[] = []
          const outcome = await shared.runPrompt((tx) => {
            events = []
            return write.inOneTurn(tx, (event) => events.push(event), given)
          })
          if (events.length > 0) onEvents(events)
          return outcome
        }
  return {
    ...storesOn(db, database, emit),
    aside: version === undefined ? followed : rememberReads(followed, () => version.current()),
    changes: {
      isPushed: () => database.changes?.isPushed() ?? false,
      isProven: () => database.changes?.isProven?.() ?? false,
      follow: (listener) => database.changes?.follow(listener),
      version: () => version?.current(),
    },
    transaction,
    spendRefreshToken: written(database.spendRefreshToken),
    beginSession: written(database.beginSession),
    databaseTime: () => database.readTime(aside),
    async close() {
      version?.close()
      if (aside !== db) await aside.destroy()
      await db.destroy()
    },
  }
}

/**
 * Checks the file of a database for damage, for at most a few seconds. Returns whether there was time to check all of
 * it. Throws StoreUnavailable if it is damaged. A database server checks its own files.
 */
export async function checkForDamage(address: StoreAddress): Promise<'sound' | 'unfinished'> {
  if (address.kind !== 'sqlite' || address.path === ':memory:') return 'sound'
  const { path } = address
  const outcome = await checkFile(path)
  if (typeof outcome === 'string') return outcome
  throw new StoreUnavailable(
    `the database ${path} is damaged (${outcome.damage}); move it away with the files ${path}-wal and ` +
      `${path}-shm, and restore a backup: latchkey restore`,
  )
}

export interface OpenDatabase {
  readonly db: Kysely<Tables>
  readonly database: Database
}

/** Regardless of its content. Does not query the database yet. */
export async function openDatabase(address: StoreAddress): Promise<OpenDatabase> {
  const database = await databaseAt(address)
  return { db: new Kysely<Tables>({ dialect: guarded(database) }), database }
}

/** With tables that are up to date. Throws StoreUnavailable. */
export async function openMigrated(address: StoreAddress): Promise<OpenDatabase> {
  const opened = await openDatabase(address)
  try {
    await migrate(opened.db, opened.database)
  } catch (error) {
    await opened.db.destroy()
    throw unavailable(opened.database, error)
  }
  return opened
}

async function databaseAt(address: StoreAddress): Promise<Database> {
  switch (address.kind) {
    case 'sqlite':
      return sqlite(address.path)
    case 'postgres': {
      // Load this driver only when it is used, so that a start with SQLite does not wait for it.
      const { postgres } = await import('./dialects/postgres.ts')
      return postgres(address.url, address)
    }
  }
}

/** What every store is made of. */
interface Ground {
  readonly db: Kysely<Tables>
  readonly lists: Database['lists']
  readonly onEvent: (event: KeptEvent) => void
}

const MAKERS: { readonly [Name in keyof Stores]: (ground: Ground) => Stores[Name] } = {
  installation: ({ db }) => sqlInstallation(db),
  sealedValues: ({ db }) => sqlSealedValues(db),
  identities: ({ db, lists }) => sqlIdentities(db, lists),
  authenticators: ({ db, lists }) => sqlAuthenticators(db, lists),
  enrollments: ({ db, lists }) => sqlEnrollments(db, lists),
  certificateRenewals: ({ db }) => sqlCertificateRenewals(db),
  authPolicies: ({ db }) => sqlAuthPolicies(db),
  externalJwtSigners: ({ db }) => sqlExternalJwtSigners(db),
  cas: ({ db }) => sqlCas(db),
  ruleVersions: ({ db }) => sqlRuleVersions(db),
  totpEnrollments: ({ db }) => sqlTotpEnrollments(db),
  passkeys: ({ db }) => sqlPasskeys(db),
  recoveryCodes: ({ db }) => sqlRecoveryCodes(db),
  codeGuesses: ({ db }) => sqlCodeGuesses(db),
  passwordFailures: ({ db }) => sqlPasswordFailures(db),
  authRequests: ({ db }) => sqlAuthRequests(db),
  spentStates: ({ db }) => sqlSpentHashes(db, 'spent_states'),
  deviceCodes: ({ db }) => sqlDeviceCodes(db),
  usedProofs: ({ db }) => sqlSpentHashes(db, 'used_proofs'),
  apiSessions: ({ db, lists }) => sqlApiSessions(db, lists),
  refreshTokens: ({ db }) => sqlRefreshTokens(db),
  sessionCertificates: ({ db }) => sqlSessionCertificates(db),
  sessionEndings: ({ db }) => sqlSessionEndings(db),
  routerRuns: ({ db }) => sqlRouterRuns(db),
  sessionContacts: ({ db }) => sqlSessionContacts(db),
  signingKeys: ({ db }) => sqlSigningKeys(db),
  authorities: ({ db }) => sqlAuthorities(db),
  instances: ({ db }) => sqlInstances(db),
  sessionSamples: ({ db }) => sqlSessionSamples(db),
  statistics: ({ db }) => sqlStatistics(db),
  events: ({ db, lists, onEvent }) => sqlEvents(db, lists, onEvent),
}
const NAMES = Object.keys(MAKERS) as (keyof Stores)[]

const storesWhenUsed = madeWhenUsed<Stores>(NAMES)

/** Runs `work` with the stores of this transaction, as a whole. */
export function within<T>(
  db: Kysely<Tables>,
  { lists }: Pick<Database, 'lists'>,
  onEvent: (event: KeptEvent) => void,
  work: (tx: Stores) => Promise<T>,
): Promise<T> {
  const ground = { db, lists, onEvent }
  return runAsWhole(({ watch }) => work(storesWhenUsed((name) => watch(MAKERS[name](ground)))))
}

export function storesOn(
  db: Kysely<Tables>,
  { lists }: Pick<Database, 'lists'>,
  onEvent: (event: KeptEvent) => void,
): Stores {
  const ground = { db, lists, onEvent }
  return Object.fromEntries(NAMES.map((name) => [name, MAKERS[name](ground)])) as never
}
