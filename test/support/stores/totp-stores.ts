/**
 * The stores of the TOTP factor in memory, with the guarantees that domain/factors/stores.ts states, for tests of what
 * is decided on top of them. The contract suite tests the real ones.
 */
import assert from 'node:assert/strict'
import type { IdentityId } from '../../../src/base/ids.ts'
import type { SecretHash } from '../../../src/base/secrets/vault.ts'
import type { Instant } from '../../../src/base/time/instant.ts'
import type { FactorOwner } from '../../../src/domain/factors/factor-owner.ts'
import type {
  CodeGuesses,
  Passkeys,
  RecoveryCodes,
  SpentChallenges,
  TotpEnrollments,
} from '../../../src/domain/factors/stores.ts'
import type { TotpEnrollment } from '../../../src/domain/factors/totp/totp-enrollment.ts'
import type { Stores, Transaction } from '../../../src/domain/stores.ts'

interface Row {
  enrollment: TotpEnrollment
  codes: Set<SecretHash>
  lastStep: number
}

export interface TotpStores {
  readonly totpEnrollments: TotpEnrollments
  readonly recoveryCodes: RecoveryCodes
  readonly codeGuesses: CodeGuesses
  /** Empty: for tests of TOTP alone. */
  readonly passkeys: Passkeys
  readonly spentStates: SpentChallenges
  readonly transaction: Transaction
  /** As stored, for tests of what is kept and what is not. */
  readonly rows: ReadonlyMap<IdentityId, Row>
  readonly guesses: ReadonlyMap<IdentityId, number>
  /** Every other identity is there. */
  readonly deleted: Set<IdentityId>
}

/** The passkeys of identities that have none. */
export function noPasskeys(): Passkeys {
  const fail = () => assert.fail('there are no passkeys')
  return {
    find: async () => undefined,
    findByCredential: async () => undefined,
    listOf: async () => [],
    listEnrolled: async () => new Set(),
    insert: fail,
    markUsed: fail,
    rename: fail,
    remove: fail,
    removeAll: async () => [],
  }
}

export function totpStores(): TotpStores {
  const rows = new Map<IdentityId, Row>()
  const guesses = new Map<IdentityId, number>()
  const blocks = new Map<IdentityId, Instant>()

  const verified = (id: IdentityId) => {
    const row = rows.get(id)
    return row?.enrollment.isVerified ? row : undefined
  }
  const pending = (id: IdentityId, owner: FactorOwner | undefined) => {
    const row = rows.get(id)
    const isOwn = owner !== undefined && row?.enrollment.owner === owner
    return isOwn && !row.enrollment.isVerified ? row : undefined
  }
  const totpEnrollments: TotpEnrollments = {
    find: async (id) => rows.get(id)?.enrollment,
    listVerified: async (ids) => new Set(ids.filter((id) => verified(id) !== undefined)),
    replacePending: async (enrollment, codes) => {
      if (verified(enrollment.identityId) !== undefined) return false
      rows.set(enrollment.identityId, { enrollment, codes: new Set(codes), lastStep: -1 })
      return true
    },
    markVerified: async ({ id, identityId, owner }) => {
      const row = pending(identityId, owner)
      if (row?.enrollment.id !== id) return false
      row.enrollment = { ...row.enrollment, isVerified: true, owner: undefined }
      return true
    },
    removePending: async (id, owner) => pending(id, owner) !== undefined && rows.delete(id),
    remove: async (id) => rows.delete(id),
    takeStep: async ({ identityId, id }, step) => {
      const row = verified(identityId)
      if (row?.enrollment.id !== id || step <= row.lastStep) return false
      row.lastStep = step
      return true
    },
  }
  const recoveryCodes: RecoveryCodes = {
    take: async (id, code) => verified(id)?.codes.delete(code) ?? false,
    count: async (id) => rows.get(id)?.codes.size ?? 0,
    replace: async (id, codes) => {
      const row = rows.get(id)
      assert.ok(row !== undefined)
      row.codes = new Set(codes)
    },
  }
  const codeGuesses: CodeGuesses = {
    take: async (id, now, blockedUntil) => {
      const block = blocks.get(id)
      if (block !== undefined && block > now) return { blockedUntil: block }
      const count = (guesses.get(id) ?? 0) + 1
      guesses.set(id, count)
      const next = blockedUntil(count)
      if (next !== undefined) blocks.set(id, next)
      return { guesses: count }
    },
    clear: async (id) => {
      guesses.delete(id)
      blocks.delete(id)
    },
  }
  // Only these are asked for; anything else in a transaction of the factor is a mistake and fails.
  const passkeys = noPasskeys()
  const spentStates: SpentChallenges = { insert: () => assert.fail('TOTP has no challenges') }
  const stores = { totpEnrollments, passkeys, spentStates, recoveryCodes, codeGuesses }
  const deleted = new Set<IdentityId>()
  const identities = { hold: async (id: IdentityId) => (deleted.has(id) ? undefined : { id }) }
  const tx = { ...stores, identities } as unknown as Stores
  return { ...stores, transaction: (work) => work(tx), rows, guesses, deleted }
}
