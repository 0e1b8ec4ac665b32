/**
 * Rotation of signing keys: by age, on command, and immediately after a leak. D-23, D-135. The key, what is withdrawn
 * for it and the events are one commit. signing-keys.ts creates and uses the keys.
 */
import { plus } from '../../../base/time/instant.ts'
import type { Caller } from '../../audit/events.ts'
import type { AuditPorts } from '../../audit/ports.ts'
import { record } from '../../audit/record.ts'
import { endingOf } from '../../sessions/api-session.ts'
import type { Stores } from '../../stores.ts'
import type { TokenPorts } from '../ports.ts'
import type { StoredSigningKey } from './signing-key.ts'
import type { KeepKeys, NewKeys } from './signing-keys.ts'

/** Also used by the command, which has no running instance. */
export type RotationPorts = Pick<TokenPorts, keyof AuditPorts | 'signingKeys' | 'transaction'>

/** How often another instance may be faster; more than happens in practice. */
const TRIES = 10

/** Creates the first keys, or the next ones that are due. Returns none if another instance was faster. */
export function rotateKeysIfDue(ports: RotationPorts): Promise<readonly StoredSigningKey[]> {
  return ports.signingKeys.rotateIfDue(keepWith(ports, undefined))
}

/**
 * Creates the next key of each kind of token: published now, used once all verifiers know it. The caller is undefined for
 * a command.
 */
export function rotateKeys(ports: RotationPorts, caller: Caller | undefined): Promise<NewKeys> {
  return insist(ports.signingKeys.rotate, keepWith(ports, caller))
}

/**
 * For a leak: creates keys that sign from now on, and withdraws every older one, of both kinds: a thief of one key may
 * have all. Their tokens are refused everywhere within a second; sessions and refresh tokens stay valid.
 */
export function revokeOlderKeys(
  ports: RotationPorts,
  caller: Caller | undefined,
): Promise<NewKeys> {
  const keep = keepWith(ports, caller, async (tx, made) => {
    const first = Math.min(...made.map(({ generation }) => generation))
    for (const { kid, purpose, tokenLife } of await tx.signingKeys.removeBefore(first)) {
      const now = ports.clock.now()
      await tx.sessionEndings.insert(endingOf(`key:${kid}`, now, plus(now, tokenLife)))
      await record(ports, tx, caller, { type: 'signing-key.revoked', details: { kid, purpose } })
    }
  })
  return insist(ports.signingKeys.rotateAtOnce, keep)
}

/** Another instance was faster; what was inserted must be undone. */
class Outrun extends Error {}

function keepWith(
  ports: RotationPorts,
  caller: Caller | undefined,
  besides?: (tx: Stores, made: readonly StoredSigningKey[]) => Promise<void>,
): KeepKeys {
  return async (made) => {
    try {
      await ports.transaction(async (tx) => {
        for (const key of made) {
          if (!(await tx.signingKeys.insert(key))) throw new Outrun()
          const { kid, purpose } = key
          const details = { kid, purpose }
          await record(ports, tx, caller, { type: 'signing-key.created', details })
        }
        // A generation is free again if it was created and withdrawn since we looked; newer ones exist then.
        const newest = (await tx.signingKeys.list()).at(-1)
        if (newest?.generation !== made.at(-1)?.generation) throw new Outrun()
        await besides?.(tx, made)
      })
      return true
    } catch (error) {
      if (error instanceof Outrun) return false
      throw error
    }
  }
}

async function insist(
  rotate: (keep: KeepKeys) => Promise<NewKeys | undefined>,
  keep: KeepKeys,
): Promise<NewKeys> {
  for (let tries = 0; tries < TRIES; tries++) {
    // Undefined: another instance rotated at the same moment. Try again, since the caller asked for keys after those.
    const made = await rotate(keep)
    if (made !== undefined) return made
  }
  throw new Error('other instances keep rotating the keys; try again')
}
