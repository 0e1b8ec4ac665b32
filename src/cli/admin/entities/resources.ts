/**
 * What an administrator manages, one description each: its path, what identifies it, its table columns, and its
 * writable fields. `list`, `get`, `create`, `update` and `delete` are generated from these. API 3.3, 4.1–4.7.
 */
import type { NamedEntity } from '../../table/command.ts'
import type { Resource } from './resource.ts'
import { AUTHENTICATORS } from './resources/authenticators.ts'
import { CAS } from './resources/cas.ts'
import { ENROLLMENTS } from './resources/enrollments.ts'
import { IDENTITIES } from './resources/identities.ts'
import { POLICIES } from './resources/policies.ts'
import { SESSIONS } from './resources/sessions.ts'
import { SIGNERS } from './resources/signers.ts'

export const RESOURCES: readonly Resource[] = [
  IDENTITIES,
  AUTHENTICATORS,
  POLICIES,
  SIGNERS,
  CAS,
  ENROLLMENTS,
  SESSIONS,
]

export function resourceOf(name: NamedEntity): Resource {
  const found = RESOURCES.find(({ one }) => one === name)
  if (found === undefined) throw new Error(`there is no resource ${name}`)
  return found
}
