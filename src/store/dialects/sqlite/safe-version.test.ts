/** D-472: which releases of SQLite have the correction, by sqlite.org/wal.html#walresetbug. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isSafeVersion } from './safe-version.ts'

const SAFE = ['3.51.3', '3.51.4', '3.52.0', '3.53.4', '3.100.0', '4.0.0', '3.50.7', '3.44.6']
const UNSAFE = ['3.51.2', '3.51.0', '3.50.6', '3.50.4', '3.49.9', '3.45.0', '3.44.5', '2.99.99', '']

for (const version of SAFE) {
  test(`SQLite ${version} is used`, () => assert.equal(isSafeVersion(version), true))
}

for (const version of UNSAFE) {
  test(`SQLite "${version}" is refused`, () => assert.equal(isSafeVersion(version), false))
}
