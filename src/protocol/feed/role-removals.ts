/**
 * The name under which the feed tells that an identity has lost a role: D-400. Access tokens carry the roles of their
 * identity, with the version of that list; a removal counts for every token of an earlier version. The role is hashed,
 * so that the name has a bounded length.
 */
import { base64url, sha256 } from '../../base/encoding.ts'

export interface RoleRemoval {
  readonly identityId: string
  /** The first version of the list without the role. */
  readonly version: number
  readonly roleHash: string
}

export type RoleSubject = `role:${string}`

export function roleSubject(identityId: string, version: number, role: string): RoleSubject {
  return `role:${identityId}:${version}:${hashRole(role)}`
}

/** Undefined if the subject of an ending is something else. */
export function readRoleSubject(subject: string): RoleRemoval | undefined {
  const [, identityId, version, roleHash] = SHAPE.exec(subject) ?? []
  if (identityId === undefined || roleHash === undefined) return undefined
  return { identityId, version: Number(version), roleHash }
}

export function hashRole(role: string): string {
  return base64url(sha256(role))
}

const SHAPE = /^role:(.+):(\d{1,15}):([\w-]{43})$/
