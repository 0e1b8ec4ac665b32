/** The stores of passkeys in memory, with the guarantees that domain/factors/stores.ts states. */
import type { AuthenticatorId } from '../../../src/base/ids.ts'
import type { Passkey } from '../../../src/domain/factors/passkey/passkey.ts'
import { isCounterBackwards } from '../../../src/domain/factors/passkey/verify.ts'
import type {
  Passkeys,
  RecoveryCodes,
  SecondFactorStores,
} from '../../../src/domain/factors/stores.ts'
import type { Transaction } from '../../../src/domain/stores.ts'
import { totpStores } from '../stores/totp-stores.ts'

export type PasskeyStores = SecondFactorStores & { readonly transaction: Transaction }

export function passkeyStores(): PasskeyStores {
  const { totpEnrollments, codeGuesses } = totpStores()
  const rows = new Map<AuthenticatorId, Passkey>()
  const spent = new Set<string>()
  let codes = new Set<string>()
  const of = (identityId: string) =>
    [...rows.values()].filter((row) => row.identityId === identityId)
  const passkeys: Passkeys = {
    find: async (id) => rows.get(id),
    findByCredential: async (credentialId) =>
      [...rows.values()].find((row) => row.credentialId === credentialId),
    listOf: async (identityId) => of(identityId),
    listEnrolled: async (ids) => new Set(ids.filter((id) => of(id).length > 0)),
    insert: async (passkey) => {
      const isTaken = [...rows.values()].some((row) => row.credentialId === passkey.credentialId)
      if (!isTaken) rows.set(passkey.id, passkey)
      return !isTaken
    },
    markUsed: async (id, { signCount, isBackedUp, at }) => {
      const row = rows.get(id)
      if (row === undefined || isCounterBackwards(row.signCount, signCount)) return false
      rows.set(id, { ...row, signCount, isBackedUp, lastUsedAt: at })
      return true
    },
    rename: async (_, id, name) => {
      const row = rows.get(id)
      if (row !== undefined) rows.set(id, { ...row, name })
      return row !== undefined
    },
    remove: async (_, id) => rows.delete(id),
    removeAll: async (identityId) =>
      of(identityId)
        .map(({ id }) => id)
        .filter((id) => rows.delete(id)),
  }
  const recoveryCodes: RecoveryCodes = {
    take: async (_, code) => codes.delete(code),
    count: async () => codes.size,
    replace: async (_, next) => {
      codes = new Set(next)
    },
  }
  const spentStates = {
    insert: async ({ hash }: { readonly hash: string }) =>
      !spent.has(hash) && spent.add(hash) !== undefined,
  }
  const stores = { totpEnrollments, passkeys, spentStates, recoveryCodes, codeGuesses }
  return { ...stores, transaction: (work) => work(stores as never) }
}
