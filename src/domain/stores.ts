/**
 * All stores together, as the store implements them and the composition root hands them out. Every folder of the domain
 * may import this file, whatever its place in their order (D-261). Use cases ask
 * for the ones they need; those that must write several things at once ask for `transaction` instead.
 */
import type { Instant } from '../base/time/instant.ts'
import type { Events } from './audit/stores.ts'
import type { Authorities, Cas, SessionCertificates } from './certificates/stores.ts'
import type { DeviceCodes } from './device/stores.ts'
import type { CertificateRenewals } from './enrollments/renewal/stores.ts'
import type { Enrollments } from './enrollments/stores.ts'
import type { ExternalJwtSigners } from './ext-jwt/stores.ts'
import type { PasswordFailures, SecondFactorStores } from './factors/stores.ts'
import type { Authenticators, Identities } from './identities/stores.ts'
import type { Installation, SealedValues } from './installation/stores.ts'
import type { AuthRequests, SpentStates } from './login/stores.ts'
import type { Instances, SessionSamples, Statistics } from './overview/stores.ts'
import type { AuthPolicies, RuleVersions } from './policies/stores.ts'
import type { RouterRuns, SessionContacts } from './sessions/confirming/stores.ts'
import type { ApiSessions, SessionEndings } from './sessions/stores.ts'
import type {
  BeginSession,
  RefreshTokens,
  SigningKeyStore,
  SpendRefreshToken,
  UsedProofs,
} from './tokens/stores.ts'

export interface Stores extends SecondFactorStores {
  readonly installation: Installation
  readonly sealedValues: SealedValues
  readonly identities: Identities
  readonly authenticators: Authenticators
  readonly enrollments: Enrollments
  readonly certificateRenewals: CertificateRenewals
  readonly authPolicies: AuthPolicies
  readonly externalJwtSigners: ExternalJwtSigners
  readonly cas: Cas
  readonly ruleVersions: RuleVersions
  readonly passwordFailures: PasswordFailures
  readonly authRequests: AuthRequests
  readonly spentStates: SpentStates
  readonly deviceCodes: DeviceCodes
  readonly usedProofs: UsedProofs
  readonly apiSessions: ApiSessions
  readonly refreshTokens: RefreshTokens
  readonly sessionCertificates: SessionCertificates
  readonly sessionEndings: SessionEndings
  readonly routerRuns: RouterRuns
  readonly sessionContacts: SessionContacts
  readonly signingKeys: SigningKeyStore
  readonly authorities: Authorities
  readonly events: Events
  readonly instances: Instances
  readonly sessionSamples: SessionSamples
  readonly statistics: Statistics
}

/**
 * Runs `work` in one transaction. Inside, only `tx` exists: it is a Stores, not a Store, so it cannot nest.
 * Never await hashing, signing or the network inside: SQLite has one writer.
 */
export type Transaction = <T>(work: (tx: Stores) => Promise<T>) => Promise<T>

export interface Store extends Stores {
  readonly transaction: Transaction
  /** A transaction, or one statement where that saves round trips (D-322). */
  readonly spendRefreshToken: SpendRefreshToken
  /** Likewise (D-328). */
  readonly beginSession: BeginSession
  /**
   * The same stores on connections that callers cannot exhaust, for health checks and for the copies in memory (D-297).
   */
  readonly aside: Stores
  /** How this instance learns that another one has changed what copies in memory are made of (D-298). */
  readonly changes: {
    /** Whether the listener will be called at once; otherwise copies are compared with the database more often. */
    isPushed(): boolean
    /** Whether the system that calls it has done so before, and cannot stop unnoticed. */
    isProven(): boolean
    /** Calls the listener after such a change, until the store is closed. At most one listener. */
    follow(listener: () => void): void
    /**
     * Returns what differs from the last one if anything was committed since, by any process, or a promise of it.
     * Undefined if that is not known (D-306).
     */
    version(): unknown
  }
  /** The current time of the database; undefined if it uses the clock of this machine (D-230). */
  databaseTime(): Promise<Instant | undefined>
  close(): Promise<void>
}
