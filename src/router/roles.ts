/**
 * The roles of callers: those that a token or the answer to a check names, without those that the feed has taken away
 * since. D-400. Only removals are remembered, so the memory does not grow with the number of identities.
 */
import { areStrings } from '../base/json.ts'
import type { Instant } from '../base/time/instant.ts'
import { hashRole, type RoleRemoval, readRoleSubject } from '../protocol/feed/role-removals.ts'

/** The roles of an identity, and the version of that list. */
export interface RolesAt {
  readonly names: readonly string[]
  readonly version: number
}

/** What a session says about its caller, for rules. */
export interface SessionFacts {
  /** Undefined with an older controller, and if they are too long for a token. */
  readonly roles: RolesAt | undefined
  readonly authenticatedAt: Instant | undefined
}

export function readRoles(names: unknown, version: unknown): RolesAt | undefined {
  if (!areStrings(names) || typeof version !== 'number' || !Number.isInteger(version)) {
    return undefined
  }
  return { names, version }
}

/** Empty if nothing is known. */
export function readFacts(
  roles: RolesAt | undefined,
  authenticatedAt: Instant | undefined,
): { readonly facts?: SessionFacts } {
  if (roles === undefined && authenticatedAt === undefined) return {}
  return { facts: { roles, authenticatedAt } }
}

export interface RoleRemovals {
  /** Returns false if a later removal of the same role is known. */
  add(removal: RoleRemoval): boolean
  rolesOf(identityId: string, roles: RolesAt): readonly string[]
  /** No token from before this removal can be alive. */
  forget(subject: string): void
}

export function createRoleRemovals(): RoleRemovals {
  /** The newest version without the role, by identity and role. */
  const removed = new Map<string, Map<string, number>>()

  return {
    add({ identityId, version, roleHash }) {
      const lost = removed.get(identityId) ?? new Map<string, number>()
      removed.set(identityId, lost)
      if ((lost.get(roleHash) ?? -1) >= version) return false
      lost.set(roleHash, version)
      return true
    },

    rolesOf(identityId, { names, version }) {
      const lost = removed.get(identityId)
      if (lost === undefined) return names
      return names.filter((name) => (lost.get(hashRole(name)) ?? -1) <= version)
    },

    forget(subject) {
      const removal = readRoleSubject(subject)
      const lost = removal && removed.get(removal.identityId)
      if (removal === undefined || lost === undefined) return
      if (lost.get(removal.roleHash) === removal.version) lost.delete(removal.roleHash)
      if (lost.size === 0) removed.delete(removal.identityId)
    },
  }
}
