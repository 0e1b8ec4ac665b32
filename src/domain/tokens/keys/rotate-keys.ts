/**
 * Rotation of signing keys: by age, on command, and immediately after a leak. D-23, D-135. The key, what is withdrawn
 * for it and the events are one commit. signing-keys.ts creates and uses the keys.
 */
import { plus } from '../../../base/time/instant.ts'
import type { Caller } from '../../audit/events.ts'
import type { AuditPorts } from '../../audit/ports.ts'
import { recordEvent } from '../../audit/record.ts'
import { endingOf } from '../../sessions/api-session.ts'
import type { Stores } from '../../stores.ts'
import type { TokenPorts } from '../ports.ts'
import type { StoredSigningKey } from './signing-key.ts'
import type { KeepKey } from './signing-keys.ts'

/** Also used by the command, which has no running instance. */
export type RotationPorts = Pick<TokenPorts, keyof AuditPorts | 'signingKeys' | 'transaction'>

/** How often another instance may be faster; more than happens in practice. */
const TRIES = 10

/**
 * Creates the first key, or the next one if it is due. Returns undefined if it is not, or if another instance was
 * faster.
 */
export function rotateKeysIfDue(ports: RotationPorts): Promise<StoredSigningKey | undefined> {
  return ports.signingKeys.rotateIfDue(keepWith(ports, undefined))
}

/** Creates the next key: published now, used once all verifiers know it. The caller is undefined for a command. */
export function rotateKeys(
  ports: RotationPorts,
  caller: Caller | undefined,
): Promise<StoredSigningKey> {
  return insist(ports.signingKeys.rotate, keepWith(ports, caller))
}

/**
 * For a leak: creates a key that signs from now on, and withdraws every older one. Their tokens are refused everywhere
 * within a second; sessions and refresh tokens stay valid.
 */
export function revokeOlderKeys(
  ports: RotationPorts,
  caller: Caller | undefined,
): Promise<StoredSigningKey> {
  const keep = keepWith(ports, caller, async (tx, { generation }) => {
    for (const { kid, tokenLife } of await tx.signingKeys.removeBefore(generation)) {
      const now = ports.clock.now()
      await tx.sessionEndings.insert(endingOf(`key:${kid}`, now, plus(now, tokenLife)))
      const revoked = { type: 'signing-key.revoked', details: { kid } } as const
      await tx.events.insert(recordEvent(ports, caller, revoked))
    }
  })
  return insist(ports.signingKeys.rotateAtOnce, keep)
}

function keepWith(
  ports: RotationPorts,
  caller: Caller | undefined,
  besides?: (tx: Stores, key: StoredSigningKey) => Promise<void>,
): KeepKey {
  return (key) =>
    ports.transaction(async (tx) => {
      if (!(await tx.signingKeys.insert(key))) return false
      const { kid } = key
      const created = { type: 'signing-key.created', details: { kid } } as const
      await tx.events.insert(recordEvent(ports, caller, created))
      await besides?.(tx, key)
      return true
    })
}

async function insist(
  rotate: (keep: KeepKey) => Promise<StoredSigningKey | undefined>,
  keep: KeepKey,
): Promise<StoredSigningKey> {
  for (let tries = 0; tries < TRIES; tries++) {
    // Undefined: another instance rotated at the same moment. Try again, since the caller asked for a key after that
    // one.
    const key = await rotate(keep)
    if (key !== undefined) return key
  }
  throw new Error('other instances keep rotating the keys; try again')
}
