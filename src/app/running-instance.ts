/** What a running instance offers, with one process or several, and how it ends. */
import { type Duration, seconds } from '../base/time/duration.ts'
import type { Config } from '../config/config.ts'
import { homeFiles } from './installation/home.ts'

export interface NamedListener {
  readonly name: string
  readonly baseUrls: readonly string[]
}

export interface Instance<L extends NamedListener = NamedListener> {
  readonly listeners: readonly L[]
  /** The CA file that clients need; undefined if the first listener's certificate was configured without one. */
  readonly caFile: string | undefined
  renewCertificates(): Promise<void>
  /** Resolves when the installation secret was replaced: this instance has the old one and must be restarted. */
  readonly secretReplaced: Promise<void>
  /** Resolves when the database was restored from a backup: everything that this instance knows is outdated (D-159). */
  readonly databaseRestored: Promise<void>
  /** Call it after the file of the audit output was moved away. */
  reopenAuditOutput(): void
  /**
   * Running requests may finish, for at most ten seconds; then the store closes, even if its database does not respond.
   */
  stop(): Promise<void>
}

export const DRAIN: Duration = seconds(10)
/**
 * For background work that is still running at the end. A database that does not respond must not delay the exit
 * (D-251).
 */
export const LAST_ROUNDS: Duration = seconds(1)

export function caFileOf({
  home,
  listeners,
}: Pick<Config, 'home' | 'listeners'>): string | undefined {
  const { identity } = listeners[0]
  return identity === undefined ? homeFiles(home).ca : identity.ca
}
