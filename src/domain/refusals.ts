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

/** Returns the entity that a look-up found. Throws NOT_FOUND if it found none. */
export function orNotFound<T>(entity: T | undefined): T {
  if (entity === undefined) throw notFound()
  return entity
}
