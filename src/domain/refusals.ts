/** What the management use cases refuse with, where several say the same. API 1. */
import { Failure } from '../errors/catalogue.ts'

/** API 1: a name, or something else that is unique, belongs to somebody else. */
export function inUse(field: string): Failure {
  return new Failure('ENTITY_NAME_IN_USE', { field: { field, reason: 'is in use' } })
}

export function invalid(field: string, reason: string): Failure {
  return new Failure('COULD_NOT_VALIDATE', { field: { field, reason } })
}

export function notFound(): Failure {
  return new Failure('NOT_FOUND')
}
