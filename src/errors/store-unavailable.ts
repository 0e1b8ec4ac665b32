/**
 * The database cannot be used, or not now: it is away, full, read-only, damaged or silent. Thrown by every store, whatever
 * database is behind it. A start refuses with it; a call is answered with 503 (D-250). The message is for the operator.
 */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable'
}
