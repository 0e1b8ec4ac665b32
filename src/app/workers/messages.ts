/** What the supervisor and its workers ask each other. */
import type { AuthenticatorId } from '../../base/ids.ts'
import type { Duration } from '../../base/time/duration.ts'
import type { WantedAddress } from '../../config/addresses/override-address.ts'
import type { RecordedEvent } from '../../domain/audit/recorded-event.ts'
import type { KnownKeySet, WantedKeySet } from '../../domain/ext-jwt/signer-keys.ts'
import type { HashStrength } from '../../domain/factors/passwords/hashing.ts'
import type { Position } from '../../domain/sessions/confirming/position.ts'
import type { EndingRow } from '../../domain/sessions/ending/ended-sessions.ts'
import type { News } from '../../domain/sessions/ending/tell-copies.ts'
import type { Family } from '../../telemetry/families.ts'
import type { Limits } from '../compose/limits.ts'
import type { Question } from './channel.ts'

export type ToSupervisor = {
  /** Waits for a place under a limit of all workers. The place is kept until `leave` with the same ticket. */
  enter: Question<{ readonly place: Place; readonly from?: string; readonly ticket: number }>
  leave: Question<{ readonly ticket: number; readonly hasFailed: boolean }>
  countRenewal: Question<{ readonly id: AuthenticatorId }>
  /** The keys of a signer: the supervisor fetches them for all workers (D-498). */
  keySet: Question<WantedKeySet, KnownKeySet>
  /** Answered when every other process knows it. */
  news: Question<News>
  /** The audit output has one writer. */
  events: Question<{ readonly events: readonly RecordedEvent[] }>
  /** The text for Prometheus, of all processes together. */
  metrics: Question<null, string>
}

export type ToWorker = {
  start: Question<StartWorker, StartedWorker>
  /** A connection, from a listener with this index in the configuration. Comes with a socket. */
  connection: Question<{ readonly listener: number }>
  news: Question<News>
  /** Answered with the number of connections that it has. */
  state: Question<State, { readonly connections: number }>
  renewCertificates: Question<null>
  /** Which endings it has applied (D-381). */
  position: Question<null, Position>
  snapshot: Question<null, readonly Family[]>
  /** Answered when the drain is over and everything is closed. */
  stop: Question<null, readonly Family[]>
}

/** The limit that it is under. */
export type Place = Exclude<keyof Limits, 'countRenewal'>

/** Everything that a worker needs to become the same as the others, even if a file has changed since. */
export interface StartWorker {
  readonly worker: number
  readonly workers: number
  readonly home: string
  readonly file: string | undefined
  readonly tree: unknown
  /** D-337: the address that the operator asked for. */
  readonly wanted: WantedAddress | undefined
  /** The environment in which the service was started, without the first password. */
  readonly variables: Readonly<Record<string, string>>
  readonly openPorts: readonly number[]
  readonly hashStrength: HashStrength | undefined
}

export interface StartedWorker {
  readonly listeners: readonly { readonly name: string; readonly baseUrls: readonly string[] }[]
}

/** What the supervisor has read, for the copies of a worker: D-289. */
export interface State {
  /** By a clock that all processes of a machine share, in milliseconds. */
  readonly sentAt: number
  readonly endings: { readonly rows: readonly EndingRow[]; readonly age: Duration } | undefined
  readonly rules: { readonly version: number; readonly age: Duration } | undefined
  /** Fingerprints: a worker with another one reads the keys or CAs again. */
  readonly keys: string
  readonly authorities: string
}
