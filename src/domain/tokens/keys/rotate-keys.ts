/**
 * Rotation of signing keys: by age, on command, and at once for a leak. D-23, D-135. The key, what is withdrawn for it
 * and the events are one commit. How keys are made and used is signing-keys.ts.
 */
import type { Clock } from '../../../base/time/clock.ts'
import { plus } from '../../../base/time/instant.ts'
import type { Caller } from '../../audit/events.ts'
import type { RecordEvent } from '../../audit/record.ts'
import { endingOf, type SessionEnding } from '../../sessions/api-session.ts'
import type { Stores, Transaction } from '../../stores.ts'
import type { StoredSigningKey } from './signing-key.ts'
import type { KeepKey, SigningKeys } from './signing-keys.ts'

/** The caller is undefined where a command or the service itself does it. */
export interface RotateKeys {
  /** The first key, or the next when its time has come; undefined when it has not, or another instance was faster. */
  ifDue(): Promise<StoredSigningKey | undefined>
  /** The next key: published now, and used when everybody knows it. */
  next(caller: Caller | undefined): Promise<StoredSigningKey>
  /**
   * For a leak: a key that signs from now on, and every older one is withdrawn. Their tokens are refused everywhere
   * within a second; sessions and refresh tokens stay.
   */
  revokeOlder(caller: Caller | undefined): Promise<StoredSigningKey>
}

/** How often another instance may be faster; nobody meets so many. */
const TRIES = 10

export function createRotateKeys(deps: {
  readonly signingKeys: Pick<SigningKeys, 'rotate' | 'rotateIfDue' | 'rotateAtOnce'>
  readonly transaction: Transaction
  readonly recordEvent: RecordEvent
  readonly clock: Clock
  /** Where there is a running instance: felt there at once. */
  readonly endedSessions?: { add(ending: SessionEnding): void }
}): RotateKeys {
  const { signingKeys, transaction, recordEvent, clock, endedSessions } = deps

  /** Those of one instance wait for each other. */
  let turn: Promise<unknown> = Promise.resolve()
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = turn.then(work, work)
    turn = mine.catch(() => {})
    return mine
  }

  const keepWith =
    (caller: Caller | undefined, besides?: (tx: Stores, key: StoredSigningKey) => Promise<void>) =>
    (key: StoredSigningKey): Promise<boolean> =>
      transaction(async (tx) => {
        if (!(await tx.signingKeys.insert(key))) return false
        const { kid } = key
        const created = { type: 'signing-key.created', details: { kid } } as const
        await tx.events.insert(recordEvent(caller, created))
        await besides?.(tx, key)
        return true
      })

  return {
    ifDue: () => signingKeys.rotateIfDue(keepWith(undefined)),

    next: (caller) => inTurn(() => insist(signingKeys.rotate, keepWith(caller))),

    async revokeOlder(caller) {
      let endings: SessionEnding[] = []
      const keep = keepWith(caller, async (tx, { generation }) => {
        endings = []
        for (const { kid, tokenLife } of await tx.signingKeys.removeBefore(generation)) {
          const now = clock.now()
          const ending = endingOf(`key:${kid}`, now, plus(now, tokenLife))
          endings.push(ending)
          await tx.sessionEndings.insert(ending)
          const revoked = { type: 'signing-key.revoked', details: { kid } } as const
          await tx.events.insert(recordEvent(caller, revoked))
        }
      })
      const key = await inTurn(() => insist(signingKeys.rotateAtOnce, keep))
      for (const ending of endings) endedSessions?.add(ending)
      return key
    },
  }
}

async function insist(
  rotate: (keep: KeepKey) => Promise<StoredSigningKey | undefined>,
  keep: KeepKey,
): Promise<StoredSigningKey> {
  for (let tries = 0; tries < TRIES; tries++) {
    // Undefined: another instance rotated at this very moment. The caller asked for a key after that one.
    const key = await rotate(keep)
    if (key !== undefined) return key
  }
  throw new Error('other instances keep rotating the keys; try again')
}
