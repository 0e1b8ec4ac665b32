/** Which fields of an entity a write changes, and how: for the audit log, and for what follows from it. API 1, D-351. */
import { isDeepStrictEqual } from 'node:util'
import { fingerprintOf, readCertificate } from '../base/certificates.ts'
import { isJsonObject } from '../base/json.ts'

/**
 * Returns the names of the fields of `next` whose values differ. The caller leaves out bookkeeping fields (id and
 * times).
 */
export function changedFields<T extends object>(
  current: T,
  next: Partial<T>,
): readonly (keyof T & string)[] {
  const names = Object.keys(next) as (keyof T & string)[]
  return names.filter((name) => !isDeepStrictEqual(current[name], next[name]))
}

/** The old and the new value of one field. Null: it had or has none. */
export interface Change {
  readonly from: unknown
  readonly to: unknown
}

/** By the path of the field: `primary.updb.maxAttempts`. */
export type Changes = Readonly<Record<string, Change>>

/** Free maps: what administrators and applications keep in them may be secret, so only their names are told (R108). */
const OPAQUE = ['tags', 'appData']

/** An event stays readable, and an administrator with a large body must not fill the database (D-351). */
const MOST_CHANGES = 50
const LONGEST_VALUE = 300

/**
 * Returns the old and new values of the fields of `next` that differ, with the members of a nested object by their
 * paths. Tags and data of applications are left out. Never pass a field that holds a secret or its hash. A certificate is shown as its SHA-256 fingerprint, and a
 * long value is shortened. At most 50 are returned.
 */
export function changesBetween<T extends object>(current: T, next: Partial<T>): Changes {
  const found: [string, Change][] = []
  collect(found, '', current, next)
  return Object.fromEntries(found)
}

function collect(found: [string, Change][], prefix: string, current: object, next: object): void {
  // A nested object lists what either has; on the outside, a field that `next` lacks stays as it is.
  const names =
    prefix === ''
      ? Object.keys(next).filter((name) => !OPAQUE.includes(name))
      : [...Object.keys(current), ...Object.keys(next)]
  for (const name of new Set(names)) {
    if (found.length >= MOST_CHANGES) return
    const [from, to] = [memberOf(current, name), memberOf(next, name)]
    if (isDeepStrictEqual(from, to)) continue
    const path = prefix + name
    if (isJsonObject(from) && isJsonObject(to)) collect(found, `${path}.`, from, to)
    else found.push([path, { from: shown(from), to: shown(to) }])
  }
}

function memberOf(object: object, name: string): unknown {
  return Object.hasOwn(object, name) ? Reflect.get(object, name) : undefined
}

function shown(value: unknown): unknown {
  if (value === undefined) return null
  if (typeof value === 'string' && value.startsWith('-----BEGIN CERTIFICATE')) {
    const certificate = readCertificate(value)
    if (certificate !== undefined) return `SHA-256 ${fingerprintOf(certificate)}`
  }
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length <= LONGEST_VALUE ? value : `${text.slice(0, LONGEST_VALUE)}…`
}
