/**
 * The database cannot be used, or not at the moment: it is unreachable, full, read-only, damaged or not responding.
 * Every store throws it, for every kind of database. A start fails with it; a call is answered with 503 (D-250). The
 * message is for the operator.
 */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable'
}
