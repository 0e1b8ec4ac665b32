/**
 * What an administrator knows of the things that he made: by the answers that he got. Of the one call that was not
 * answered he knows only what it would have made of the thing.
 */
import assert from 'node:assert/strict'
import type { Reply } from '../http-client.ts'

export type Kind = 'identity' | 'policy' | 'external-jwt-signer'

/** As the API shows it, as far as the lives below change it. */
export type State = Readonly<Record<string, unknown>>

interface Change {
  /** Undefined: it is gone. */
  readonly after: State | undefined
  /** The audit events of the change: `type`, or `type changed+fields`. */
  readonly events: readonly string[]
  /** The password that it can be logged in with from then on. */
  readonly password?: string
}

export interface Entry {
  readonly kind: Kind
  /** At its making; nothing else is ever made with it. */
  readonly firstName: string
  id: string | undefined
  /** Undefined: it is not there, not yet or no longer. */
  known: State | undefined
  readonly events: string[]
  password: string | undefined
  /** Sent, and not answered. */
  pending: Change | undefined
}

export interface Ledger {
  readonly entries: Entry[]
  open(kind: Kind, firstName: string): Entry
  /** Sends one change and writes down what its answer says. The answer is a success. */
  change(entry: Entry, change: Change, send: () => Promise<Reply>): Promise<Reply>
}

export function createLedger(answered: () => void): Ledger {
  const entries: Entry[] = []
  return {
    entries,
    open(kind, firstName) {
      const entry: Entry = {
        kind,
        firstName,
        id: undefined,
        known: undefined,
        events: [],
        password: undefined,
        pending: undefined,
      }
      entries.push(entry)
      return entry
    },
    async change(entry, change, send) {
      entry.pending = change
      const reply = await send()
      assert.ok(reply.status === 200 || reply.status === 201, reply.text)
      settle(entry, change)
      entry.id ??= reply.json().data.id
      answered()
      return reply
    },
  }
}

/** The change has happened. */
export function settle(entry: Entry, { after, events, password }: Change): void {
  entry.known = after
  entry.events.push(...events)
  if (password !== undefined) entry.password = password
  entry.pending = undefined
}
