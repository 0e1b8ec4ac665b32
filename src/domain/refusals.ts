/** Errors that several use cases and routes share. API 1. */
import { Failure } from '../errors/catalogue.ts'

/** API 1: another entity has the name, or another unique value. */
export function inUse(field: string): Failure {
  return new Failure('ENTITY_NAME_IN_USE', { field: { field, reason: 'is in use' } })
}

export function invalid(field: string, reason: string): Failure {
  return new Failure('COULD_NOT_VALIDATE', { field: { field, reason } })
}

export function notFound(): Failure {
  return new Failure('NOT_FOUND')
}

/** What the caller is told about each conflict that a store reports: API 1, 4.2, 4.3, 4.5, 4.6. */
const CONFLICTS = {
  missing: notFound,
  'name-in-use': () => inUse('name'),
  'external-id-in-use': () => inUse('externalId'),
  'issuer-in-use': () => inUse('issuer'),
  'username-in-use': () => inUse('username'),
  'certificate-in-use': () => new Failure('CERT_IN_USE'),
  'method-in-use': () => new Failure('MAX_AUTHENTICATOR_METHODS_REACHED'),
  'method-open': () => new Failure('ENROLLMENT_EXISTS'),
} as const satisfies Record<string, () => Failure>

/** Throws the conflict, unless the row was written. */
export function refuseConflict(outcome: 'inserted' | 'replaced' | keyof typeof CONFLICTS): void {
  if (outcome !== 'inserted' && outcome !== 'replaced') throw CONFLICTS[outcome]()
}

/** Returns the entity that a look-up found. Throws NOT_FOUND if it found none. */
export function orNotFound<T>(entity: T | undefined): T {
  if (entity === undefined) throw notFound()
  return entity
}
